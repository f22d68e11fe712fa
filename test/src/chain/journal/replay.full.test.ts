import { expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { divergenceText } from '../../../../src/chain/journal/replay.ts';

const transition = (tokens: number): JournalEntry => ({
  seq: 4,
  atMs: 1,
  type: 'transition',
  actor: '',
  machine: 'postChain',
  event: 'xstate.init',
  source: 'routing',
  target: ['a state with a long name '.repeat(20)],
  candidates: [{ guard: 'modelMayWrite', target: ['writing'], result: 'taken', inputs: { tokens } }],
});
const stopped: JournalEntry = { seq: 4, atMs: 1, type: 'stopped' };

it.each([
  [
    'the first difference between two entries of one type',
    transition(12),
    transition(13),
    'entry 4 (transition): candidates.0.inputs.tokens was 12 in the recording and is 13 now',
  ],
  [
    'both entries if their types differ',
    stopped,
    transition(13),
    /^entry 4 was \{"seq":4,"atMs":1,"type":"stopped"\} in the recording and is \{"seq":4,.+… now$/u,
  ],
  [
    'a missing entry',
    stopped,
    null,
    'entry 4 was {"seq":4,"atMs":1,"type":"stopped"} in the recording and is missing now',
  ],
])('divergenceText shows %s', (_, recorded, replayed, text) => {
  const description = divergenceText({ seq: 4, recorded, replayed, cause: '' });
  if (typeof text === 'string') expect(description).toBe(text);
  else expect(description).toMatch(text);
});
