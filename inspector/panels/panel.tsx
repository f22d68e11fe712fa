import type { ComponentChildren } from 'preact';
import { useErrorBoundary, useRef } from 'preact/hooks';
import { revealHidden } from '../fold/text.ts';
import type { Inspector, RunView } from '../ui-state/inspector.ts';
import { activePanel, PANELS } from '../ui-state/panel.ts';

export interface PanelProps {
  readonly inspector: Inspector;
  readonly view: RunView;
}

interface ErrorBoundaryProps {
  readonly name: string;
  /** Rendering is retried when this changes. */
  readonly resetKey: string | number;
  readonly children: ComponentChildren;
}

/** An error boundary: shows why a part failed to render, and keeps the rest of the page. */
export function ErrorBoundary({ name, resetKey, children }: ErrorBoundaryProps) {
  const [error, reset] = useErrorBoundary();
  const lastKey = useRef(resetKey);
  if (error !== undefined && lastKey.current !== resetKey) reset();
  lastKey.current = resetKey;
  if (error === undefined) return <>{children}</>;
  return (
    <p class="problem" role="alert">
      {name} could not be rendered: {revealHidden(error instanceof Error ? error.message : String(error))}
    </p>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** The tabs of the panels; arrow keys move between them. */
export function Tabs() {
  const shown = PANELS.findIndex(({ name }) => name === activePanel.value);

  function move(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
    const step = STEPS[event.key];
    const next = PANELS.at((shown + (step ?? 0)) % PANELS.length);
    if (step === undefined || next === undefined) return;
    event.preventDefault();
    activePanel.value = next.name;
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next.name}`)?.focus();
  }

  return (
    <div class="tabs" role="tablist" aria-label="Details" onKeyDown={move}>
      {PANELS.map(({ name, title }, index) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={index === shown}
          aria-controls="panel"
          tabIndex={index === shown ? 0 : -1}
          onClick={() => {
            activePanel.value = name;
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
