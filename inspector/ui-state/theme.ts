import { effect, signal } from '@preact/signals';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const STORAGE_KEY = 'postchain-theme';

/** Light, dark or the system's theme; persisted if storage is available. */
export const theme = signal<Theme>(storedTheme());

export const nextTheme = (): Theme => THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';

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
