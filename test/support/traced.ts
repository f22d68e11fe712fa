import { traceRun } from '../../src/integrations/otel/trace-run.ts';
import { type Plan, settle, startScripted } from './run-chain.ts';
import { memoryTelemetry } from './telemetry.ts';

/** Plays a scripted run to its end, a second at a time, and traces what was recorded. */
export async function traced(plan: Plan, options: Parameters<typeof startScripted>[1] = {}, how = {}) {
  const { run, clock } = startScripted(plan, options, how);
  while (run.actor.getSnapshot().status === 'active') {
    const before = run.journal.length;
    await settle(1);
    if (run.journal.length === before) clock.increment(1000);
  }
  const telemetry = memoryTelemetry();
  await traceRun(run.journal, telemetry.options);
  return { run, telemetry, spans: telemetry.spans() };
}
