import { signal } from '@preact/signals';

export const PARTS = ['messages', 'operations', 'budget', 'difference'] as const;
export type Part = (typeof PARTS)[number];

/** What of the context is shown. */
export const shownPart = signal<Part>('messages');

/** The entry that others are compared with, of the run that it was pinned in. */
export const base = signal<{ readonly runId: string; readonly seq: number } | null>(null);

/** The operations that are undone in the preview, by their ids, of one run. */
const ticked = signal<{ readonly runId: string; readonly ids: ReadonlySet<string> }>({
  runId: '',
  ids: new Set(),
});

const NONE: ReadonlySet<string> = new Set();

export const tickedOf = (runId: string): ReadonlySet<string> =>
  ticked.value.runId === runId ? ticked.value.ids : NONE;

export function tick(runId: string, id: string, on: boolean): void {
  const ids = new Set(tickedOf(runId));
  if (on) ids.add(id);
  else ids.delete(id);
  ticked.value = { runId, ids };
}

export function untickAll(): void {
  ticked.value = { runId: '', ids: NONE };
}
