import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import { divergenceText } from '../../../../src/journal/replay/divergence.ts';

const transition = (tokens: number): JournalEntry => ({
  seq: 4,
  atMs: 1,
  type: 'transition',
  machine: 'postChain',
  event: 'xstate.init',
  source: 'routing',
  target: ['a state with a long name '.repeat(20)],
  candidates: [{ guard: 'modelMayWrite', target: ['writing'], verdict: 'taken', inputs: { tokens } }],
});
const stopped: JournalEntry = { seq: 4, atMs: 1, type: 'run-stopped' };

describe('the text of a divergence', () => {
  it.each([
    [
      'the place where two entries of a type differ',
      transition(12),
      transition(13),
      'entry 4 (transition): candidates.0.inputs.tokens is 12 in the recording, and 13 now',
    ],
    [
      'both entries where they are of different types',
      stopped,
      transition(13),
      /^entry 4 is \{"seq":4,"atMs":1,"type":"run-stopped"\} in the recording, and \{"seq":4,.+… now$/u,
    ],
    [
      'that one has no such entry',
      stopped,
      null,
      'entry 4 is {"seq":4,"atMs":1,"type":"run-stopped"} in the recording, and nothing now',
    ],
  ])('says %s', (_what, recorded, replayed, text) => {
    const said = divergenceText({ seq: 4, recorded, replayed });
    if (typeof text === 'string') expect(said).toBe(text);
    else expect(said).toMatch(text);
  });
});
