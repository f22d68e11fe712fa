import { effect, signal } from '@preact/signals';
import type { Inspector } from './inspector.ts';

/** The panels beside the chart, in their order: their keys are 1, 2, … */
export const PANELS = [
  { name: 'why', title: 'Why' },
  { name: 'output', title: 'Output' },
  { name: 'context', title: 'Context' },
  { name: 'events', title: 'Events' },
  { name: 'act', title: 'Act' },
  { name: 'compare', title: 'Compare' },
  { name: 'overlay', title: 'Overlay' },
] as const;

export type PanelName = (typeof PANELS)[number]['name'];

export const shownPanel = signal<PanelName>('why');

const isPanel = (name: unknown): name is PanelName => PANELS.some((panel) => panel.name === name);

/**
 * Keeps the selected run, entry and panel in the address (`#run=…&at=12&panel=why`), so that a reload shows the same.
 */
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
    // Browsers limit the changes per second.
    clearTimeout(due);
    due = setTimeout(() => history.replaceState(null, '', `#${kept}`), 200);
  });
}

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'postchain-theme';

/** Light, dark or the system's theme; persisted if storage is available. */
export const theme = signal<Theme>(remembered());

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A page that is a file may have no memory.
  }
});

function remembered(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return THEMES.find((name) => name === kept) ?? 'system';
  } catch {
    return 'system';
  }
}
