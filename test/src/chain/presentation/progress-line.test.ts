import { expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { TASKS } from '../../../../machines/contracts/phase.ts';
import { progressLine } from '../../../../src/chain/presentation/progress-line.ts';

const lineOf = (event: object): string | null => progressLine({ seq: 0, atMs: 0, ...event } as JournalEntry);
const found = { type: 'retrieval', query: 'cellar', passages: 3, widened: false, failure: null };
const start = { type: 'attempt-start', attemptId: 's1.a', task: 'yield', attempt: 1, model: 0 };
const decision = { cycle: 2, complete: true, rationale: 'the answer is\nconfident enough (confidence 0.9, above 0.7)' };

it.each([
  [found, 'Searching the documents: 3 passages'],
  [{ ...found, failure: 'the index is gone' }, 'Searching the documents: failed'],
  [start, 'Answering'],
  [{ ...start, attempt: 2 }, 'Trying again'],
  [{ type: 'capability-start', id: null, capability: 'add\nnumbers', index: 0 }, 'Running add numbers'],
  [{ type: 'consent-asked' }, 'Waiting for consent'],
  [{ type: 'direction-asked' }, 'Waiting for a direction'],
  [{ type: 'decision', decision }, 'Cycle 2: the answer is confident enough'],
  [{ type: 'phase-start', phase: 'yield', cycle: 1, step: 6 }, null],
])('a line of progress for %j', (event, expected) => {
  expect(lineOf(event)).toBe(expected);
});

it('has a line of progress for every task', () => {
  const lines = TASKS.map((task) => lineOf({ ...start, task }));
  expect(new Set(lines).size).toBe(TASKS.length);
  expect(lines).not.toContain(null);
});
