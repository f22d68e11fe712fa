import type { CallEvent } from '../../machines/contracts/events.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { followsPhases, type Phase } from '../../machines/contracts/phase.ts';
import type { Price, TokenUsage, Usage } from '../../machines/contracts/usage.ts';
import { isPhase } from '../../machines/policies/progress.ts';
import { addCall, addUsage, NO_USAGE } from '../../machines/policies/usage.ts';
import { replyValue } from '../../src/chain/journal/phase-finding.ts';
import type { ActorPath } from '../../src/durable/entries.ts';
import type { EntryOf } from './entry-index.ts';
import { countStartedBy, firstIndexWhere } from './sorted.ts';

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
  /** The model call that its result is from, which may be an earlier phase's; null if it used no model, and until it ends. */
  source: AttemptSpan | null;
}

export interface AttemptSpan extends Span {
  /** Counts from 1 over the whole run. */
  readonly number: number;
  readonly attemptId: string;
  /** The actor that makes the call, in a system of other actors; null in a run. */
  readonly actor: string | null;
  readonly task: string;
  /** The phases that a brief reply is for; null if the reply has all fields of the task. */
  readonly phases: readonly Phase[] | null;
  readonly attempt: number;
  /** The index of the model: 0 is the first, 1 its first fallback. */
  readonly model: number;
  /** The phase that it belongs to; null after the last one. */
  readonly phase: Phase | null;
  usage: TokenUsage | null;
  /** In the currency of the run; null while running, and if the price of the model is unknown. */
  cost: number | null;
  readonly deltas: number[];
  /** The entry of the complete reply; null if there is none (yet). */
  reply: number | null;
  /** The wait before the next attempt and its entry; null if none follows. */
  backOff: { readonly at: number; readonly inMs: number } | null;
}

/** An activity call: a model's reply, passages, a capability, a measurement, the session. */
export interface CallSpan extends Span {
  readonly activity: number;
  readonly source: string;
  /** The task or the capability. */
  readonly subject: string;
  outcome: CallEvent['type'] | null;
}

export interface CapabilitySpan extends Span {
  /** As in `AttemptSpan`. */
  readonly actor: string | null;
  readonly capability: string;
  readonly index: number;
  error: string | null;
}

const actorOf = (entry: object): string | null => (entry as { readonly actor?: string }).actor ?? null;

const LAST_EVENTS: ReadonlySet<string> = new Set<CallEvent['type']>(['done', 'failed', 'reply.ended', 'reply.lost']);

interface OpenCall {
  readonly span: CallSpan;
  readonly attemptId: string;
  readonly startedIn: Phase | null;
}

type Handlers = { readonly [Type in JournalEntry['type']]?: (entry: EntryOf<Type>) => void };

function end(span: Span | undefined, seq: number, failure: Failure | null = null): void {
  if (span === undefined || span.to !== null) return;
  span.to = seq;
  span.failure = failure;
}

/** The number of the step that a call is for; NaN if its id names none. */
export const stepOf = ({ attemptId }: Pick<AttemptSpan, 'attemptId'>): number =>
  Number(/^s(\d+)\./u.exec(attemptId)?.[1] ?? Number.NaN);

/** Whether a call is for a later phase than the one in progress, so that the end of this phase does not end it. */
const startedEarly = (call: OpenCall, step: number): boolean =>
  call.span.source === 'callAhead' ||
  (call.span.source === 'retrievePassages' && call.startedIn !== 'experience') ||
  stepOf(call) > step;

/** The spans of a run, each list in start order. */
export class Spans {
  readonly #running = new Set<CapabilitySpan>();
  readonly #open = new Map<number, OpenCall>();
  readonly #newest = new Map<string, AttemptSpan>();
  /** The latest attempt of each actor of a system. */
  readonly #latestOf = new Map<string, AttemptSpan>();
  #prices: readonly (Price | null)[] = [];
  /** The currency of the costs; null without prices. */
  currency: string | null = null;
  readonly phases: PhaseSpan[] = [];
  readonly attempts: AttemptSpan[] = [];
  /** The attempts by the step that they are for, which may not have begun yet. */
  readonly byStep = new Map<number, AttemptSpan[]>();
  /** The attempts whose id names no step. */
  readonly others: AttemptSpan[] = [];
  readonly calls: CallSpan[] = [];
  readonly capabilities: CapabilitySpan[] = [];

