import {
  type Attributes,
  type Context,
  context,
  diag,
  type Histogram,
  type HrTime,
  type Meter,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import type { RunEvent } from '../../engine/runtime/run-events.ts';
import { readOptions, type TraceRunOptions } from './options.ts';
import { createRunFold } from './run-fold.ts';
import type { Facts, OpenSpan, Signal } from './spans.ts';

/**
 * Tells OpenTelemetry of a run, by the semantic conventions for generative AI: `run.events` while it runs, `readJournal(path)` or
 * `run.journal` afterwards; both give the same spans at the same times. They stand under the span that is active when this is called.
 *
 * Resolves when the journal has ended, and its spans with it. OpenTelemetry cannot disturb it.
 *
 * @throws PostChainError `invalid_option` for options that make no sense, `invalid_journal` for what does not begin as a run does;
 * what the iterable throws, once the open spans are ended.
 */
export async function traceRun(
  entries: AsyncIterable<RunEvent> | Iterable<JournalEntry>,
  options: TraceRunOptions = {},
): Promise<void> {
  const { tracer, meter, ...settings } = readOptions(options);
  const tell = createTelemetry(tracer, meter);
  let fold: ReturnType<typeof createRunFold> | null = null;
  const tellAll = (): void => fold?.signals().forEach(tell);
  try {
    for await (const entry of entries) {
      if (entry.type === 'partial') continue;
      if (fold === null) fold = createRunFold(startOf(entry), settings);
      else fold.take(entry);
      tellAll();
    }
    if (fold === null) throw notAJournal('nothing');
  } finally {
    fold?.finish();
    tellAll();
  }
}

function startOf(entry: JournalEntry): RunStart {
  if (entry.type !== 'run-start') throw notAJournal(`"${entry.type}"`);
  return entry;
}

function notAJournal(got: string): PostChainError {
  return new PostChainError('invalid_journal', `The journal begins with ${got}; wanted "run-start".`);
}

/** As the conventions want them [GenAI metrics]. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/**
 * Tells OpenTelemetry. What it throws (a tracer, a processor, an exporter) is told to its own `diag`, once, and goes no further.
 * The spans stand in the context that is active when this is made.
 */
function createTelemetry(tracer: Tracer, meter: Meter) {
  const outside = context.active();
  const begun = new WeakMap<OpenSpan, { readonly span: Span; readonly within: Context }>();
  const within = (open: OpenSpan | null): Context => (open && begun.get(open)?.within) ?? outside;
  const quietly = createQuiet();
  let instruments: { readonly duration: Histogram; readonly tokens: Histogram } | null = null;

  function tell(signal: Signal): void {
    switch (signal.type) {
      case 'start': {
        const { span: open, name, facts } = signal;
        const kind = open.operation === 'chat' ? SpanKind.CLIENT : SpanKind.INTERNAL;
        const options = { kind, startTime: timeOf(open.startMs), attributes: attributesOf(facts) };
        const span = tracer.startSpan(name, options, within(open.parent));
        begun.set(open, { span, within: trace.setSpan(within(open.parent), span) });
        return;
      }
      case 'event':
        begun.get(signal.span)?.span.addEvent(signal.name, attributesOf(signal.facts), timeOf(signal.atMs));
        return;
      case 'end': {
        const span = begun.get(signal.span)?.span;
        span?.setAttributes(attributesOf(signal.facts));
        if (signal.mishap !== null) {
          const { message } = signal.mishap;
          span?.setStatus({ code: SpanStatusCode.ERROR, ...(message !== null && { message }) });
        }
        span?.end(timeOf(signal.atMs));
        return;
      }
      case 'measurement':
        instruments ??= createInstruments(meter);
        instruments[signal.of].record(signal.value, attributesOf(signal.facts), within(signal.span));
        return;
      default:
        signal satisfies never;
    }
  }
  return (signal: Signal): void => quietly(() => tell(signal));
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

function createQuiet() {
  let told = false;
  return (act: () => void): void => {
    try {
      act();
    } catch (error) {
      if (told) return;
      told = true;
      diag.error('postchain: OpenTelemetry threw; the run is not disturbed.', error);
    }
  };
}

/** Seconds and nanoseconds: a plain number could be taken for a time since the process began. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

function attributesOf(facts: Facts): Attributes {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Attributes;
}
