import { effect, signal } from '@preact/signals';
import type { Inspector } from './inspector.ts';

/** The panels in order; their shortcuts are 1, 2, … */
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

export const activePanel = signal<PanelName>('why');

const isPanel = (name: unknown): name is PanelName => PANELS.some((panel) => panel.name === name);

/**
 * Keeps the selected run, entry and panel in the address (`#run=…&at=12&panel=why`), so that a reload shows the same.
 */
export function keepInAddress({ selectedRunId, cursor, selectRun: choose }: Inspector): void {
  const stored = new URLSearchParams(location.hash.slice(1));
  const run = stored.get('run');
  const at = Number.parseInt(stored.get('at') ?? '', 10);
  const panel = stored.get('panel');
  if (run !== null) choose(run);
  if (at >= 0) cursor.value = at;
  if (isPanel(panel)) activePanel.value = panel;
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const parameters = new URLSearchParams();
    if (selectedRunId.value !== null) parameters.set('run', selectedRunId.value);
    if (cursor.value !== null) parameters.set('at', String(cursor.value));
    parameters.set('panel', activePanel.value);
    // Browsers limit the changes per second.
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, '', `#${parameters}`), 200);
  });
}

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORAGE_KEY = 'postchain-theme';

/** Light, dark or the system's theme; persisted if storage is available. */
export const theme = signal<Theme>(storedTheme());

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  try {
    localStorage.setItem(STORAGE_KEY, theme.value);
  } catch {
    // Pages opened from disk may have no storage.
  }
});

function storedTheme(): Theme {
  try {
    const parameters = localStorage.getItem(STORAGE_KEY);
    return THEMES.find((name) => name === parameters) ?? 'system';
  } catch {
    return 'system';
  }
}
