export type { TraceRunOptions } from './options.ts';
export { traceRun } from './trace-run.ts';
