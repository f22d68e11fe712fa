import { stored } from './stored.ts';

/** The panes whose size the user sets, with their limits in pixels. */
export const PANES = {
  step: { label: 'Width of the details', min: 300, max: 1_000 },
  trace: { label: 'Height of the trace', min: 80, max: 700 },
} as const;

export type PaneName = keyof typeof PANES;

/** The sizes that the user chose, in pixels; a pane without one has its default. */
export const paneSizes = stored<Readonly<Partial<Record<PaneName, number>>>>('postchain-panes', (kept) =>
  Object.fromEntries(
    Object.keys(PANES).flatMap((name) => (typeof Object(kept)[name] === 'number' ? [[name, Object(kept)[name]]] : [])),
  ),
);
