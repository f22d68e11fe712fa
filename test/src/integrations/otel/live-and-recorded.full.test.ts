import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { readJournal } from '../../../../src/chain/journal/node-stores.ts';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import { journalFile } from '../../../support/journal-files.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';
import { memoryTelemetry, tableOf } from '../../../support/telemetry.ts';

/** Everything about spans except ids; parents are given by index. */
function plain(spans: readonly ReadableSpan[]) {
  const ids = spans.map((span) => span.spanContext().spanId);
  return spans.map(({ name, kind, parentSpanContext, startTime, endTime, status, attributes, events }) => ({
    name,
    kind,
    startTime,
    endTime,
    status,
    attributes,
    events,
    parent: ids.indexOf(parentSpanContext?.spanId ?? ''),
  }));
}

const recorded = (journal: readonly JournalEntry[]): JournalEntry[] => JSON.parse(JSON.stringify(journal));

describe('tracing a live run', () => {
  it('gives the same spans and measurements as its journal', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, fc.boolean(), async (random, content) => {
        const live = memoryTelemetry();
        let traced: Promise<void> | null = null;
        const { run } = await startRandomRun(random, {}, (started) => {
          traced = traceRun(started.events, { ...live.options, content });
        });
        await run.answer;
        await traced;
        const after = memoryTelemetry();
        await traceRun(recorded(run.journal), { ...after.options, content });
        expect(plain(live.spans())).toEqual(plain(after.spans()));
        expect(await live.measured()).toEqual(await after.measured());
      }),
      { numRuns: sampleSize('runs traced twice', 30, 500) },
    );
  });

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
  });

  it('gives the same spans from a file, with the recorded times', async () => {
    const { run } = startScripted();
    await run.answer;
    const [memory, file] = [memoryTelemetry(), memoryTelemetry()];
    await traceRun(run.journal, memory.options);
    await traceRun(readJournal(journalFile(run.journal)), file.options);
    expect(plain(file.spans())).toEqual(plain(memory.spans()));
    expect(file.spans()[0]?.startTime).toEqual([0, 0]);
    expect(tableOf(file.spans())).toContain('invoke_agent yield');
  });
});
