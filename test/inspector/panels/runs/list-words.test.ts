import { expect, it } from 'vitest';
import { foundCount, listedCount } from '../../../../inspector/fold/run-list.ts';
import type { InspectedRun } from '../../../../src/inspection/wire.ts';

it.each([
  ['', '0 runs', '0 runs'],
  ['run', '1 run', '0 of 1 runs'],
  ['system system', '2 actors', '1 of 2 actors'],
  ['run run system', '2 runs and 1 actor', '2 of 3 runs and actors'],
])('counts what the list has: %s', (kinds, count, fewer) => {
  const listed = kinds.split(' ').flatMap((kind) => (kind === '' ? [] : [{ kind } as InspectedRun]));
  expect(listedCount(listed)).toBe(count);
  expect(foundCount(listed.slice(1), listed)).toBe(fewer);
});
