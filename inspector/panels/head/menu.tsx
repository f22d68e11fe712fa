import { useId, useRef } from 'preact/hooks';
import { Icon } from '../../icon.tsx';
import { focusNext } from '../../ui-state/one-tab-stop.ts';

export interface MenuItem {
  readonly label: string;
  readonly title?: string;
  /** For an item that is switched on and off. The menu stays open. */
  readonly isChecked?: boolean;
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
        {items.map(({ label: words, title, isChecked, act }) => (
          <button
            key={words}
            type="button"
            {...(isChecked === undefined
              ? { role: 'menuitem' }
              : { role: 'menuitemcheckbox', 'aria-checked': isChecked })}
            tabIndex={-1}
            title={title}
            onClick={() => {
              if (isChecked === undefined) list.current?.hidePopover();
              act();
            }}
          >
            {isChecked !== undefined && <Icon name="check" />} {words}
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
