import type { ComponentChildren } from 'preact';
import { useErrorBoundary, useRef } from 'preact/hooks';
import { revealHidden } from '../fold/text.ts';
import type { Inspector, PanelView } from '../ui-state/inspector.ts';

export interface PanelProps {
  readonly inspector: Inspector;
  readonly view: PanelView;
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
    <p class="wrong" role="alert">
      {name} could not be rendered: {revealHidden(error instanceof Error ? error.message : String(error))}
    </p>
  );
}
