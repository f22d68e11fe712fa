import { signal } from '@preact/signals';
import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import type { ListedOperation } from '../../../src/chain/journal/context-history.ts';
import { formatDecimal, formatNumber } from '../../fold/format.ts';
import { excerpt } from '../../fold/text.ts';

interface PagerProps {
  readonly page: number;
  readonly pageSize: number;
  readonly count: number;
  readonly noun: string;
  readonly onPage: (page: number) => void;
}

/** Pages through a long list; hidden if one page is enough. */
export function Pager({ page, pageSize, count, noun, onPage }: PagerProps) {
  const last = lastPage(count, pageSize);
  if (last === 0) return null;
  const from = page * pageSize;
  return (
    <nav class="pager row" aria-label={`Pages of ${noun}`}>
      <button type="button" disabled={page === 0} onClick={() => onPage(0)} aria-label="First page">
        «
      </button>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)} aria-label="Previous page">
        ‹
      </button>
      <span>
        {formatNumber(from + 1)}–{formatNumber(Math.min(count, from + pageSize))} of {formatNumber(count)} {noun}
      </span>
      <button type="button" disabled={page === last} onClick={() => onPage(page + 1)} aria-label="Next page">
        ›
      </button>
      <button type="button" disabled={page === last} onClick={() => onPage(last)} aria-label="Last page">
        »
      </button>
    </nav>
  );
}

export const lastPage = (count: number, pageSize: number): number => Math.max(0, Math.ceil(count / pageSize) - 1);

export function PhaseName({ phase }: { readonly phase: Phase }) {
  return (
    <span class="phase-name">
      <span class="dot" aria-hidden="true" style={{ background: `var(--phase-${phase}, var(--accent))` }} />
      {phase}
    </span>
  );
}

const VERBS: Readonly<Record<ContextOperation['operation'], string>> = {
  ADD: 'added',
  TAG: 'tagged',
  PRUNE: 'pruned',
  TRANSFORM: 'summarized',
  LINK: 'linked',
  PRIORITIZE: 'prioritized',
};

export const operationVerb = ({ operation }: ContextOperation): string => VERBS[operation];

/** The values it sets (tags, link, importance); empty if there are none. */
export function operationDetails(operation: ContextOperation): string {
  switch (operation.operation) {
    case 'TAG':
      return operation.data.tags.map((tag) => excerpt(tag, 40)).join(', ');
    case 'LINK':
      return `to ${excerpt(operation.data.to, 40)} (${excerpt(operation.data.relation, 40)} ${formatDecimal(operation.data.strength)})`;
    case 'PRIORITIZE':
      return `to ${formatDecimal(operation.data.importance)}`;
    default:
      return '';
  }
}

export function sizeText({ operation, before, after }: ListedOperation): string {
  if (before === null)
    return after === null ? 'message not found: nothing changed' : `+${formatNumber(after)} characters`;
  if (operation.operation === 'ADD') return 'already present: nothing changed';
  if (after === null) return `−${formatNumber(before)} characters`;
  return before === after ? '' : `${formatNumber(before)} to ${formatNumber(after)} characters`;
}

/** The user's consent; null if nobody was asked. */
export function consentOf({ metadata }: ContextOperation): string | null {
  const consent = metadata?.['consent'];
  return typeof consent === 'string' ? `consent: ${excerpt(consent, 40)}` : null;
}

/** The pinned entry that the cursor is compared with, and its run. */
export const base = signal<{ readonly runId: string; readonly seq: number } | null>(null);

/** The ids of the operations undone in the preview, for one run. */
const undoSelection = signal<{ readonly runId: string; readonly ids: ReadonlySet<string> }>({
  runId: '',
  ids: new Set(),
});

const NONE: ReadonlySet<string> = new Set();

export const undoSelectionOf = (runId: string): ReadonlySet<string> =>
  undoSelection.value.runId === runId ? undoSelection.value.ids : NONE;

export function setUndone(runId: string, id: string, on: boolean): void {
  const ids = new Set(undoSelectionOf(runId));
  if (on) ids.add(id);
  else ids.delete(id);
  undoSelection.value = { runId, ids };
}

export function clearUndoSelection(): void {
  undoSelection.value = { runId: '', ids: NONE };
}
