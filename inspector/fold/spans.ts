import type { CallEvent } from '../../machines/contracts/events.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import type { EntryOf } from './entry-index.ts';

/** A range of entries; `to` is null while in progress. */
interface Span {
  readonly from: number;
  to: number | null;
  failure: Failure | null;
}

export interface PhaseSpan extends Span {
  readonly phase: Phase;
  readonly cycle: number;
  readonly step: number;
}

export interface AttemptSpan extends Span {
  readonly attemptId: string;
  readonly task: string;
  readonly attempt: number;
  usage: TokenUsage | null;
  /** The entries with its text chunks, in order. */
  readonly deltas: number[];
  /** The entry of the complete reply; null if there is none (yet). */
  reply: number | null;
  /** The wait before the next attempt and its entry; null if none follows. */
  backOff: { readonly at: number; readonly inMs: number } | null;
}

/** An activity call: a model's reply, passages, a capability, a measurement, the session. */
export interface CallSpan extends Span {
  readonly call: number;
  readonly actor: string;
  /** The task or the capability. */
  readonly subject: string;
  /** Its last event. */
  outcome: CallEvent['type'] | null;
}

export interface CapabilitySpan extends Span {
  readonly capability: string;
  readonly index: number;
}

/** All spans of a run, each list in start order. */
export interface Spans {
  readonly phases: readonly PhaseSpan[];
  readonly attempts: readonly AttemptSpan[];
  readonly calls: readonly CallSpan[];
  readonly capabilities: readonly CapabilitySpan[];
}

const LAST_EVENTS: ReadonlySet<string> = new Set<CallEvent['type']>(['done', 'failed', 'reply.ended', 'reply.lost']);

/** Folds entries, in order, into `spans`. */
export function createSpanFold(): { readonly spans: Spans; take(entry: JournalEntry): void } {
  const phases: PhaseSpan[] = [];
  const attempts: AttemptSpan[] = [];
  const calls: CallSpan[] = [];
  const capabilities: CapabilitySpan[] = [];
  const open = new Map<number, { readonly span: CallSpan; readonly attemptId: string }>();
  /** The latest attempt of each id. */
  const newest = new Map<string, AttemptSpan>();

  function end(span: Span | undefined, seq: number, failure: Failure | null = null): void {
    if (span === undefined || span.to !== null) return;
    span.to = seq;
    span.failure = failure;
  }

  /** Ends what was still running when its phase ended or another attempt started: the journal has no entry for that. */
  function abortOpen(seq: number): void {
    end(attempts.at(-1), seq);
    end(capabilities.at(-1), seq);
    for (const { span } of open.values()) end(span, seq);
    open.clear();
  }

  function begin(entry: EntryOf<'attempt-start'>): void {
    const { attemptId, task, attempt, seq } = entry;
    end(attempts.at(-1), seq);
    const span: AttemptSpan = {
      attemptId,
      task,
      attempt,
      from: seq,
      to: null,
      failure: null,
      usage: null,
      deltas: [],
      reply: null,
      backOff: null,
    };
    attempts.push(span);
    newest.set(attemptId, span);
  }

  function call(entry: EntryOf<'call-start'>): void {
    const { call: number, actor, task, capability, attemptId, seq } = entry;
    const subject = task ?? capability ?? '';
    const span: CallSpan = { call: number, actor, subject, from: seq, to: null, failure: null, outcome: null };
    calls.push(span);
    open.set(number, { span, attemptId: attemptId ?? '' });
  }

  function callEvent({ call: number, event, seq }: EntryOf<'call-event'>): void {
    const started = open.get(number);
    if (started === undefined || !LAST_EVENTS.has(event.type)) return;
    open.delete(number);
    end(started.span, seq);
    started.span.outcome = event.type;
    const attempt = newest.get(started.attemptId);
    if (event.type === 'reply.ended' && attempt !== undefined) attempt.reply = seq;
  }

  function take(entry: JournalEntry): void {
    const { seq } = entry;
    switch (entry.type) {
      case 'phase-start': {
        // The calls of the first phase are recorded before it.
        if (phases.length > 0) abortOpen(seq);
        end(phases.at(-1), seq);
        const { phase, cycle, step } = entry;
        phases.push({ phase, cycle, step, from: seq, to: null, failure: null });
        break;
      }
      case 'phase-end':
        end(phases.at(-1), seq, entry.failure);
        abortOpen(seq);
        break;
      case 'attempt-start':
        begin(entry);
        break;
      case 'attempt-end': {
        const span = newest.get(entry.attemptId);
        end(span, seq, entry.failure);
        if (span !== undefined) span.usage = entry.usage;
        break;
      }
      case 'attempt-retry': {
        const span = newest.get(entry.attemptId);
        if (span !== undefined) span.backOff = { at: seq, inMs: entry.delayMs };
        break;
      }
      case 'text-delta':
        newest.get(entry.attemptId)?.deltas.push(seq);
        break;
      case 'call-start':
        call(entry);
        break;
      case 'call-event':
        callEvent(entry);
        break;
      case 'capability-start':
        capabilities.push({ capability: entry.capability, index: entry.index, from: seq, to: null, failure: null });
        break;
      case 'capability-end':
        end(capabilities.at(-1), seq);
        break;
      case 'run-end':
        end(phases.at(-1), seq);
        abortOpen(seq);
        break;
      default:
    }
  }

  return { spans: { phases, attempts, calls, capabilities }, take };
}
