import type { RunStart } from '../../machines/contracts/journal.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import type { Usage } from '../../machines/contracts/usage.ts';
import { phaseFinding, replyValue } from '../../src/chain/journal/phase-finding.ts';
import type { RunLog } from '../wire/run-log.ts';
import { decisionReason } from './decision-words.ts';
import type { EntryOf } from './entry-index.ts';
import { pluralize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { type Selection, selectionOf } from './selection.ts';
import { countStartedBy, countUpTo, firstIndexWhere, lastUpTo } from './sorted.ts';
import { type AttemptSpan, type PhaseSpan, type Spans, sumsOf, usageOf } from './spans.ts';

export interface StoryPhase {
  readonly selection: Selection;
  readonly phase: Phase;
  readonly status: 'running' | 'done' | 'failed' | 'aborted';
  /** A few words about the result, without its text; empty if unknown. */
  readonly finding: string;
  /** The text of the result, or the failure. */
  readonly text: string;
  readonly ms: number;
  readonly usage: Usage;
  /** Model calls are counted from 1 over the whole run; null if it made none. */
  readonly calls: { readonly first: number; readonly last: number } | null;
  readonly badges: readonly { readonly text: string; readonly tone: 'plain' | 'warn' | 'bad' }[];
}

export interface StoryDecision {
  readonly selection: Selection;
  readonly reason: string;
  /** Null ends the run. */
  readonly nextPhase: Phase | null;
}

/** A cycle; its rows are made on demand, since a long run has hundreds of cycles. */
export interface StoryCycle {
  readonly cycle: number;
  readonly from: number;
  readonly ms: number;
  readonly usage: Usage;
  readonly phaseCount: number;
  /** Null while it is running, or if the cycle was left without one. */
  readonly decision: StoryDecision | null;
  phases(): readonly StoryPhase[];
}

/** The story of a run with `count` entries, cycle by cycle. */
export function storyOf(log: RunLog, fold: RunFold, count: number): readonly StoryCycle[] {
  const { spans, timeLine, entries } = fold;
  const firsts = spans.phases.flatMap(({ cycle }, index) => (spans.phases[index - 1]?.cycle === cycle ? [] : [index]));
  const thresholds = runStart(log)?.thresholds ?? null;
  return firsts.map((first, index) => {
    const members = spans.phases.slice(first, firsts[index + 1] ?? spans.phases.length);
    const [from, until] = [members[0]?.from ?? 0, spans.phases[firsts[index + 1] ?? Number.NaN]?.from ?? count];
    const last = lastUpTo(entries.of('decision'), until) ?? -1;
    const decided = last < from ? undefined : last;
    return {
      cycle: members[0]?.cycle ?? 0,
      from,
      // Without the writing of the answer, which follows the last decision.
      ms: timeLine.atMs(decided ?? until - 1) - timeLine.atMs(from),
      phaseCount: members.length,
      get usage() {
        return usageOf(callsDuring(spans, from, members.at(-1)?.to ?? count - 1).calls, spans.currency);
      },
      get decision() {
        return decided === undefined ? null : decisionAt(log, decided, thresholds);
      },
      phases: () => members.map((span) => phaseRow(log, fold, span, count)),
    };
  });
}

const decisions = new WeakMap<RunLog, Map<number, StoryDecision | null>>();

function decisionAt(log: RunLog, seq: number, thresholds: RunStart['thresholds'] | null): StoryDecision | null {
  const known = decisions.get(log) ?? new Map<number, StoryDecision | null>();
  decisions.set(log, known);
  const cached = known.get(seq);
  if (cached !== undefined) return cached;
  const entry = log.entry(seq);
  const decision =
    entry.type === 'decision'
      ? {
          selection: { kind: 'decision', from: seq, to: seq } as const,
          reason: decisionReason(entry.decision, thresholds),
          nextPhase: entry.decision.nextPhase,
        }
      : null;
  known.set(seq, decision);
  return decision;
}

const rows = new WeakMap<PhaseSpan, StoryPhase>();

function phaseRow(log: RunLog, fold: RunFold, span: PhaseSpan, count: number): StoryPhase {
  const cached = rows.get(span);
  if (cached !== undefined) return cached;
  const { spans, timeLine } = fold;
  const { from, to, phase, failure } = span;
  const until = to ?? count - 1;
  const { first, calls } = callsOf(spans, span, until);
  const end = to === null ? null : log.entry(to);
  const aborted = failure?.stage === 'aborted' || (end !== null && end.type !== 'phase-end');
  const row: StoryPhase = {
    selection: selectionOf('phase', span, count),
    phase,
    status: to === null ? 'running' : aborted ? 'aborted' : failure === null ? 'done' : 'failed',
    finding: failure === null && span.source !== null ? phaseFinding(phase, replyOf(log, span.source)) : '',
    text: failure?.message ?? (end?.type === 'phase-end' ? end.summary : ''),
    ms: timeLine.atMs(until) - timeLine.atMs(from),
    usage: usageOf(calls, spans.currency),
    calls: calls.length === 0 ? null : { first: first + 1, last: first + calls.length },
    badges: [
      ...sourceBadge(spans, span, calls),
      ...retryBadge(calls),
      ...spans.capabilities
        .slice(
          firstIndexWhere(spans.capabilities, (one) => one.from >= from),
          countStartedBy(spans.capabilities, until),
        )
        .map(({ capability }) => ({ text: capability, tone: 'plain' as const })),
      ...entriesBetween(log, fold, 'retrieval', from, until).flatMap(retrievalBadge),
      ...entriesBetween(log, fold, 'context-evaluated', from, until).flatMap(contextBadges),
    ],
  };
  if (to !== null) rows.set(span, row);
  return row;
}

/** The model calls of a phase, which may have started before it, and the number of calls before the first. */
export function callsOf(spans: Spans, { from, step }: PhaseSpan, until: number) {
  const { first } = callsDuring(spans, from, until);
  const near = spans.attempts.slice(Math.max(0, first - EARLIER_CALLS), countStartedBy(spans.attempts, until));
  const calls = near.filter(({ attemptId }) => attemptId.startsWith(`s${step}.`));
  return { first: calls[0] === undefined ? first : spans.attempts.indexOf(calls[0]), calls };
}

/** The model calls during these entries, and the number of calls before them. The first phase starts after its first call. */
export function callsDuring({ attempts }: Spans, from: number, to: number) {
  const first = firstIndexWhere(attempts, (attempt) => attempt.to === null || attempt.to >= from);
  return { first, calls: attempts.slice(first, countStartedBy(attempts, to)) };
}

function replyOf(log: RunLog, { reply }: AttemptSpan): unknown {
  const entry = reply === null ? null : log.entry(reply);
  return (entry?.type === 'call-event' && replyValue(entry)) || null;
}

/** How many calls before a phase to search for its own one that started early. */
const EARLIER_CALLS = 4;

/** Where the result of a phase is from, if the phase made no call. */
function sourceBadge({ attempts }: Spans, { source, to, failure }: PhaseSpan, calls: readonly AttemptSpan[]) {
  if (to === null || failure !== null || calls.length > 0) return [];
  const text = source === null ? 'no model call' : `from call ${attempts.indexOf(source) + 1}`;
  return [{ text, tone: 'plain' as const }];
}

function retryBadge(calls: readonly AttemptSpan[]): StoryPhase['badges'] {
  const retries = calls.length - new Set(calls.map(({ attemptId }) => attemptId)).size;
  return retries === 0 ? [] : [{ text: retries === 1 ? '1 retry' : `${retries} retries`, tone: 'warn' }];
}

function retrievalBadge(entry: EntryOf<'retrieval'>): StoryPhase['badges'] {
  if (entry.failure !== null) return [{ text: 'search failed', tone: 'bad' }];
  return [{ text: pluralize(entry.passages, 'passage'), tone: 'plain' }];
}

function contextBadges({ statistics, problem }: EntryOf<'context-evaluated'>): StoryPhase['badges'] {
  const { pruned, summarized } = statistics;
  return [
    ...(pruned > 0 ? [{ text: `${pruned} pruned`, tone: 'plain' as const }] : []),
    ...(summarized > 0 ? [{ text: `${summarized} summarized`, tone: 'plain' as const }] : []),
    ...(problem === null ? [] : [{ text: 'not measured', tone: 'warn' as const }]),
  ];
}

function entriesBetween<Type extends 'retrieval' | 'context-evaluated'>(
  log: RunLog,
  { entries }: RunFold,
  type: Type,
  from: number,
  to: number,
): readonly EntryOf<Type>[] {
  const seqs = entries.of(type);
  return seqs.slice(countUpTo(seqs, from - 1), countUpTo(seqs, to)).map((seq) => log.entry(seq) as EntryOf<Type>);
}

/** The time, the tokens and the cost of writing the answer: from the end of the last phase to the answer. */
export const writingSums = ({ spans, timeLine }: RunFold, seq: number) =>
  sumsOf(spans, timeLine, spans.phases.at(-1)?.to ?? 0, seq);

/** The first entry; null for the systems of other programs. */
export function runStart(log: RunLog): RunStart | null {
  const start = log.count > 0 ? log.entry(0) : null;
  return start?.type === 'run-start' ? start : null;
}

export function answerUpTo(
  log: RunLog,
  { entries }: RunFold,
  seq: number,
): { readonly seq: number; readonly answer: FinalAnswer } | null {
  const at = lastUpTo(entries.of('answer'), seq);
  const entry = at === undefined ? null : log.entry(at);
  return entry?.type === 'answer' ? { seq: entry.seq, answer: entry.answer } : null;
}
