import type { CapabilityResult } from '../../machines/contracts/capability.ts';
import type { Retrieval } from '../../machines/contracts/passage.ts';
import type { RunLog } from '../wire/run-log.ts';
import { callsOfPhase, phaseOf, searchesBetween, searchesOf } from './call-index.ts';
import { entryAt } from './entry-index.ts';
import { formatDuration } from './format.ts';
import { type AttemptAt, attemptAt } from './output.ts';
import type { RunFold } from './run-fold.ts';
import type { Selection } from './selection.ts';
import { countUpTo, firstIndexWhere, lastStartedBy, startedIn } from './sorted.ts';
import { type AttemptSpan, callsDuring } from './spans.ts';

/** The model calls of a step up to an entry: those of its phase, and the one that is selected. */
export type StepCalls = NonNullable<ReturnType<typeof callsAt>>;

/** The model calls of the phase around a selection, or the call that its result is from; null if there is none up to this entry. */
export function stepCalls(fold: RunFold, { kind, from, to }: Selection, at: number): StepCalls | null {
  if (kind === 'decision' || kind === 'capability' || kind === 'retrieval' || kind === 'operations') return null;
  const { spans } = fold;
  const { attempts } = spans;
  const until = Math.min(to, at);
  const attempt = kind === 'attempt' ? attempts[firstIndexWhere(attempts, (one) => one.from >= from)] : undefined;
  const phase = kind === 'phase' ? lastStartedBy(spans.phases, to) : attempt && phaseOf(spans, attempt);
  if (phase === undefined) return callsAt(callsDuring(spans, from, until), attempt, at);
  const { own } = callsOfPhase(spans, phase);
  const all = attempt === undefined || own.includes(attempt) ? own : [...own, attempt];
  const { source, to: end } = phase;
  const isKnown = source !== null && end !== null && end <= at;
  return callsAt(all, attempt, at) ?? (isKnown ? callsAt([source], source, at) : null);
}

function callsAt(calls: readonly AttemptSpan[], chosen: AttemptSpan | undefined, at: number) {
  const all = calls.filter(({ from }) => from <= at).map((span) => attemptAt(span, at));
  const selected = all.find(({ span }) => span === chosen) ?? all.at(-1);
  return selected === undefined ? null : { all, selected };
}

const NEAR_PROMPTS = 3;

/** The entry that records the prompt of a model call; null if it is not sent yet. */
export function promptSeq(log: RunLog, { entries }: RunFold, { span }: Pick<AttemptAt, 'span'>): number | null {
  const prompts = entries.of('prompt');
  const first = countUpTo(prompts, span.from - 1);
  // The prompt of a call that started early may be in between, or those of all other actors of a system.
  const last = span.actor === null ? first + NEAR_PROMPTS : countUpTo(prompts, span.to ?? Number.POSITIVE_INFINITY);
  const own = prompts.slice(first, last).find((seq) => {
    const entry = log.entry(seq);
    return entry.type === 'prompt' && entry.attemptId === span.attemptId;
  });
  return own === undefined || (span.to !== null && own > span.to) ? null : own;
}

/** A run of a capability, or a search of the documents. Without an end, `result` is null: it was stopped, or is still running. */
export type ToolUse = { readonly from: number; readonly isOver: boolean; readonly ms: number | null } & (
  | { readonly kind: 'capability'; readonly name: string; readonly result: CapabilityResult | null }
  | { readonly kind: 'retrieval'; readonly failure: string | null; readonly result: Retrieval | null }
);

/** How long a tool or a search took, as in its row, and how long the tool itself ran, if the two are not shown as equal. */
export function timesOf(use: ToolUse): readonly string[] {
  if (use.ms === null) return [];
  const shown = formatDuration(use.ms);
  const inTool = use.kind === 'capability' && use.result !== null ? formatDuration(use.result.durationMs) : shown;
  return inTool === shown ? [shown] : [shown, `${inTool} in the tool`];
}

export const hasFailed = (use: ToolUse): boolean =>
  use.kind === 'capability' ? use.result?.success === false : use.failure !== null;

/** The runs of tools and searches in a step, failed ones first. */
export function toolUses(log: RunLog, fold: RunFold, selection: Selection, at: number): readonly ToolUse[] {
  const { spans, timeLine } = fold;
  const { from, to } = selection;
  const until = Math.min(to, at);
  const capabilities = startedIn(spans.capabilities, from, until).map(
    ({ capability, from: begun, to: ended }): ToolUse => {
      const isOver = ended !== null && ended <= at;
      const end = isOver ? entryAt(log, ended, 'capability-end') : null;
      const ms = end === null ? null : end.atMs - timeLine.atMs(begun);
      return { kind: 'capability', from: begun, name: capability, isOver, ms, result: end?.result ?? null };
    },
  );
  const phase = selection.kind === 'phase' ? lastStartedBy(spans.phases, from) : undefined;
  // The searches of a phase include those that started early for it.
  const started = phase === undefined ? searchesBetween(spans, from, until) : searchesOf(spans, phase);
  const searches = started
    .filter((call) => call.from <= until)
    .map((call): ToolUse => {
      const end = call.to !== null && call.to <= at ? log.entry(call.to) : null;
      const event = end?.type === 'activity-event' ? end.event : null;
      return {
        kind: 'retrieval',
        from: call.from,
        isOver: call.to !== null && call.to <= at,
        failure: event?.type === 'failed' ? event.error.message : null,
        ms: end === null ? null : end.atMs - timeLine.atMs(call.from),
        result: event?.type === 'done' ? (event.output as Retrieval) : null,
      };
    });
  return [...capabilities, ...searches].sort(
    (one, other) => Number(hasFailed(other)) - Number(hasFailed(one)) || one.from - other.from,
  );
}
