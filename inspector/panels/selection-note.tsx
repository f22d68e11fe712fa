import type { ComponentChildren } from 'preact';
import './selection-note.css';

interface SelectionNoteProps {
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function SelectionNote({ onClose, children }: SelectionNoteProps) {
  return (
    <aside class="selection-note" aria-label="Selected in the chart">
      {children}
      <button type="button" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </aside>
  );
}
