import { expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { TASKS } from '../../../../machines/contracts/phase.ts';
import { entryTitle, entryTrouble, progressLine } from '../../../../src/chain/presentation/entry-words.ts';

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
  [{ type: 'consent-asked', request: { items: [{}] } }, 'Waiting for consent to shorten or remove 1 message'],
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

const read = (event: object) => {
  const entry = { seq: 0, atMs: 0, ...event } as JournalEntry;
  return [entryTitle(entry), entryTrouble(entry)];
};
const stop = { type: 'capability-stop', runs: 5, failed: 1, code: null, problem: null };
const asked = { type: 'approval-asked', capability: 'refund', arguments: {} };

it.each([
  [{ ...stop, reason: 'limit_reached' }, 'Limit of tool runs reached after 5', 'noted'],
  [{ ...stop, reason: 'decider_failed' }, 'The decision about more tools failed', 'failed'],
  [{ ...stop, reason: 'aborted' }, 'The tool runs were stopped', null],
  [{ ...stop, reason: 'done' }, null, null],
  [asked, 'Asked for approval of refund', null],
  [{ ...asked, isClientTool: true }, 'Asked for the client to run refund', null],
  [{ type: 'delivery', actor: '', event: { type: 'run.directed', phase: 'yield' } }, 'Directed to yield', null],
  [{ type: 'session-stored', problem: 'a full disk' }, 'Session not stored', 'failed'],
  [{ type: 'phase-end', phase: 'yield', failure: { stage: 'schema', code: 'invalid_reply' } }, null, 'failed'],
  [{ type: 'capability-start' }, null, null],
  [{ type: 'of-tomorrow' }, null, null],
])('the title of %j, and whether something went wrong', (event, title, trouble) => {
  expect(read(event)).toEqual([title, trouble]);
});
