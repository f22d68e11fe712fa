import type { ComponentChildren } from 'preact';
import { formatNumber } from '../fold/format.ts';
import { LinkButton } from '../link-button.tsx';

interface EntryLinkProps {
  readonly seq: number;
  readonly moveTo: (seq: number) => void;
  readonly isCurrent?: boolean;
  /** Default: "entry" with its number. */
  readonly children?: ComponentChildren;
}

export function EntryLink({ seq, moveTo, isCurrent, children }: EntryLinkProps) {
  return (
    <LinkButton aria-current={isCurrent} onClick={() => moveTo(seq)}>
      {children ?? `entry ${formatNumber(seq)}`}
    </LinkButton>
  );
}
