import { useLayoutEffect } from 'preact/hooks';

/** A keyboard shortcut: active unless the user types text, and listed in the help. */
export interface Key {
  /** Alternatives, as in `KeyboardEvent.key`, optionally with `Shift+`. */
  readonly keys: readonly string[];
  readonly description: string;
  readonly group: 'List' | 'Move' | 'Trace' | 'Panels' | 'Chart' | 'Page';
  /** Missing if the focused part handles the key itself; then it is only listed. */
  readonly act?: (key: string) => void;
}

const registered: Key[] = [];

export const knownKeys: readonly Key[] = registered;

/** Registers shortcuts while a component is visible, and registers them again when `inputs` change. */
export function useKeys(keys: readonly Key[], inputs: readonly unknown[] = []): void {
  // Before painting, so that they work as soon as the component is visible.
  useLayoutEffect(() => {
    registered.push(...keys);
    return () => {
      for (const key of keys) registered.splice(registered.indexOf(key), 1);
    };
  }, inputs);
}

/** Keys that act before the focused part can handle them: stepping works wherever the focus is. */
const EVERYWHERE: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowRight']);

/** Listens for shortcuts on the whole page. Returns a function that stops listening. */
export function listenToKeys(page: Document): () => void {
  /** `:focus-visible` cannot be used instead: browsers also set it on the first key after a click. */
  let wasClicked = false;
  const onPointerDown = (): void => {
    wasClicked = true;
  };
  const onKeyDownFirst = (event: KeyboardEvent): void => {
    const inFront = page.querySelector<HTMLElement>(':popover-open');
    if (event.key === 'Escape' && inFront !== null) {
      inFront.hidePopover();
      event.preventDefault();
      event.stopPropagation();
    }
    if (!EVERYWHERE.has(nameOf(event))) {
      wasClicked = false;
      return;
    }
    if (!wasClicked && isWithin(event.target, ARROWS)) return;
    onKeyDown(event);
    if (event.defaultPrevented) event.stopPropagation();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWithin(event.target, TYPING))
      return;
    const name = nameOf(event);
    if (name === ' ' && isWithin(event.target, PRESSED)) return;
    const key = registered.find(({ keys, act }) => act !== undefined && keys.includes(name));
    if (key === undefined) return;
    event.preventDefault();
    key.act?.(name);
  };
  page.addEventListener('pointerdown', onPointerDown, { capture: true });
  page.addEventListener('keydown', onKeyDownFirst, { capture: true });
  page.addEventListener('keydown', onKeyDown);
  return () => {
    page.removeEventListener('pointerdown', onPointerDown, { capture: true });
    page.removeEventListener('keydown', onKeyDownFirst, { capture: true });
    page.removeEventListener('keydown', onKeyDown);
  };
}

/** For characters, Shift is part of the key. */
const nameOf = ({ key, shiftKey }: KeyboardEvent): string => (shiftKey && key.length > 1 ? `Shift+${key}` : key);

const isWithin = (target: EventTarget | null, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null;

/** Elements that handle keys themselves. */
const TYPING = 'input, textarea, select, dialog, [contenteditable]';
/** Elements that the space bar activates. */
const PRESSED = 'button, summary, a[href], [role=button], [role=tab]';
/** Elements that use the arrow keys themselves if focused by keyboard: the chart or a group of buttons. */
const ARROWS = '.chart-picture, [data-arrows]';
