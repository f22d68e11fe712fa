import { effect, type Signal, signal } from '@preact/signals';

/** A signal whose value is kept as JSON in the browser's storage, if there is one. `read` receives what was kept. */
export function stored<Value>(key: string, read: (kept: unknown) => Value): Signal<Value> {
  const kept = signal(read(inStorage(() => JSON.parse(localStorage.getItem(key) ?? 'null'))));
  effect(() => {
    const text = JSON.stringify(kept.value);
    inStorage(() => localStorage.setItem(key, text));
  });
  return kept;
}

/** Pages opened from disk may have no storage, and others may have written to it. */
function inStorage(act: () => unknown): unknown {
  try {
    return act();
  } catch {
    return null;
  }
}
