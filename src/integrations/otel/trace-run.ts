import type { Meter, Tracer } from '@opentelemetry/api';
import * as z from 'zod/mini';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { runStartOf } from '../../chain/journal/journal-format.ts';
import type { RunEvent } from '../../chain/runtime/run-events.ts';
import { loadOptional } from '../../internal/optional-package.ts';
import { hasMethod, invalidOption } from '../../internal/options.ts';
import { createRunFold } from './run-fold.ts';
import type { Telemetry } from './spans.ts';

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
 * @throws PostChainError `invalid_option` for invalid options, `package_missing` without `@opentelemetry/api`, `invalid_journal` if the
 * first entry is not `run-start`. Errors of the iterable are rethrown after the open spans are ended.
 */
export async function traceRun(
  entries: AsyncIterable<RunEvent> | Iterable<JournalEntry>,
  options: TraceRunOptions = {},
): Promise<void> {
  const settings = readOptions(options);
  const api = await loadOptional('@opentelemetry/api', 'traceRun', () => import('@opentelemetry/api'));
  const telemetry = telemetryOf(settings, api);
  let fold: ReturnType<typeof createRunFold> | null = null;
  try {
    for await (const entry of entries) {
      if (entry.type === 'partial') continue;
      if (fold === null) fold = createRunFold(runStartOf([entry]), settings, telemetry);
      else fold.take(entry);
    }
    if (fold === null) runStartOf([]);
  } finally {
    fold?.finish();
  }
}

/** The version of the conventions: the newest one that includes generative AI. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.1';

const optionsSchema = z.strictObject({
  tracer: z.optional(hasMethod<Tracer>('startSpan', 'expected a Tracer of @opentelemetry/api')),
  meter: z.optional(hasMethod<Meter>('createHistogram', 'expected a Meter of @opentelemetry/api')),
  content: z._default(z.boolean('expected true or false'), false),
  workflow: z._default(
    z.nullable(z.string('expected a non-empty string').check(z.minLength(1, 'expected a non-empty string'))),
    null,
  ),
  provider: z._default(
    z.nullable(z.string('expected a non-empty string').check(z.minLength(1, 'expected a non-empty string'))),
    null,
  ),
});

type Settings = z.output<typeof optionsSchema>;

function readOptions(options: TraceRunOptions): Settings {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('traceRun', options, read.error, optionsSchema);
  return read.data;
}

function telemetryOf({ tracer, meter }: Settings, api: Telemetry['api']): Telemetry {
  const { name, version } = manifest;
  const scope = [name, version, { schemaUrl: SCHEMA_URL }] as const;
  return {
    api,
    tracer: tracer ?? api.trace.getTracerProvider().getTracer(...scope),
    meter: meter ?? api.metrics.getMeter(...scope),
    // The journal may be read later, when another span is active.
    context: api.context.active(),
  };
}
