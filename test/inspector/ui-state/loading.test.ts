import { expect, it } from 'vitest';
import { isLoading } from '../../../inspector/ui-state/inspector.ts';

it.each([
  ['a recording whose entries are arriving', true, { entries: 9 }, 4, null],
  ['a recording of which all entries have arrived', false, { entries: 9 }, 9, null],
  ['a recording that is damaged in the middle', false, { entries: 9 }, 4, { problem: 'line 5' }],
  ['a run that may get more entries, also when it has just ended', false, {}, 4, null],
] as const)('%s is loading: %s', (_, expected, run, count, end) => {
  expect(isLoading({ run: run as never, count, end })).toBe(expected);
});
