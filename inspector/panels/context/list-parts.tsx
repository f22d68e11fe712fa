import { signal } from '@preact/signals';
import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import type { ListedOperation } from '../../../src/journal/context-history.ts';
import { grouped, rounded } from '../../fold/format.ts';
import { shortly } from '../../ui-state/text.ts';

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
    <nav class="pager" aria-label={`Pages of ${noun}`}>
      <button type="button" disabled={page === 0} onClick={() => onPage(0)} aria-label="First page">
        «
      </button>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)} aria-label="Previous page">
        ‹
      </button>
      <span>
        {grouped(from + 1)}–{grouped(Math.min(count, from + pageSize))} of {grouped(count)} {noun}
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

/** A phase by its name, with a mark in its colour. */
export function PhaseName({ phase }: { readonly phase: Phase }) {
  return (
    <span class="phase-name">
      <span class="dot" aria-hidden="true" style={{ background: `var(--phase-${phase}, var(--accent))` }} />
      {phase}
    </span>
  );
}

const DONE: Readonly<Record<ContextOperation['operation'], string>> = {
  ADD: 'added',
  TAG: 'tagged',
  PRUNE: 'pruned',
  TRANSFORM: 'summarized',
  LINK: 'linked',
  PRIORITIZE: 'prioritised',
};

/** What an operation does to its message, in a word. */
export const doneBy = ({ operation }: ContextOperation): string => DONE[operation];

/** The values it sets (tags, link, importance); empty if there are none. */
export function setBy(operation: ContextOperation): string {
  switch (operation.operation) {
    case 'TAG':
      return operation.data.tags.map((tag) => shortly(tag, 40)).join(', ');
    case 'LINK':
      return `to ${shortly(operation.data.to, 40)} (${shortly(operation.data.relation, 40)} ${rounded(operation.data.strength)})`;
    case 'PRIORITIZE':
      return `to ${rounded(operation.data.importance)}`;
    default:
      return '';
  }
}

/** What became of the length of its message. */
export function sizeWords({ operation, before, after }: ListedOperation): string {
  if (before === null) return after === null ? 'message not found: nothing changed' : `+${grouped(after)} characters`;
  if (operation.operation === 'ADD') return 'already present: nothing changed';
  if (after === null) return `−${grouped(before)} characters`;
  return before === after ? '' : `${grouped(before)} to ${grouped(after)} characters`;
}

/** The values behind it, without consent. */
export function numbersOf({ metadata }: ContextOperation): readonly string[] {
  return Object.entries(metadata ?? {})
    .filter(([name]) => name !== 'requiresConsent' && name !== 'consent')
    .map(
      ([name, value]) =>
        `${shortly(name, 40)} ${typeof value === 'number' ? rounded(value) : shortly(String(value), 60)}`,
    );
}

/** The user's consent; null if nobody was asked. */
export function consentOf({ metadata }: ContextOperation): string | null {
  const said = metadata?.['consent'];
  return typeof said === 'string' ? `consent: ${shortly(said, 40)}` : null;
}

export const PARTS = ['messages', 'operations', 'budget', 'difference'] as const;
export type Part = (typeof PARTS)[number];

/** What of the context is shown. */
export const shownPart = signal<Part>('messages');

/** The entry that others are compared with, of the run that it was pinned in. */
export const base = signal<{ readonly runId: string; readonly seq: number } | null>(null);

/** The operations that are undone in the preview, by their ids, of one run. */
const ticked = signal<{ readonly runId: string; readonly ids: ReadonlySet<string> }>({
  runId: '',
  ids: new Set(),
});

const NONE: ReadonlySet<string> = new Set();

export const tickedOf = (runId: string): ReadonlySet<string> =>
  ticked.value.runId === runId ? ticked.value.ids : NONE;

export function tick(runId: string, id: string, on: boolean): void {
  const ids = new Set(tickedOf(runId));
  if (on) ids.add(id);
  else ids.delete(id);
  ticked.value = { runId, ids };
}

export function untickAll(): void {
  ticked.value = { runId: '', ids: NONE };
}
