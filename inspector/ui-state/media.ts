import { type Signal, signal } from '@preact/signals';
import { isChartFull } from './layout.ts';

function matching(query: string): Signal<boolean> {
  const list = matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener('change', () => {
    matches.value = list.matches;
  });
  return matches;
}

/** Whether the list of runs has cards, as in runs.css. */
export const hasCards = matching('(max-width: 860px)');

/** Whether the parts of a run are below each other, as in page.css. */
export const isNarrow = matching('(max-width: 900px), (max-height: 560px)');

/** Whether a chart can also be a list. The chain's chart is a list until its picture, too large for a phone, is requested. */
export const isPhone = matching('(max-width: 660px)');

/** The approximate ratio of width to height of the space for a chart; above a trace, however many rows that has: all actors of a machine have one picture. */
export const chartAspect = (): number => (isPhone.value ? 0.6 : isNarrow.value || isChartFull.value ? 1.5 : 2.7);
