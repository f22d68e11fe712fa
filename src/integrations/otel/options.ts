import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { z } from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import { hasMethod, invalidOption } from '../../internal/options.ts';
import type { FoldOptions } from './run-fold.ts';

/** The conventions that names and attributes follow: the newest release that has those of generative AI in it. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.1';

export interface TraceRunOptions {
  /** The default is the tracer "postchain" of the global provider. */
  readonly tracer?: Tracer | undefined;
  /** The default is the meter "postchain" of the global provider. `createNoopMeter()` measures nothing. */
  readonly meter?: Meter | undefined;
  /** Whether requests, replies, arguments, results and what quotes them may be told. The default is false. */
  readonly content?: boolean | undefined;
  /** What the run is called: `gen_ai.workflow.name`. The default is the name of the chart. */
  readonly workflow?: string | undefined;
  /** `gen_ai.provider.name` of models whose id does not begin with one, as `openai:` does. The default is "postchain". */
  readonly provider?: string | undefined;
}

const optionsSchema = z.strictObject({
  tracer: hasMethod<Tracer>('startSpan', 'wanted a Tracer of @opentelemetry/api').optional(),
  meter: hasMethod<Meter>('createHistogram', 'wanted a Meter of @opentelemetry/api').optional(),
  content: z.boolean('wanted true or false').default(false),
  workflow: z.string('wanted a name').min(1, 'wanted a name').nullable().default(null),
  provider: z.string('wanted a name').min(1, 'wanted a name').nullable().default(null),
});

export interface Settings extends FoldOptions {
  readonly tracer: Tracer;
  readonly meter: Meter;
}

/** Throws `invalid_option` for what makes no sense. */
export function readOptions(options: TraceRunOptions): Settings {
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
