import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';
import { memoryTelemetry, millis, spansOf, tableOf } from '../../../support/telemetry.ts';

const operation = ({ attributes }: ReadableSpan): string => String(attributes['gen_ai.operation.name']);
const phaseOf = (task: string): string => ({ continuation: 'action', summary: 'understanding' })[task] ?? task;

/** A span's parent: the run or a phase. */
function home({ attributes }: ReadableSpan): string {
  const task = String(attributes['postchain.task'] ?? 'action');
  return task === 'synthesis' ? 'invoke_workflow postChain' : `invoke_agent ${phaseOf(task)}`;
}

describe('the tree of a run', () => {
  it('is well-formed for any run: children lie within their parents, phases follow each other, then the synthesis', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { run } = await startRandomRun(random);
        await run.answer;
        // No two entries have the same time, so that times show the order.
        const journal = run.entries.map((entry) => ({ ...entry, atMs: entry.atMs + entry.seq }));
        const spans = await spansOf(journal);
        const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
        const [root, ...others] = spans;
        expect(root?.parentSpanContext).toBeUndefined();
        for (const span of others) {
          const parent = byId.get(span.parentSpanContext?.spanId ?? '');
          const place = operation(span) === 'invoke_agent' ? root?.name : home(span);
          expect([span.name, parent?.name]).toEqual([span.name, place]);
          expect(millis(span.startTime)).toBeGreaterThanOrEqual(millis(parent?.startTime ?? [0, 0]));
          expect(millis(span.endTime)).toBeLessThanOrEqual(millis(parent?.endTime ?? [0, 0]));
        }
        const phases = others.filter((span) => operation(span) === 'invoke_agent');
        const begun = journal.filter(({ type }) => type === 'phase-start');
        expect(phases).toHaveLength(begun.length);
        const writing = others.filter(({ attributes }) => attributes['postchain.task'] === 'synthesis');
        const inTurn = [...phases, ...writing];
        for (const [index, span] of inTurn.entries())
          expect(millis(span.startTime)).toBeGreaterThanOrEqual(millis(inTurn[index - 1]?.endTime ?? [0, 0]));
      }),
      { numRuns: sampleSize('traced runs', 30, 500) },
    );
  });
});

describe('tracing a live run', () => {
  it('ends spans during the run, including that of a phase that was left', async () => {
    const { run } = startScripted({ intention: { hang: true }, synthesis: { hang: true, text: '{"answerText' } });
    const telemetry = memoryTelemetry();
    const traced = traceRun(run.events, telemetry.options);
    const ended = (): string[] => telemetry.spans().map(({ name }) => name);
    await settle(40);
    expect(ended()).toContain('invoke_agent experience');
    expect(ended()).not.toContain('invoke_agent intention');
    run.send({ type: 'run.finished' });
    await settle(40);
    expect(ended()).toContain('invoke_agent intention');
    expect(ended()).not.toContain('invoke_workflow postChain');
    run.cancel();
    await traced;
    expect(ended()).toContain('invoke_workflow postChain');
    expect(tableOf(telemetry.spans())).toBe(tableOf(await spansOf(run.entries)));
  });
});
