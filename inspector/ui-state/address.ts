import { effect } from '@preact/signals';
import type { Inspector } from './inspector.ts';
import { isPanel, shownPanel } from './panel.ts';

/** Keeps what is looked at in the address, so that a page that is loaded anew shows the same: `#run=…&at=12&panel=why`. */
export function keepInAddress({ chosen, cursor, choose }: Inspector): void {
  const asked = new URLSearchParams(location.hash.slice(1));
  const run = asked.get('run');
  const at = Number.parseInt(asked.get('at') ?? '', 10);
  const panel = asked.get('panel');
  if (run !== null) choose(run);
  if (at >= 0) cursor.value = at;
  if (isPanel(panel)) shownPanel.value = panel;
  let due: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const kept = new URLSearchParams();
    if (chosen.value !== null) kept.set('run', chosen.value);
    if (cursor.value !== null) kept.set('at', String(cursor.value));
    kept.set('panel', shownPanel.value);
    // Browsers take only so many changes a second.
    clearTimeout(due);
    due = setTimeout(() => history.replaceState(null, '', `#${kept}`), 200);
  });
}
