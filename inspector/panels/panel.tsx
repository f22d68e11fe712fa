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

/** The tabs of the panels. The arrow keys belong to the cursor, so that each tab is a tab stop. */
export function Tabs() {
  const shown = PANELS.findIndex(({ name }) => name === activePanel.value);
  return (
    <div class="tabs" role="tablist" aria-label="Details">
      {PANELS.map(({ name, title }, index) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={index === shown}
          aria-controls="panel"
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
