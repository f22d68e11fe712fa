import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import { type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { traceRun } from '../../src/integrations/otel/trace-run.ts';
import { type Plan, settle, startScripted } from './run-chain.ts';

/** Gives what was measured when it is asked. */
class OnDemandReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** One measured row of a histogram. */
export interface Measurement {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
  readonly boundaries: readonly number[];
}

/** OpenTelemetry with everything kept in memory. */
export function memoryTelemetry() {
  const exporter = new InMemorySpanExporter();
  const spans = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const gauge = new OnDemandReader();
  const meters = new MeterProvider({ readers: [gauge] });
  return {
    options: { tracer: spans.getTracer('test'), meter: meters.getMeter('test') },
    tracers: spans,
    spans: (): readonly ReadableSpan[] => inOrder(exporter.getFinishedSpans()),
    async measured(): Promise<readonly Measurement[]> {
      const { resourceMetrics } = await gauge.collect();
      return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
        metrics.flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => {
            const { count, sum = 0, buckets } = value as Histogram;
            const { name: metric, unit } = descriptor;
            return { metric, unit, attributes, count, sum, boundaries: buckets.boundaries };
          }),
        ),
      );
    },
  };
}

/** Each behind the one that it is within; those within the same as they began. */
function inOrder(spans: readonly ReadableSpan[]): readonly ReadableSpan[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const parentOf = ({ parentSpanContext }: ReadableSpan): string | null =>
    parentSpanContext !== undefined && ids.has(parentSpanContext.spanId) ? parentSpanContext.spanId : null;
  const below = (id: string | null): ReadableSpan[] =>
    spans
      .filter((span) => parentOf(span) === id)
      .toSorted((a, b) => millis(a.startTime) - millis(b.startTime))
      .flatMap((span) => [span, ...below(span.spanContext().spanId)]);
  return below(null);
}

export const millis = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;

/** A trace as a table: one line a span, what is within another further in, `from–to` in milliseconds after the first. */
export function tableOf(spans: readonly ReadableSpan[]): string {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const depth = ({ parentSpanContext }: ReadableSpan): number => {
    const parent = byId.get(parentSpanContext?.spanId ?? '');
    return parent === undefined ? 0 : 1 + depth(parent);
  };
  const zero = Math.min(...spans.map(({ startTime }) => millis(startTime)));
  return spans
    .map((span) => {
      const { name, startTime, endTime, status, attributes } = span;
      const failed = status.code === SpanStatusCode.ERROR ? ` ! ${attributes['error.type']}` : '';
      return `${'  '.repeat(depth(span))}${name} ${millis(startTime) - zero}–${millis(endTime) - zero}${failed}`;
    })
    .join('\n');
}

export function spanNamed(spans: readonly ReadableSpan[], name: string): ReadableSpan | undefined {
  return spans.find((span) => span.name === name);
}

/** What was noted on a span, in order. */
export function eventsOf(span: ReadableSpan | undefined): readonly Attributes[] {
  return (span?.events ?? []).map(({ name, attributes }) => ({ name, ...attributes }));
}

/** The spans of a journal. */
export async function spansOf(journal: Parameters<typeof traceRun>[0], options: Parameters<typeof traceRun>[1] = {}) {
  const telemetry = memoryTelemetry();
  await traceRun(journal, { ...telemetry.options, ...options });
  return telemetry.spans();
}

/** Plays a scripted run to its end, a second at a time, and traces what was recorded. */
export async function traceScripted(plan: Plan, options: Parameters<typeof startScripted>[1] = {}, how = {}) {
  const { run, clock } = startScripted(plan, options, how);
  while (run.ref.getSnapshot().status === 'active') {
    const before = run.entries.length;
    await settle(1);
    if (run.entries.length === before) clock.increment(1000);
  }
  return { run, spans: await spansOf(run.entries) };
}
