import type {
  Attributes,
  AttributeValue,
  Context,
  DiagAPI,
  Histogram,
  HrTime,
  Meter,
  Span,
  Tracer,
} from '@opentelemetry/api';
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
export function createSpanLog({ api, tracer, meter, context: rootContext }: Telemetry, startedAtMs: number) {
  const { SpanKind, SpanStatusCode, trace } = api;
  const open = new Set<OpenSpan>();
  const withoutThrowing = createErrorReporter(api.diag);
  let instruments: Record<'duration' | 'tokens', Histogram> | null = null;
  let nowMs = startedAtMs;

  const log = {
    /** Sets the current time, in milliseconds since the start of the run. */
    moveTo(atMs: number): void {
      nowMs = Math.max(nowMs, startedAtMs + atMs);
    },
    begin({ operation, subject, parent, shared, attributes, startedMs = nowMs }: SpanStart): OpenSpan {
      const common = { 'gen_ai.operation.name': operation, ...shared };
      const context = parent?.context ?? rootContext;
      const span = withoutThrowing(() =>
        tracer.startSpan(
          [operation, subject].filter(Boolean).join(' '),
          {
            kind: operation === 'chat' ? SpanKind.CLIENT : SpanKind.INTERNAL,
            startTime: timeOf(startedMs),
            attributes: attributesOf({ ...common, ...attributes }),
          },
          context,
        ),
      );
      const within = span === undefined ? context : trace.setSpan(context, span);
      const opened: OpenSpan = {
        parent,
        children: new Set(),
        startMs: startedMs,
        shared: common,
        span,
        context: within,
      };
      open.add(opened);
      parent?.children.add(opened);
      return opened;
    },
    addEvent({ span }: OpenSpan, name: string, attributes: SpanAttributes = {}): void {
      withoutThrowing(() => span?.addEvent(name, attributesOf(attributes), timeOf(nowMs)));
    },
    rename({ span }: OpenSpan, name: string, attributes: SpanAttributes): void {
      withoutThrowing(() => span?.updateName(name).setAttributes(attributesOf(attributes)));
    },
    /** Ends a span. `endedAtMs` may be earlier than the current time. */
    end(opened: OpenSpan, error: SpanError | null, attributes: SpanAttributes = {}, endedAtMs = nowMs): void {
      if (!open.delete(opened)) return;
      opened.parent?.children.delete(opened);
      for (const child of opened.children) log.end(child, ABORTED, {}, endedAtMs);
      const failure = error === null ? {} : { 'error.type': error.code };
      withoutThrowing(() => {
        const { span } = opened;
        span?.setAttributes(attributesOf({ ...attributes, ...failure }));
        if (error !== null)
          span?.setStatus({
            code: SpanStatusCode.ERROR,
            ...(error.message !== null && { message: error.message }),
          });
        span?.end(timeOf(endedAtMs));
      });
      if (opened.shared['gen_ai.operation.name'] !== undefined)
        log.measure('duration', opened, (endedAtMs - opened.startMs) / 1000, failure);
    },
    /** Records the duration of a span in seconds, or the tokens of a model call. */
    measure(of: 'duration' | 'tokens', { shared, context }: OpenSpan, value: number, attributes: SpanAttributes): void {
      withoutThrowing(() => {
        instruments ??= createInstruments(meter);
        instruments[of].record(value, attributesOf({ ...shared, ...attributes }), context);
      });
    },
    isOpen: (opened: OpenSpan): boolean => open.has(opened),
    /** Ends all open spans, children first: their run or actor waits, or its journal ends too early. */
    endAll(isWaiting: boolean): void {
      const attributes = isWaiting ? { 'postchain.status': 'waiting' } : {};
      for (const opened of [...open].reverse()) log.end(opened, isWaiting ? null : CUT_OFF, attributes);
    },
    nowMs: (): number => nowMs,
  };
  return log;
}

export type SpanLog = ReturnType<typeof createSpanLog>;

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

/** Returns a function that runs others, and reports only the first error of a tracer, processor or exporter, to `diag`. */
function createErrorReporter(diag: DiagAPI) {
  let reported = false;
  return <Value>(act: () => Value): Value | undefined => {
    try {
      return act();
    } catch (error) {
      if (!reported) diag.error('postchain: OpenTelemetry threw an error; the run is not affected', error);
      reported = true;
      return undefined;
    }
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
