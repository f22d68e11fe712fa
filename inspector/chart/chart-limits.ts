import type { RunCharts } from '../../src/inspection/wire.ts';

/** Charts larger than this are not laid out: it would neither be quick nor a picture that anybody reads. */
const MOST_STATES = 400;
const MOST_TRANSITIONS = 1_500;
/** So many states may stand in one picture, those of charts inside states counted as often as they are drawn. */
export const MOST_DRAWN = 4_000;
export const LAYOUT_TIMEOUT_MS = 10_000;

/** Why charts are not laid out, in one line; null where they are. */
export function tooLarge({ charts }: RunCharts): string | null {
  for (const { states, transitions } of charts) {
    if (states.length > MOST_STATES)
      return `The chart has ${states.length} states; up to ${MOST_STATES} are drawn as a picture.`;
    if (transitions.length > MOST_TRANSITIONS)
      return `The chart has ${transitions.length} transitions; up to ${MOST_TRANSITIONS} are drawn as a picture.`;
  }
  return null;
}
