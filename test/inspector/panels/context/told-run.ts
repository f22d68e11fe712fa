import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { createPassageIndex } from '../../../../src/documents/passage-index.ts';
import { memoryJournals } from '../../../../src/journal/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { startScripted } from '../../../support/run-chain.ts';

const text = 'It is so, and it was so in winter.';
const documents = createPassageIndex([
  { path: 'a.md', blocks: [{ text, heading: ['A'], startLine: 1, endLine: 1, kind: 'prose', lines: [1] }] },
]);

export const LONG = `The boat was late again. ${'It comes when the sea is calm, or so they say. '.repeat(40)}`.trim();
export const NAUGHTY = '<img src=x onerror="window.hacked = true">\u202Egnp.exe and more';

/** A run in which everything happens to its context: added, linked, rated, pruned, summarised with consent; several cycles, and a direction. */
export async function toldRun(states: boolean): Promise<readonly JournalEntry[]> {
  const { run } = startScripted(
    {
      action: (call: number) => ({
        ...replies.action,
        response: `${NAUGHTY} ${call}. ${'It may be so, they say. '.repeat(12)}`,
      }),
      yield: (call: number) =>
        call < 3 ? { ...replies.yield, confidence: 0.3, answer: `So it is, ${'or not '.repeat(call)}` } : replies.yield,
    },
    {
      documents,
      thresholds: { prune: 0.45, summarise: 0.9, change: 0 },
      ...(states && { journals: memoryJournals() }),
    },
    { history: [{ role: 'user', content: LONG }], mode: 'manual' },
  );
  for await (const event of run.events) {
    if (event.type === 'consent-asked') run.send({ type: 'consent.given', choice: 'summarise' });
    if (event.type === 'direction-asked')
      run.send(event.cycle < 3 ? { type: 'run.directed', phase: 'action' } : { type: 'run.finished' });
  }
  return run.journal;
}
