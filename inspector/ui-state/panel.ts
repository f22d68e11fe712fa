import { effect, signal } from '@preact/signals';

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

export const isPanel = (name: unknown): name is PanelName => PANELS.some((panel) => panel.name === name);

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
