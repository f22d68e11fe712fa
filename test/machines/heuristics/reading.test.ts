import { expect, it } from 'vitest';
import { read } from '../../../machines/heuristics/reading.ts';

it.each([')', '"', '”', ' )', '.)', ' ', '\n ', '([', '!?'])(
  'read takes linear time for a text of many %j',
  (piece) => {
    // An expression that is tried again at every character would take hours.
    expect(read(`One. ${piece.repeat(1_000_000)} Two.`).sentences.length).toBeGreaterThan(0);
  },
);

it('sentences end after quotes and brackets', () => {
  expect(read('He said “no.”) She went (home.) So?').sentences).toHaveLength(3);
});
