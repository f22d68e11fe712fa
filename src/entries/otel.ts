export { type TraceRunOptions, traceRun } from '../integrations/otel/trace-run.ts';
