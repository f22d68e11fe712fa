import { expect, it } from 'vitest';
import { read } from '../../../machines/heuristics/reading.ts';

it.each([')', '"', '”', ' )', '.)', ' ', '\n ', '([', '!?'])('a text of many %j is read in linear time', (piece) => {
  // An expression that is tried again at every character would take hours.
  expect(read(`One. ${piece.repeat(1_000_000)} Two.`).sentences.length).toBeGreaterThan(0);
});

it('sentences end after quotes and brackets', () => {
  expect(read('He said “no.”) She went (home.) So?').sentences).toHaveLength(3);
});
