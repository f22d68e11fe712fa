import type { Attributes, AttributeValue, Context, Histogram, HrTime, Meter, Span, Tracer } from '@opentelemetry/api';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';

export type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;

export type SpanAttributes = Readonly<Record<string, AttributeValue | undefined>>;

/** The provider of the run itself, its phases and capabilities, and of models whose id names no other. */
export const POSTCHAIN: SpanAttributes = { 'gen_ai.provider.name': 'postchain' };

/** Why a span failed: a stable code, and a message that is recorded only with content. */
export interface SpanError {
  readonly code: string;
  readonly message: string | null;
}

/** The error of a span that was stopped before it finished. */
export const ABORTED: SpanError = { code: 'aborted', message: null };

/** The error of spans that are still open when the journal ends. */
const CUT_OFF: SpanError = { code: 'journal_cut_off', message: 'The journal ends too early.' };

/** The options of `traceRun` that decide what is exported. */
export interface FoldOptions {
  readonly workflow: string | null;
  readonly provider: string | null;
  readonly content: boolean;
  readonly models: readonly string[];
}

/** `shared` are the attributes that its measurements have too. */
export interface OpenSpan {
  readonly parent: OpenSpan | null;
  /** Those that are open, in start order. */
  readonly children: Set<OpenSpan>;
  readonly startMs: number;
  readonly shared: SpanAttributes;
  /** Undefined if the tracer threw an error. */
  readonly span: Span | undefined;
  readonly context: Context;
}

interface SpanStart {
  /** An operation of the GenAI semantic conventions. Without one, the duration is not measured. */
  readonly operation?: 'invoke_workflow' | 'invoke_agent' | 'chat' | 'execute_tool';
  /** The second part of the span's name, after the operation. */
  readonly subject: string;
  readonly parent: OpenSpan | null;
  /** Attributes of the span and of its measurements. */
  readonly shared: SpanAttributes;
  /** Attributes of the span only. */
  readonly attributes?: SpanAttributes;
  /** In milliseconds since the epoch, no earlier than its parent; by default now. */
  readonly startedMs?: number | undefined;
}

interface Guard<Inputs> {
  readonly guard: string | null;
  readonly result: string;
  readonly inputs: Inputs;
}

/** Where spans and measurements go. The first spans are children of the span in `context`. */
export interface Telemetry {
  readonly api: typeof import('@opentelemetry/api');
  readonly tracer: Tracer;
  readonly meter: Meter;
  readonly context: Context;
}

/**
 * Tracks the open spans of a run and sends them to OpenTelemetry, whose errors do not reach the caller. All times are in milliseconds since
 * the epoch. The current time never goes back, whatever the clock does. Ending a span ends its children.
 */
export class SpanLog {
  readonly #telemetry: Telemetry;
  readonly #startedAtMs: number;
  readonly #open = new Set<OpenSpan>();
  #instruments: Record<'duration' | 'tokens', Histogram> | null = null;
  #hasReported = false;
  #nowMs: number;

