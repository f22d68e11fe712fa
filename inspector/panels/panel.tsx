import type { ComponentChildren } from 'preact';
import { useErrorBoundary, useRef } from 'preact/hooks';
import type { Inspector, RunView } from '../ui-state/inspector.ts';
import { PANELS, shownPanel } from '../ui-state/panel.ts';
import { visible } from '../ui-state/text.ts';

export interface PanelProps {
  readonly inspector: Inspector;
  readonly view: RunView;
}

interface GuardedProps {
  readonly name: string;
  /** It is tried again when this changes. */
  readonly when: string | number;
  readonly children: ComponentChildren;
}

/** An error boundary: shows why a part failed to render, and keeps the rest of the page. */
export function Guarded({ name, when, children }: GuardedProps) {
  const [error, again] = useErrorBoundary();
  const tried = useRef(when);
  if (error !== undefined && tried.current !== when) again();
  tried.current = when;
  if (error === undefined) return <>{children}</>;
  return (
    <p class="problem" role="alert">
      {name} could not be rendered: {visible(error instanceof Error ? error.message : String(error))}
    </p>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** The names of the panels; arrow keys go from one to the next. */
export function Tabs() {
  const shown = PANELS.findIndex(({ name }) => name === shownPanel.value);

  function move(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
    const step = STEPS[event.key];
    const next = PANELS.at((shown + (step ?? 0)) % PANELS.length);
    if (step === undefined || next === undefined) return;
    event.preventDefault();
    shownPanel.value = next.name;
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next.name}`)?.focus();
  }

  return (
    <div class="tabs" role="tablist" aria-label="Details" onKeyDown={move}>
      {PANELS.map(({ name, title }, place) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={place === shown}
          aria-controls="panel"
          tabIndex={place === shown ? 0 : -1}
          onClick={() => {
            shownPanel.value = name;
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
