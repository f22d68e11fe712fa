import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface FoldedProps {
  readonly summary: ComponentChildren;
  readonly content: () => ComponentChildren;
}

/** Details whose content is rendered only while they are open, because a step can have much of it. */
export function Folded({ summary, content }: FoldedProps) {
  const [isOpen, open] = useState(false);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && content()}
    </details>
  );
}
