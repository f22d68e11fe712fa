import { type DiagLogger, DiagLogLevel, diag, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import { everyTask, startScripted } from '../../../support/run-chain.ts';
import { memoryTelemetry, millis, spansOf } from '../../../support/telemetry.ts';

const broken = (): never => {
  throw new Error('the exporter broke');
};

/** What OpenTelemetry's diagnostic log received. */
function listenToDiag(): string[] {
  const messages: string[] = [];
  const record = (message: string): void => void messages.push(message);
  const logger: DiagLogger = { error: record, warn: record, info: record, debug: record, verbose: record };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return messages;
}

async function aJournal(): Promise<readonly JournalEntry[]> {
  const { run } = startScripted(everyTask.plan, everyTask.options, everyTask.run);
  await run.answer;
  return run.entries;
}

afterEach(() => diag.disable());

describe('an incomplete journal', () => {
  it('ends every open span at its last entry, with an error', async () => {
    const journal = (await aJournal()).map((entry) => ({ ...entry, atMs: entry.seq }));
    for (let length = 1; length < journal.length; length += 1) {
      const begun: string[] = [];
      const telemetry = memoryTelemetry();
      const { tracer, meter } = telemetry.options;
      const counting: Tracer = Object.assign(Object.create(tracer), {
        startSpan: (...given: Parameters<Tracer['startSpan']>) => {
          begun.push(given[0]);
          return tracer.startSpan(...given);
        },
      });
      await traceRun(journal.slice(0, length), { tracer: counting, meter });
      const spans = telemetry.spans();
      expect(spans.map(({ name }) => name).toSorted()).toEqual(begun.toSorted());
      const [root] = spans;
      expect(millis(root?.endTime ?? [0, 0])).toBe(length - 1);
      expect(root?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'The journal ends too early.' });
      expect(root?.attributes['error.type']).toBe('journal_cut_off');
      const after = spans.filter(({ endTime }) => millis(endTime) > length - 1);
      expect(after).toEqual([]);
    }
  });

  it('ends the open spans of a parked run without an error', async () => {
    const telemetry = memoryTelemetry();
    const waiting = { sinceMs: 0, dueAtMs: null, events: ['consent.given'] };
    const closed = { type: 'closed', seq: 20, atMs: 20, closedAt: new Date(0).toISOString(), waiting } as const;
    await traceRun([...(await aJournal()).slice(0, 20), closed], telemetry.options);
    const [root] = telemetry.spans();
    expect([root?.status.code, root?.attributes['postchain.status']]).toEqual([SpanStatusCode.UNSET, 'waiting']);
  });

  it('ends the spans if the iterable throws, and rejects', async () => {
    const journal = await aJournal();
    const telemetry = memoryTelemetry();
    async function* torn() {
      yield* journal.slice(0, 20);
      throw new Error('the disk is gone');
    }
    await expect(traceRun(torn(), telemetry.options)).rejects.toThrow('the disk is gone');
    expect(telemetry.spans()[0]?.attributes['error.type']).toBe('journal_cut_off');
  });

  it.each([
    [[], 'an empty journal'],
    [[{ type: 'stopped', seq: 0, atMs: 0 } as const], '"stopped"'],
  ])('is rejected without its start', async (entries, received) => {
    await expect(traceRun(entries)).rejects.toMatchObject({
      code: 'invalid_journal',
      message: `A journal must begin with "start"; received ${received}`,
    });
  });

  it('that was resumed in another process is one run', async () => {
    const journal = await aJournal();
    const entries = [...journal.slice(0, 10), { type: 'resumed', resumedAt: '2026-01-01T00:00:00Z', seq: 10, atMs: 0 }];
    expect(
      (await spansOf([...entries, ...journal.slice(10)] as JournalEntry[]))[0]?.attributes['postchain.status'],
    ).toBe('completed');
  });
});

describe('a run', () => {
  it.each([
    ['tracer', { tracer: { startSpan: broken, startActiveSpan: broken } as unknown as Tracer }],
    ['meter', { meter: { createHistogram: broken } as never }],
    [
      'span',
      {
        tracer: {
          startSpan: () => ({ addEvent: broken, setAttributes: broken, setStatus: broken, end: broken }),
        } as unknown as Tracer,
      },
    ],
  ])('is not affected by a %s that throws, which the diagnostic log receives once', async (_, given) => {
    const messages = listenToDiag();
    const { run } = startScripted();
    await traceRun(run.events, { ...memoryTelemetry().options, ...given });
    expect((await run.answer).status).toBe('completed');
    expect(messages).toEqual(['postchain: OpenTelemetry threw an error; the run is not affected']);
  });

  it('has no span that ends before it starts, even if the clock goes backward', async () => {
    const messages = listenToDiag();
    const journal = (await aJournal()).map((entry) => ({ ...entry, atMs: 1000 - entry.seq }));
    for (const { startTime, endTime } of await spansOf(journal))
      expect(millis(endTime)).toBeGreaterThanOrEqual(millis(startTime));
    expect(messages).toEqual([]);
  });
});

describe('options of traceRun', () => {
  it.each([
    [{ content: 'false' }, 'content: expected true or false; received "false".'],
    [{ tracer: {} }, 'tracer: expected a Tracer of @opentelemetry/api; received an object with no keys.'],
    [{ workflow: '' }, 'workflow: expected a non-empty string; received "".'],
    [
      { contents: true },
      'contents: unknown option; expected one of tracer, meter, content, workflow, provider, models.',
    ],
  ])('rejects %j with a one-line error', async (options, message) => {
    await expect(traceRun([], options as never)).rejects.toMatchObject({ code: 'invalid_option', message });
  });
});
