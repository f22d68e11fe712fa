import { effect, signal } from '@preact/signals';

/** The panes whose size the user sets, with their limits in pixels. */
export const PANES = {
  step: { label: 'Width of the details', min: 300, max: 1_000 },
  trace: { label: 'Height of the trace', min: 80, max: 700 },
} as const;

export type PaneName = keyof typeof PANES;

const STORAGE_KEY = 'postchain-panes';

/** The sizes that the user chose, in pixels; a pane without one has its default. Kept if storage is available. */
export const paneSizes = signal<Readonly<Partial<Record<PaneName, number>>>>(storedSizes());

effect(() => {
  const sizes = paneSizes.value;
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(sizes));
  } catch {
    // Pages opened from disk may have no storage.
  }
});

function storedSizes(): Partial<Record<PaneName, number>> {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Readonly<Record<string, unknown>> | null;
    const names = Object.keys(PANES) as PaneName[];
    return Object.fromEntries(
      names.flatMap((name) => (typeof stored?.[name] === 'number' ? [[name, stored[name]]] : [])),
    );
  } catch {
    return {};
  }
}
