import {
  type Attributes,
  type Context,
  context,
  diag,
  type Histogram,
  type HrTime,
  type Meter,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { z } from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import manifest from '../../../package.json' with { type: 'json' };
import type { RunEvent } from '../../engine/runtime/run-events.ts';
import { hasMethod, invalidOption } from '../../internal/options.ts';
import { createRunFold, type FoldOptions } from './run-fold.ts';
import type { OpenSpan, Signal, SpanAttributes } from './spans.ts';

export interface TraceRunOptions {
  /** The default is the tracer "postchain" of the global provider. */
  readonly tracer?: Tracer | undefined;
  /** The default is the meter "postchain" of the global provider. Pass `createNoopMeter()` to disable metrics. */
  readonly meter?: Meter | undefined;
  /** Whether to record requests, replies, arguments, results and texts that quote them. The default is false. */
  readonly content?: boolean | undefined;
  /** `gen_ai.workflow.name`. The default is the name of the chart. */
  readonly workflow?: string | undefined;
  /** `gen_ai.provider.name` of models whose id has no provider prefix such as `openai:`. The default is "postchain". */
  readonly provider?: string | undefined;
}

/**
 * Exports a run to OpenTelemetry, by the semantic conventions for generative AI. Pass `run.events` while it runs, or `readJournal(path)` or
 * `run.journal` afterwards; both give the same spans with the same times. The spans are children of the span that is active at the call.
 *
 * Resolves when the journal and its spans have ended. Errors in OpenTelemetry do not affect it.
 *
 * @throws PostChainError `invalid_option` for invalid options, `invalid_journal` if the first entry is not `run-start`. Errors of the
 * iterable are rethrown after the open spans are ended.
 */
export async function traceRun(
  entries: AsyncIterable<RunEvent> | Iterable<JournalEntry>,
  options: TraceRunOptions = {},
): Promise<void> {
  const { tracer, meter, ...settings } = readOptions(options);
  const emit = createEmitter(tracer, meter);
  let fold: ReturnType<typeof createRunFold> | null = null;
  const emitAll = (): void => fold?.signals().forEach(emit);
  try {
    for await (const entry of entries) {
      if (entry.type === 'partial') continue;
      if (fold === null) fold = createRunFold(requireStart(entry), settings);
      else fold.take(entry);
      emitAll();
    }
    if (fold === null) throw notAJournal('an empty journal');
  } finally {
    fold?.finish();
    emitAll();
  }
}

function requireStart(entry: JournalEntry): RunStart {
  if (entry.type !== 'run-start') throw notAJournal(`"${entry.type}"`);
  return entry;
}

function notAJournal(received: string): PostChainError {
  return new PostChainError('invalid_journal', `A journal must begin with "run-start"; received ${received}`);
}

/** The version of the conventions: the newest one that includes generative AI. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.1';

const optionsSchema = z.strictObject({
  tracer: hasMethod<Tracer>('startSpan', 'expected a Tracer of @opentelemetry/api').optional(),
  meter: hasMethod<Meter>('createHistogram', 'expected a Meter of @opentelemetry/api').optional(),
  content: z.boolean('expected true or false').default(false),
  workflow: z.string('expected a non-empty string').min(1, 'expected a non-empty string').nullable().default(null),
  provider: z.string('expected a non-empty string').min(1, 'expected a non-empty string').nullable().default(null),
});

interface Settings extends FoldOptions {
  readonly tracer: Tracer;
  readonly meter: Meter;
}

function readOptions(options: TraceRunOptions): Settings {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('traceRun', options, read.error, optionsSchema);
  const { tracer, meter, ...rest } = read.data;
  const { name, version } = manifest;
  const scope = [name, version, { schemaUrl: SCHEMA_URL }] as const;
  return {
    ...rest,
    tracer: tracer ?? trace.getTracerProvider().getTracer(...scope),
    meter: meter ?? metrics.getMeter(...scope),
  };
}

/** The bucket boundaries that the GenAI metrics conventions define. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/**
 * Returns a function that sends signals to OpenTelemetry. The first error of a tracer, processor or exporter is reported to `diag`; none is
 * thrown. Spans are created in the context that is active now.
 */
function createEmitter(tracer: Tracer, meter: Meter) {
  const rootContext = context.active();
  const started = new WeakMap<OpenSpan, { readonly span: Span; readonly within: Context }>();
  const contextOf = (open: OpenSpan | null): Context => (open && started.get(open)?.within) ?? rootContext;
  const withoutThrowing = createErrorReporter();
  let instruments: { readonly duration: Histogram; readonly tokens: Histogram } | null = null;

  function emit(signal: Signal): void {
    switch (signal.type) {
      case 'start': {
        const { span: open, name, attributes } = signal;
        const kind = open.operation === 'chat' ? SpanKind.CLIENT : SpanKind.INTERNAL;
        const options = { kind, startTime: timeOf(open.startMs), attributes: attributesOf(attributes) };
        const span = tracer.startSpan(name, options, contextOf(open.parent));
        started.set(open, { span, within: trace.setSpan(contextOf(open.parent), span) });
        return;
      }
      case 'event':
        started.get(signal.span)?.span.addEvent(signal.name, attributesOf(signal.attributes), timeOf(signal.atMs));
        return;
      case 'end': {
        const span = started.get(signal.span)?.span;
        span?.setAttributes(attributesOf(signal.attributes));
        if (signal.error !== null) {
          const { message } = signal.error;
          span?.setStatus({ code: SpanStatusCode.ERROR, ...(message !== null && { message }) });
        }
        span?.end(timeOf(signal.atMs));
        return;
      }
      case 'measurement':
        instruments ??= createInstruments(meter);
        instruments[signal.of].record(signal.value, attributesOf(signal.attributes), contextOf(signal.span));
        return;
      default:
        signal satisfies never;
    }
  }
  return (signal: Signal): void => withoutThrowing(() => emit(signal));
}

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

/** Runs functions and reports only the first error. */
function createErrorReporter() {
  let reported = false;
  return (act: () => void): void => {
    try {
      act();
    } catch (error) {
      if (reported) return;
      reported = true;
      diag.error('postchain: OpenTelemetry threw an error; the run is not affected', error);
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
