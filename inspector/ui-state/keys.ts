/** A keyboard shortcut: active unless the user types text, and listed in the help. */
export interface Key {
  /** Alternatives, as in `KeyboardEvent.key`, optionally with `Shift+`. */
  readonly keys: readonly string[];
  readonly does: string;
  readonly group: 'Move' | 'Panels' | 'Chart' | 'Page';
  /** Missing if the focused part handles the key itself; then it is only listed. */
  readonly act?: () => void;
}

const known: Key[] = [];

/** All keys, in the order in which they were made known. */
export const knownKeys: readonly Key[] = known;

/** Makes keys known. Gives what forgets them. */
export function addKeys(keys: readonly Key[]): () => void {
  known.push(...keys);
  return () => {
    for (const key of keys) known.splice(known.indexOf(key), 1);
  };
}

/** Hears keys for the whole page. Gives what stops it. */
export function listenToKeys(page: Document): () => void {
  const hear = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const name = nameOf(event);
    if (name === ' ' && isPressed(event.target)) return;
    const key = known.find(({ keys, act }) => act !== undefined && keys.includes(name));
    if (key === undefined) return;
    event.preventDefault();
    key.act?.();
  };
  page.addEventListener('keydown', hear);
  return () => page.removeEventListener('keydown', hear);
}

/** For characters, Shift is part of the key. */
const nameOf = ({ key, shiftKey }: KeyboardEvent): string => (shiftKey && key.length > 1 ? `Shift+${key}` : key);

/** Elements that handle keys themselves. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
}

/** What is pressed by Space keeps it. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, summary, a[href], [role=button], [role=tab]') !== null;
}