  readonly #handlers: Handlers = {
    start: ({ input }) => {
      this.#prices = input.prices ?? [];
      this.currency = input.currency ?? null;
    },
    'phase-start': (entry) => this.#beginPhase(entry),
    'phase-end': (entry) => this.#endPhase(entry),
    'attempt-start': (entry) => this.#begin(entry),
    'attempt-end': (entry) => this.#endAttempt(entry),
    'attempt-retry': (entry) => {
      const span = this.#attemptOf(entry);
      if (span !== undefined) span.backOff = { at: entry.seq, inMs: entry.delayMs };
    },
    'text-delta': ({ attemptId, seq }) => this.#newest.get(attemptId)?.deltas.push(seq),
    'activity-start': (entry) => this.#call(entry),
    'activity-event': (entry) => this.#callEvent(entry),
    'capability-start': (entry) => this.#beginCapability(entry),
    'capability-end': (entry) => this.#endCapability(entry),
    end: ({ seq }) => {
      end(this.phases.at(-1), seq);
      this.#abortOpen(seq, true);
    },
  };

  isBusy(): boolean {
    return this.#open.size > 0;
  }

  take(entry: JournalEntry): void {
    if (Object.hasOwn(this.#handlers, entry.type)) this.#handlers[entry.type]?.(entry as never);
  }

  #phaseNow(): Phase | null {
    const phase = this.phases.at(-1);
    return phase?.to === null ? phase.phase : null;
  }

  #stepNow(): number {
    return this.phases.at(-1)?.step ?? 0;
  }

  /** Ends the last attempt, unless its phase has not begun. */
  #endLastAttempt(seq: number): void {
    const last = this.attempts.at(-1);
    const isOpen = [...this.#open.values()].some(
      (call) => call.attemptId === last?.attemptId && startedEarly(call, this.#stepNow()),
    );
    if (!isOpen) end(last, seq);
  }

  /** Ends what was still running when its phase ended or another attempt started: the journal has no entry for that. */
  #abortOpen(seq: number, isOver = false): void {
    if (isOver) end(this.attempts.at(-1), seq);
    else this.#endLastAttempt(seq);
    for (const capability of this.#running) end(capability, seq);
    this.#running.clear();
    for (const [number, call] of this.#open)
      if (isOver || !startedEarly(call, this.#stepNow())) {
        end(call.span, seq);
        this.#open.delete(number);
      }
  }

  #begin(entry: EntryOf<'attempt-start'>): void {
    const { attemptId, task, phases = null, attempt, model, seq } = entry;
    const actor = actorOf(entry);
    // The actors of a system make their calls at the same time.
    if (actor === null) this.#endLastAttempt(seq);
    else end(this.#latestOf.get(actor), seq);
    const span: AttemptSpan = {
      number: this.attempts.length + 1,
      attemptId,
      actor,
      task,
      phases,
      attempt,
      from: seq,
      to: null,
      failure: null,
      phase: isPhase(task) ? task : this.#phaseNow(),
      model,
      usage: null,
      cost: null,
      deltas: [],
      reply: null,
      backOff: null,
    };
    this.attempts.push(span);
    const step = stepOf(span);
    if (Number.isNaN(step) || followsPhases(task)) this.others.push(span);
    else if (this.byStep.has(step)) this.byStep.get(step)?.push(span);
    else this.byStep.set(step, [span]);
    this.#newest.set(attemptId, span);
    if (actor !== null) this.#latestOf.set(actor, span);
  }

  /** The attempt of an event. Two actors of a system may have attempts with the same id. */
  #attemptOf(entry: EntryOf<'attempt-end' | 'attempt-retry'>): AttemptSpan | undefined {
    const latest = this.#latestOf.get(actorOf(entry) ?? '');
    return latest?.attemptId === entry.attemptId ? latest : this.#newest.get(entry.attemptId);
  }

  #endAttempt(entry: EntryOf<'attempt-end'>): void {
    const { attemptId, seq, failure, usage } = entry;
    const span = this.#attemptOf(entry);
    end(span, seq, failure);
    // A call that timed out has no last event.
    for (const [number, { span: call, attemptId: id }] of this.#open)
      if (id === attemptId) {
        end(call, seq);
        this.#open.delete(number);
      }
    if (span === undefined) return;
    span.usage = usage;
    span.cost = addCall(NO_USAGE, usage, this.#prices[span.model] ?? null).cost;
  }

  #beginCapability(entry: EntryOf<'capability-start'>): void {
    const { capability, index, seq } = entry;
    const span: CapabilitySpan = {
      actor: actorOf(entry),
      capability,
      index,
      from: seq,
      to: null,
      failure: null,
      error: null,
    };
    this.capabilities.push(span);
    this.#running.add(span);
  }

  #endCapability(entry: EntryOf<'capability-end'>): void {
    const { seq, index, result } = entry;
    const span = [...this.#running].find((one) => one.index === index && one.actor === actorOf(entry));
    if (span === undefined) return;
    this.#running.delete(span);
    end(span, seq);
    if (!result.success) span.error = result.error ?? 'it failed';
  }

  #beginPhase({ phase, cycle, step, seq }: EntryOf<'phase-start'>): void {
    // The calls of the first phase are recorded before it.
    if (this.phases.length > 0) this.#abortOpen(seq);
    end(this.phases.at(-1), seq);
    this.phases.push({ phase, cycle, step, from: seq, to: null, failure: null, source: null });
  }

  #endPhase({ seq, failure, attemptId }: EntryOf<'phase-end'>): void {
    const span = this.phases.at(-1);
    end(span, seq, failure);
    if (span !== undefined) span.source = this.#newest.get(attemptId ?? '') ?? null;
    this.#abortOpen(seq);
  }

  #call(entry: EntryOf<'activity-start'>): void {
    const { activity, source, subject: asked = {}, seq } = entry;
    const { task, capability, attemptId } = asked;
    const subject = task ?? capability ?? '';
    const span: CallSpan = { activity, source, subject, from: seq, to: null, failure: null, outcome: null };
    this.calls.push(span);
    this.#open.set(activity, { span, attemptId: attemptId ?? '', startedIn: this.#phaseNow() });
  }

  #callEvent({ activity, event, seq }: EntryOf<'activity-event'>): void {
    const started = this.#open.get(activity);
    if (started === undefined || !LAST_EVENTS.has(event.type)) return;
    this.#open.delete(activity);
    end(started.span, seq);
    started.span.outcome = event.type;
    const attempt = this.#newest.get(started.attemptId);
    if (attempt !== undefined && replyValue({ source: started.span.source, event }) !== undefined) attempt.reply = seq;
  }

  /** Ends what an actor of a system leaves open, for example because it was stopped. */
  endActor(actor: ActorPath, seq: number): void {
    end(this.#latestOf.get(actor), seq);
    this.#latestOf.delete(actor);
    for (const span of this.#running) if (span.actor === actor && this.#running.delete(span)) end(span, seq);
  }
}

export const callsDuring = ({ attempts }: Spans, from: number, to: number): readonly AttemptSpan[] =>
  attempts.slice(
    firstIndexWhere(attempts, (attempt) => attempt.to === null || attempt.to >= from),
    countStartedBy(attempts, to),
  );

/** `cost` is null without prices, and if the price of a called model is unknown. */
export function usageOf(attempts: readonly AttemptSpan[], currency: string | null): Usage {
  return attempts.reduce<Usage>(
    (sum, { usage, cost }) => addUsage(sum, { ...NO_USAGE, ...usage, modelCalls: 1, cost: usage === null ? 0 : cost }),
    { ...NO_USAGE, cost: currency === null ? null : 0 },
  );
}
