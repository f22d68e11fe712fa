import { effect, signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'postchain-theme';

/** Light, dark, or as the system has it; remembered where the browser remembers anything. */
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
