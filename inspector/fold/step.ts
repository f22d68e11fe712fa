import type { CapabilityResult } from '../../machines/contracts/capability.ts';
import type { Retrieval } from '../../machines/contracts/passage.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { EntryOf } from './entry-index.ts';
import { type AttemptAt, attemptAt } from './output.ts';
import type { RunFold } from './run-fold.ts';
import { RETRIEVAL, type Selection } from './selection.ts';
import { countUpTo, firstIndexWhere, lastStartedBy } from './sorted.ts';
import { callsDuring, type PhaseSpan, type Spans } from './spans.ts';

/** A model call, numbered from 1 over the whole run. */
export interface NumberedCall extends AttemptAt {
  readonly number: number;
}

/** The model calls of a step up to an entry: those of its phase, and the one that is selected. */
export interface StepCalls {
  readonly all: readonly NumberedCall[];
  readonly selected: NumberedCall;
}

/** The model calls of the phase around a selection, or the call that its result is from; null if there is none up to this entry. */
export function stepCalls({ spans }: RunFold, { kind, from, to }: Selection, at: number): StepCalls | null {
  if (kind === 'decision' || kind === 'capability' || kind === 'retrieval' || kind === 'operations') return null;
  const until = Math.min(to, at);
  const own = callsDuring(spans, from, until);
  const phase = lastStartedBy(spans.phases, until);
  const isInPhase = phase !== undefined && (phase.to === null || phase.to >= from);
  const last = own.calls.at(-1);
  if (last === undefined) return kind === 'phase' && isInPhase ? earlierCall(spans, phase, at) : null;
  const around = isInPhase ? callsDuring(spans, phase.from, at) : own;
  const all = around.calls.map((span, index) => ({ number: around.first + index + 1, ...attemptAt(span, at) }));
  const selected = all.find(({ span }) => span === last);
  return selected === undefined ? null : { all, selected };
}

function earlierCall({ attempts }: Spans, { source, to }: PhaseSpan, at: number): StepCalls | null {
  if (source === null || to === null || to > at) return null;
  const selected = { number: attempts.indexOf(source) + 1, ...attemptAt(source, at) };
  return { all: [selected], selected };
}

const NEAR_PROMPTS = 3;

/** The entry that records the prompt of a model call; null if it is not sent yet. */
export function promptSeq(log: RunLog, { entries }: RunFold, { span, number: _ }: NumberedCall): number | null {
  const prompts = entries.of('prompt');
  const first = countUpTo(prompts, span.from - 1);
  // The prompt of a call that started early may be in between.
  const own = prompts.slice(first, first + NEAR_PROMPTS).find((seq) => {
    const entry = log.entry(seq);
    return entry.type === 'prompt' && entry.attemptId === span.attemptId;
  });
  return own === undefined || (span.to !== null && own > span.to) ? null : own;
}

/** A run of a capability, or a search of the documents. `result` is null while it is running. */
export type ToolUse =
  | {
      readonly kind: 'capability';
      readonly from: number;
      readonly name: string;
      readonly result: CapabilityResult | null;
    }
  | {
      readonly kind: 'retrieval';
      readonly from: number;
      readonly failure: string | null;
      readonly ms: number | null;
      readonly result: Retrieval | null;
    };

export function toolUses(log: RunLog, fold: RunFold, { from, to }: Selection, at: number): readonly ToolUse[] {
  const { spans, entries, timeLine } = fold;
  const until = Math.min(to, at);
  const during = <Span extends { readonly from: number; readonly to: number | null }>(all: readonly Span[]) =>
    all.slice(firstIndexWhere(all, (span) => span.from >= from)).filter((span) => span.from <= until);
  const ends = entries.of('capability-end');
  const capabilities = during(spans.capabilities).map(({ capability, from: started, to: ended }): ToolUse => {
    const seq = ended !== null && ended <= at ? ends[countUpTo(ends, ended - 1)] : undefined;
    const end = seq === ended && seq !== undefined ? (log.entry(seq) as EntryOf<'capability-end'>) : null;
    return { kind: 'capability', from: started, name: capability, result: end?.result ?? null };
  });
  const searches = during(spans.calls.filter(({ actor }) => actor === RETRIEVAL)).map((call): ToolUse => {
    const end = call.to !== null && call.to <= at ? log.entry(call.to) : null;
    const event = end?.type === 'call-event' ? end.event : null;
    return {
      kind: 'retrieval',
      from: call.from,
      failure: event?.type === 'failed' ? event.error.message : null,
      ms: end === null ? null : end.atMs - timeLine.atMs(call.from),
      result: event?.type === 'done' ? (event.output as Retrieval) : null,
    };
  });
  return [...capabilities, ...searches].sort((one, other) => one.from - other.from);
}