  constructor(telemetry: Telemetry, startedAtMs: number) {
    this.#telemetry = telemetry;
    this.#startedAtMs = startedAtMs;
    this.#nowMs = startedAtMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Sets the current time, in milliseconds since the start of the run. */
  moveTo(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, this.#startedAtMs + atMs);
  }

  begin({ operation, subject, parent, shared, attributes, startedMs = this.#nowMs }: SpanStart): OpenSpan {
    const { api, tracer } = this.#telemetry;
    const common = { 'gen_ai.operation.name': operation, ...shared };
    const context = parent?.context ?? this.#telemetry.context;
    const options = {
      kind: operation === 'chat' ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL,
      startTime: timeOf(startedMs),
      attributes: attributesOf({ ...common, ...attributes }),
    };
    const span = this.#try(() => tracer.startSpan([operation, subject].filter(Boolean).join(' '), options, context));
    const opened: OpenSpan = {
      parent,
      children: new Set(),
      startMs: startedMs,
      shared: common,
      span,
      context: span === undefined ? context : api.trace.setSpan(context, span),
    };
    this.#open.add(opened);
    parent?.children.add(opened);
    return opened;
  }

  addEvent({ span }: OpenSpan, name: string, attributes: SpanAttributes = {}): void {
    this.#try(() => span?.addEvent(name, attributesOf(attributes), timeOf(this.#nowMs)));
  }

  /** Adds an event for each guard that was evaluated, with the compared values that `valuesOf` returns. */
  addGuards<Inputs>(
    opened: OpenSpan,
    candidates: readonly Guard<Inputs>[],
    valuesOf: (inputs: Inputs) => SpanAttributes,
  ) {
    for (const { guard, result, inputs } of candidates) {
      if (guard === null || result === 'not-evaluated') continue;
      const attributes = { 'postchain.guard': guard, 'postchain.holds': result === 'taken' };
      this.addEvent(opened, 'postchain.guard', { ...attributes, ...valuesOf(inputs) });
    }
  }

  rename({ span }: OpenSpan, name: string, attributes: SpanAttributes): void {
    this.#try(() => span?.updateName(name).setAttributes(attributesOf(attributes)));
  }

  /** Ends a span. `endedAtMs` may be earlier than the current time. */
  end(opened: OpenSpan, error: SpanError | null, attributes: SpanAttributes = {}, endedAtMs = this.#nowMs): void {
    if (!this.#open.delete(opened)) return;
    opened.parent?.children.delete(opened);
    for (const child of opened.children) this.end(child, ABORTED, {}, endedAtMs);
    const failure = error === null ? {} : { 'error.type': error.code };
    this.#try(() => {
      const { span } = opened;
      span?.setAttributes(attributesOf({ ...attributes, ...failure }));
      if (error !== null)
        span?.setStatus({
          code: this.#telemetry.api.SpanStatusCode.ERROR,
          ...(error.message !== null && { message: error.message }),
        });
      span?.end(timeOf(endedAtMs));
    });
    if (opened.shared['gen_ai.operation.name'] !== undefined)
      this.measure('duration', opened, (endedAtMs - opened.startMs) / 1000, failure);
  }

  /** Records the duration of a span in seconds, or the tokens of a model call. */
  measure(of: 'duration' | 'tokens', { shared, context }: OpenSpan, value: number, attributes: SpanAttributes): void {
    this.#try(() => {
      this.#instruments ??= createInstruments(this.#telemetry.meter);
      this.#instruments[of].record(value, attributesOf({ ...shared, ...attributes }), context);
    });
  }

  isOpen(opened: OpenSpan): boolean {
    return this.#open.has(opened);
  }

  /** Ends all open spans, children first: their run or actor waits, or its journal ends too early. */
  endAll(isWaiting: boolean): void {
    const attributes = isWaiting ? { 'postchain.status': 'waiting' } : {};
    for (const opened of [...this.#open].reverse()) this.end(opened, isWaiting ? null : CUT_OFF, attributes);
  }

  /** Reports only the first error of a tracer, processor or exporter. */
  #try<Value>(act: () => Value): Value | undefined {
    try {
      return act();
    } catch (error) {
      if (!this.#hasReported)
        this.#telemetry.api.diag.error('postchain: OpenTelemetry threw an error; the run is not affected', error);
      this.#hasReported = true;
      return undefined;
    }
  }
}

/** The bucket boundaries that the GenAI metrics conventions define. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

function createInstruments(meter: Meter) {
  return {
    duration: meter.createHistogram('gen_ai.client.operation.duration', {
      description: 'GenAI operation duration.',
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    }),
    tokens: meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Number of input and output tokens used.',
      unit: '{token}',
      advice: { explicitBucketBoundaries: TOKENS },
    }),
  };
}

/** Returns [seconds, nanoseconds]: OpenTelemetry may take a plain number for a time since the start of the process. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

function attributesOf(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Attributes;
}
