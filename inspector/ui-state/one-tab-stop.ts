import { useLayoutEffect, useRef } from 'preact/hooks';

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

const buttonsIn = (group: Element): readonly HTMLButtonElement[] => [
  ...group.querySelectorAll<HTMLButtonElement>('button:enabled'),
];

function focusNext(event: KeyboardEvent): void {
  const step = STEPS[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = buttonsIn(event.currentTarget as Element);
  all.at((all.indexOf(document.activeElement as HTMLButtonElement) + step) % all.length)?.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** Properties of a group of buttons that is one tab stop, at the chosen button; arrow keys move between them. */
export function useOneTabStop<Group extends HTMLElement>() {
  const ref = useRef<Group>(null);
  useLayoutEffect(() => {
    const all = ref.current === null ? [] : buttonsIn(ref.current);
    const chosen = all.find((button) => button.matches('[aria-pressed=true], [aria-current], [aria-sort$=ending] *'));
    for (const button of all) button.tabIndex = button === (chosen ?? all[0]) ? 0 : -1;
  });
  return { ref, 'data-arrows': '', onKeyDown: focusNext };
}
