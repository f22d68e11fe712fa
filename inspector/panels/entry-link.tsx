import type { ComponentChildren } from 'preact';
import { formatNumber } from '../fold/format.ts';

interface EntryLinkProps {
  readonly seq: number;
  readonly moveTo: (seq: number) => void;
  readonly isCurrent?: boolean;
  /** Default: "entry" with its number. */
  readonly children?: ComponentChildren;
}

export function EntryLink({ seq, moveTo, isCurrent, children }: EntryLinkProps) {
  return (
    <button type="button" class="link-button" aria-current={isCurrent} onClick={() => moveTo(seq)}>
      {children ?? `entry ${formatNumber(seq)}`}
    </button>
  );
}
