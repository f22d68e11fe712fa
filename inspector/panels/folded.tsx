import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface FoldedProps {
  readonly summary: ComponentChildren;
  readonly content: () => ComponentChildren;
  readonly isOpenFirst?: boolean;
}

/** Details whose content is rendered only while they are open, because a step can have much of it. */
export function Folded({ summary, content, isOpenFirst = false }: FoldedProps) {
  const [isOpen, open] = useState(isOpenFirst);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && content()}
    </details>
  );
}
