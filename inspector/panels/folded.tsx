import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface FoldedProps {
  readonly summary: ComponentChildren;
  readonly content: () => ComponentChildren;
}

/** Content that is rendered once it is opened: a step has far more of it than is read. */
export function Folded({ summary, content }: FoldedProps) {
  const [isOpen, open] = useState(false);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && content()}
    </details>
  );
}
