import { type Signal, signal } from '@preact/signals';

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

/** Whether a chart can also be a list. The chart of the chain is a list until its picture is requested, which would be visible only in part. */
export const isPhone = matching('(max-width: 660px)');
