import type { ContextOperation } from '../../machines/contracts/context.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { RunLog } from '../wire/run-log.ts';
import { entriesIn, entryAt } from './entry-index.ts';
import { formatNumber } from './format.ts';
import type { RunFold } from './run-fold.ts';
import type { Selection } from './selection.ts';
import { countUpTo, firstIndexWhere, lastStartedBy, lastUpTo } from './sorted.ts';

export interface ContextChange {
  readonly kind: 'added' | 'removed' | 'shortened' | 'labeled';
  readonly messageId: string;
  readonly text: string;
  /** How its size changed, in words; empty if it did not. */
  readonly size: string;
  /** Why; empty if the journal has no reason. */
  readonly reason: string;
  readonly isUndone: boolean;
}

/** The changes that a phase proposed, and the phase that applied them when it was done: null if none has (yet). */
export interface ContextChanges {
  readonly proposedBy: Phase;
  readonly appliedBy: Phase | null;
  readonly isAppliedHere: boolean;
  readonly changes: readonly ContextChange[];
}

const KINDS: Readonly<Record<ContextOperation['operation'], ContextChange['kind']>> = {
  ADD: 'added',
  PRUNE: 'removed',
  TRANSFORM: 'shortened',
  TAG: 'labeled',
  LINK: 'labeled',
  PRIORITIZE: 'labeled',
};

/**
 * What happened to the context in a step, as known at an entry: the changes that it proposed, which the next phase applies, and those
 * that it applied.
 */
export function contextChanges(
  log: RunLog,
  fold: RunFold,
  { kind, from, to }: Selection,
  at: number,
): readonly ContextChanges[] {
  const { context, spans, entries } = fold;
  const { operations, seqs } = context;
  const phase = kind === 'phase' ? lastStartedBy(spans.phases, to) : undefined;
  const isOver = phase?.to === to && at >= to;
  const until = isOver ? endOfPhase(fold, to) : Math.min(to, at);
  const known = isOver ? Math.max(until, at) : until;
  const here = { from: countUpTo(seqs, from - 1), to: countUpTo(seqs, until) };
  const later = phase === undefined ? here.to : firstIndexWhere(operations, ({ step }) => step > phase.step);
  const groups: ContextChanges[] = [];
  for (let index = here.from; index < Math.max(here.to, later); index += 1) {
    const [listed, seq = 0] = [operations[index], seqs[index]];
    if (listed === undefined || (index >= here.to && (listed.step !== phase?.step || seq > known))) continue;
    const { operation, before, after, undoneAt } = listed;
    const change: ContextChange = {
      kind: KINDS[operation.operation],
      messageId: operation.target,
      text: textOf(fold, operation),
      size: sizeText(before, after),
      reason: operation.reason,
      isUndone: undoneAt !== null && undoneAt <= known,
    };
    const appliedBy = entryAt(log, seq, 'operations')?.phase ?? null;
    const isAppliedHere = index < here.to;
    const last = groups.at(-1);
    if (last?.proposedBy === listed.phase && last.appliedBy === appliedBy)
      groups[groups.length - 1] = { ...last, changes: [...last.changes, change] };
    else groups.push({ proposedBy: listed.phase, appliedBy, isAppliedHere, changes: [change] });
  }
  // Until the next phase applies them, the prunings of Understanding are known from its log.
  for (const { pruningLog } of entriesIn(log, entries, 'context-evaluated', from, Math.min(to, at))) {
    const listed = new Set(groups.flatMap(({ changes }) => changes.map(({ messageId }) => messageId)));
    const changes = pruningLog
      .filter(({ messageId }) => !listed.has(messageId))
      .map(({ operation, messageId, preview, reason }) => {
        return { kind: KINDS[operation], messageId, text: preview, size: '', reason, isUndone: false };
      });
    if (changes.length > 0)
      groups.push({ proposedBy: 'understanding', appliedBy: null, isAppliedHere: false, changes });
  }
  return groups;
}

/** The operations that a phase applies follow its end. */
function endOfPhase({ entries }: RunFold, to: number): number {
  const next = (type: 'operations' | 'phase-start'): number => {
    const all = entries.of(type);
    return all[countUpTo(all, to)] ?? Number.POSITIVE_INFINITY;
  };
  const operations = next('operations');
  return operations < next('phase-start') ? operations : to;
}

function textOf({ context }: RunFold, operation: ContextOperation): string {
  if (operation.operation === 'ADD') return operation.data.message.content;
  if (operation.operation === 'TRANSFORM') return operation.data.content;
  return context.messageOf(operation.target)?.content ?? '';
}

function sizeText(before: number | null, after: number | null): string {
  if (before === after) return '';
  if (before === null) return `${formatNumber(after ?? 0)} characters`;
  return after === null
    ? `${formatNumber(before)} characters`
    : `${formatNumber(before)} to ${formatNumber(after)} characters`;
}

/** The size of the context as Understanding last measured it up to an entry; null before the first time. */
export function contextSizeAt(log: RunLog, { entries }: RunFold, seq: number) {
  const entry = entryAt(log, lastUpTo(entries.of('context-evaluated'), seq), 'context-evaluated');
  if (entry === null) return null;
  const { tokensAfter, tokensAllowed, estimated } = entry.statistics;
  return { tokens: tokensAfter, allowed: tokensAllowed, isEstimated: estimated, problem: entry.problem };
}
