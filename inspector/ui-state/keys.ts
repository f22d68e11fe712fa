/** What a key does: the page hears it wherever nothing is typed, and the help sheet lists it. */
export interface Key {
  /** As `KeyboardEvent.key` has them: any of these. `Shift+` may stand in front. */
  readonly keys: readonly string[];
  readonly does: string;
  readonly group: 'Move' | 'Panels' | 'Chart' | 'Page';
  /** Left out where the focused part hears the key itself: then it is only listed. */
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

/** A character says by itself whether Shift was held. */
const nameOf = ({ key, shiftKey }: KeyboardEvent): string => (shiftKey && key.length > 1 ? `Shift+${key}` : key);

/** Where keys are text, or choose, or a dialog has them. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
}

/** What is pressed by Space keeps it. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, summary, a[href], [role=button], [role=tab]') !== null;
}
