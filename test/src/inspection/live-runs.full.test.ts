import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../machines/contracts/events.ts';
import type { Run } from '../../../src/chain/runtime/run.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { WIRE_VERSION } from '../../../src/inspection/wire.ts';
import { openPage, startInspector } from '../../support/inspection-server.ts';
import { scriptedChain, settle, startScripted } from '../../support/run-chain.ts';

/** A model that never replies, so that the run waits for an event. */
const hanging = () => startScripted({ intention: { hang: true } });

/** A page of a server that watches this run. */
async function watching(run: Run) {
  const server = await startInspector();
  server.watch(run);
  return { server, run, page: await openPage(server.url) };
}

const asLines = (run: Run): readonly string[] => run.entries.map((entry) => JSON.stringify(entry));

describe('a live run', () => {
  it('is listed and sent with its charts and all entries to its end', async () => {
    const server = await startInspector();
    const page = await openPage(server.url);
    const { run } = hanging();
    server.watch(run);
    const listed = await page.runs(({ runs }) => runs.length === 1);
    expect(listed).toEqual({
      type: 'runs',
      runs: [
        {
          runId: 'run-1',
          kind: 'run',
          title: 'Is it so?',
          startedAt: expect.stringMatching(/^\d{4}-.*Z$/u),
          status: 'running',
          live: true,
          fidelity: [],
          summary: expect.objectContaining({ confidence: null, models: ['scripted'] }),
        },
      ],
      removed: [],
      isAll: true,
      chosen: 'run-1',
      unread: 0,
    });
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    await settle();
    run.cancel();
    expect(await page.end('run-1')).toEqual({ type: 'end', runId: 'run-1', problem: null });
    expect(page.lines('run-1')).toEqual(asLines(run));
    expect(page.entries('run-1').at(-1)).toMatchObject({ type: 'end', summary: { status: 'cancelled' } });
    const [charts] = page.all('charts');
    expect(charts?.charts.map(({ id }) => id)).toEqual(['postChain', 'attempt', 'actionLoop']);
    expect(charts?.invoked).toEqual({ attempt: 'attempt', action: 'actionLoop' });
    const kinds = page.told.map(({ type }) => type);
    expect(kinds[0]).toBe('hello');
    expect(kinds.indexOf('charts')).toBeLessThan(kinds.indexOf('entries'));
    expect((await page.runs(({ runs }) => runs[0]?.live === false)).runs[0]).toMatchObject({ status: 'cancelled' });
  });

  it('is sent as one frame per tick for any number of entries', async () => {
    const { run, page } = await watching(startScripted().run);
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    await page.end('run-1');
    expect(page.lines('run-1')).toEqual(asLines(run));
    expect(page.all('entries').length).toBeLessThan(run.entries.length / 10);
  });

  it('is the same for pages that connect early, late, again, or after it has ended', async () => {
    const { server, run, page: early } = await watching(hanging().run);
    early.say({ type: 'open', runId: 'run-1', from: 0 });
    await expect.poll(() => early.lines('run-1').length).toBe(run.entries.length);
    const had = early.lines('run-1').length;
    early.socket.terminate();
    const late = await openPage(server.url);
    late.say({ type: 'open', runId: 'run-1', from: 0 });
    const again = await openPage(server.url, had);
    again.say({ type: 'open', runId: 'run-1', from: had });
    await settle();
    expect(again.lines('run-1')).toEqual([]);
    run.cancel();
    await Promise.all([late.end('run-1'), again.end('run-1')]);
    const after = await openPage(server.url);
    after.say({ type: 'open', runId: 'run-1', from: 0 });
    await after.end('run-1');
    const all = asLines(run);
    expect(had).toBeGreaterThan(5);
    expect(late.lines('run-1')).toEqual(all);
    expect(after.lines('run-1')).toEqual(all);
    expect([...early.lines('run-1'), ...again.lines('run-1')]).toEqual(all);
  });

  it('can be closed by one page while another follows it; reopening starts from the beginning', async () => {
    const server = await startInspector();
    const { run } = hanging();
    server.watch(run);
    const [one, other] = await Promise.all([openPage(server.url), openPage(server.url)]);
    for (const page of [one, other]) page.say({ type: 'open', runId: 'run-1', from: 0 });
    await expect.poll(() => one.lines('run-1').length).toBe(run.entries.length);
    const had = one.lines('run-1').length;
    one.say({ type: 'close', runId: 'run-1' });
    await one.request({ type: 'send', runId: 'run-1', event: { type: 'run.cancelled' } });
    await other.end('run-1');
    expect(other.lines('run-1')).toEqual(asLines(run));
    await one.runs(({ runs }) => runs[0]?.live === false);
    expect(one.lines('run-1')).toHaveLength(had);
    expect(one.all('end')).toEqual([]);
    one.say({ type: 'open', runId: 'run-1', from: had });
    await one.end('run-1');
    expect(one.lines('run-1')).toEqual(asLines(run));
  });

  it('is listed once, before its recording, which replaces it at the end', async () => {
    const journals = memoryJournals();
    const server = await startInspector({ journals });
    const page = await openPage(server.url);
    const { chain } = scriptedChain({}, { journals });
    const run = chain.run({ request: 'Is it so?' });
    server.watch(run);
    server.watch(run);
    await run.answer;
    const { runs } = await page.runs((list) => list.runs[0]?.live === false);
    expect(runs).toEqual([expect.objectContaining({ runId: 'run-1', status: 'completed', fidelity: [] })]);
    const other = await startInspector({ journals });
    const later = await openPage(other.url);
    later.say({ type: 'open', runId: 'run-1', from: 0 });
    await later.end('run-1');
    expect(later.lines('run-1')).toEqual(asLines(run));
  });

  it('is evicted after its end when many newer runs were watched', async () => {
    const server = await startInspector();
    const page = await openPage(server.url);
    for (let number = 0; number < 40; number += 1) {
      const { chain } = scriptedChain({}, { newId: () => `run-${number}` });
      const run = chain.run({ request: 'Is it so?' });
      server.watch(run);
      await run.answer;
    }
    const { runs } = await page.runs((list) => list.runs.length === 32 && list.runs.every(({ live }) => !live));
    const ids = runs.map(({ runId }) => runId);
    expect(ids).toContain('run-39');
    expect(ids).not.toContain('run-7');
  });

  it('ends with a reason at an entry that cannot be serialized', async () => {
    const { run } = hanging();
    const entries = [...run.entries.slice(0, 3), { seq: 3, atMs: 0, type: 'text-delta', attemptId: 'a', text: 1n }];
    const { page } = await watching({ ...run, entries } as unknown as Run);
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    expect((await page.end('run-1')).problem).toMatch(/BigInt/u);
  });
});

