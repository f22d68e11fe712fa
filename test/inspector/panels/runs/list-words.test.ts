import { expect, it } from 'vitest';
import { listedCount, listedNoun } from '../../../../inspector/panels/runs/list-words.ts';
import type { InspectedRun } from '../../../../src/inspection/wire.ts';

it.each([
  ['', '0 runs', 'Question'],
  ['run', '1 run', 'Question'],
  ['system system', '2 actors', 'Actor'],
  ['run run system', '2 runs and 1 actor', 'Question or actor'],
])('names what the list has: %s', (kinds, count, subject) => {
  const listed = kinds.split(' ').flatMap((kind) => (kind === '' ? [] : [{ kind } as InspectedRun]));
  expect([listedCount(listed), listedNoun(listed)]).toEqual([count, subject]);
});
