import { useId, useRef } from 'preact/hooks';
import { Icon } from '../../icon.tsx';

export interface MenuItem {
  /** If other items may have the same label. */
  readonly id?: string;
  readonly label: string;
  readonly title?: string;
  readonly act: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Shown below the items: why something is not offered. */
  readonly note?: string | undefined;
}

/** A button that opens a list of actions below it. In the top layer, so that no part of the page cuts it off; Escape closes it. */
export function Menu({ label, items, note }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  function place(): void {
    const [at, box] = [button.current?.getBoundingClientRect(), list.current];
    if (at === undefined || box === null) return;
    box.style.top = `${at.bottom + 4}px`;
    box.style.right = `${Math.max(4, document.documentElement.clientWidth - at.right)}px`;
  }

  function focusNext(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = [...(list.current?.querySelectorAll('button') ?? [])];
    all.at((all.indexOf(document.activeElement as HTMLButtonElement) + step) % all.length)?.focus();
  }

  return (
    <>
      <button ref={button} type="button" popovertarget={id} aria-haspopup="menu">
        {label} <Icon name="down" />
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        aria-description={note}
        onBeforeToggle={place}
        onToggle={({ newState }) => newState === 'open' && list.current?.querySelector('button')?.focus()}
        onKeyDown={focusNext}
      >
        {items.map(({ label: words, id: key = words, title, act }) => (
          <button
            key={key}
            type="button"
            role="menuitem"
            tabIndex={-1}
            title={title}
            onClick={() => {
              list.current?.hidePopover();
              act();
            }}
          >
            {words}
          </button>
        ))}
        {note !== undefined && (
          <p class="muted" role="none">
            {note}
          </p>
        )}
      </div>
    </>
  );
}