describe('an event sent to a run', () => {
  it('cancels the run on user request', async () => {
    const { run, page } = await watching(hanging().run);
    expect(
      await page.request({ type: 'send', runId: 'run-1', event: { type: 'run.cancelled', reason: 'enough' } }),
    ).toEqual({ result: null, problem: null });
    expect((await run.answer).status).toBe('cancelled');
    expect(run.entries).toContainEqual(
      expect.objectContaining({ type: 'delivery', event: { type: 'run.cancelled', reason: 'enough' } }),
    );
  });

  it('gives consent or adjusts thresholds', async () => {
    const long = { role: 'user' as const, content: `Please. ${'It is a long story. '.repeat(80)}` };
    const { page } = await watching(startScripted({}, { limits: { maxCycles: 2 } }, { history: [long] }).run);
    page.say({ type: 'open', runId: 'run-1', from: 0 });
    await expect.poll(() => page.entries('run-1').some(({ type }) => type === 'consent-asked')).toBe(true);
    const adjusted: ChainEvent = { type: 'run.adjusted', limits: { maxCycles: 1 } };
    const given: ChainEvent = { type: 'consent.given', questionId: 's5.consent', choice: 'keep' };
    const replies = [adjusted, given].map((event) => page.request({ type: 'send', runId: 'run-1', event }));
    expect(await Promise.all(replies)).toMatchObject([{ problem: null }, { problem: null }]);
    await page.end('run-1');
    expect(page.entries('run-1')).toContainEqual(expect.objectContaining({ type: 'consent-resolved' }));
    expect(page.entries('run-1')).toContainEqual(expect.objectContaining({ type: 'delivery', event: adjusted }));
  });

  it.each([
    [{ type: 'run.exploded' }, /^event: expected one of run\.cancelled, .*; received "run\.exploded"/u],
    [null, /^event: expected one of .*; received null/u],
    ['run.cancelled', /^event: expected one of .*; received "run\.cancelled"/u],
    [
      { type: 'run.adjusted', limits: { maxCycles: 'many' } },
      /^limits\.maxCycles: expected a number; received "many"/u,
    ],
    [{ type: 'run.adjusted', limits: { totalMs: -1 } }, /^limits\.totalMs: expected a number above 0; received -1/u],
    [
      { type: 'run.adjusted', thresholds: { change: 2 } },
      /^thresholds\.change: expected a number of at most 1; received 2/u,
    ],
  ])('is rejected with the reason, and the run continues: %j', async (event, problem) => {
    const { run, page } = await watching(hanging().run);
    const before = run.entries.length;
    expect(await page.request({ type: 'send', runId: 'run-1', event })).toMatchObject({
      problem: expect.stringMatching(problem),
    });
    expect(run.entries).toHaveLength(before);
  });

  it('is rejected for an ended or unknown run', async () => {
    const { page } = await watching(startScripted().run);
    await page.runs(({ runs }) => runs[0]?.live === false);
    const cancel = (runId: string) => page.request({ type: 'send', runId, event: { type: 'run.cancelled' } });
    expect((await cancel('run-1')).problem).toBe('The run has ended (completed); it accepts no more events.');
    expect((await cancel('run-2')).problem).toBe('There is no run "run-2".');
  });

  it('is one of the types that the server announces', async () => {
    const page = await openPage((await startInspector()).url);
    await page.runs();
    const [hello] = page.all('hello');
    expect(hello?.version).toBe(WIRE_VERSION);
    expect(hello?.continues).toBe(false);
    expect(hello?.events).toEqual([
      'run.cancelled',
      'run.interrupted',
      'run.directed',
      'run.finished',
      'run.adjusted',
      'context.overruled',
      'context.undone',
      'consent.given',
      'approval.given',
    ]);
  });
});
