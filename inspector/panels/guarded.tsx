import type { ComponentChildren } from 'preact';
import { useErrorBoundary, useRef } from 'preact/hooks';
import { visible } from '../ui-state/text.ts';

interface GuardedProps {
  readonly name: string;
  /** It is tried again when this changes. */
  readonly when: string | number;
  readonly children: ComponentChildren;
}

/** A part of the page that cannot be shown says why, and leaves the rest of the page as it is. */
export function Guarded({ name, when, children }: GuardedProps) {
  const [error, again] = useErrorBoundary();
  const tried = useRef(when);
  if (error !== undefined && tried.current !== when) again();
  tried.current = when;
  if (error === undefined) return <>{children}</>;
  return (
    <p class="problem" role="alert">
      {name} cannot be shown here: {visible(error instanceof Error ? error.message : String(error))}
    </p>
  );
}
