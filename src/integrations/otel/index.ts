export { type TraceRunOptions, traceRun } from './trace-run.ts';
