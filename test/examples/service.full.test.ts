import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { journalEntrySchema } from '../../machines/contracts/journal.ts';
import { finalAnswerSchema } from '../../machines/contracts/synthesis.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import {
  collectEvents,
  connectionsOf,
  errorOf,
  eventsOf,
  hangingModel,
  immediateModel,
  json,
  request,
  requestWithoutReading,
  startService,
  waitForEvent,
} from '../support/example-service.ts';
import { neverSettles, partModel, textPart } from '../support/scripted-models.ts';

const long = `The cellar is damp. ${'It was dug in winter, beside the old well. '.repeat(40)}`;
/** Exceeds the buffers of a connection, in a single first entry. */
const MUCH = JSON.stringify({
  request: 'Is it so?',
  history: [{ role: 'assistant', content: 'x'.repeat(15_000_000) }],
});

describe('the run stream of the example service', () => {
  it('sends journal entries in order, with seq as the event id, and the answer last', async () => {
    const { post, runs } = await startService({ model: immediateModel() });
    const response = await post('/runs', request);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = await collectEvents(response);
    const entries = events.filter(({ event }) => event === 'entry');
    expect(entries.map(({ id }) => id)).toEqual(entries.map((_, seq) => String(seq)));
    expect(entries.map(({ data }) => journalEntrySchema.parse(data))).toEqual(
      JSON.parse(JSON.stringify(runs[0]?.journal)),
    );
    const last = events.at(-1);
    expect(last).toMatchObject({
      event: 'answer',
      data: { answerText: 'It is so, for certain.', status: 'completed' },
    });
    expect(finalAnswerSchema.parse(last?.data)).toEqual(last?.data);
    expect(events.filter(({ event }) => event === 'answer')).toHaveLength(1);
  });

  it('sends the text of the answer in between, without ids and each piece once', async () => {
    const { post } = await startService({ model: scriptedModel({}, { otherwise: replies, chunkChars: 4 }) });
    const events = await collectEvents(await post('/runs', request));
    const deltas = events.filter(({ event }) => event === 'answer-delta');
    expect(deltas.every(({ id }) => id === undefined || id === '')).toBe(true);
    const lastVoid = events.findLastIndex(({ event }) => event === 'answer-void');
    const pieces = events
      .slice(lastVoid + 1)
      .flatMap(({ data }) => (data.type === 'answer-delta' ? [data['text']] : []));
    expect(pieces.join('')).toBe(replies.synthesis.answerText);
    expect(events.filter(({ event }) => event === 'partial')).toEqual([]);
  });

  it('starts while the run is in progress', async () => {
    const { post, runs } = await startService({ model: hangingModel() });
    const controller = new AbortController();
    const events = eventsOf(await post('/runs', request, { signal: controller.signal }));
    await waitForEvent(events, ({ data }) => data.type === 'phase-start' && data['phase'] === 'intention');
    expect(runs[0]?.actor.getSnapshot().status).toBe('active');
    controller.abort();
    await runs[0]?.answer;
  });

  it('uses the given history, and the session of the login', async () => {
    const sessionOf = ({ headers }: Request) => headers.get('x-user') ?? undefined;
    const { post, asked } = await startService({ model: immediateModel() }, { sessionOf });
    const history = [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Good day.' },
    ];
    const events = await collectEvents(
      await post('/runs', { ...request, history }, { headers: { 'x-user': 'desk-7' } }),
    );
    expect(asked).toMatchObject([{ ...request, history, sessionId: 'desk-7' }]);
    expect(events[0]?.data['messages']).toMatchObject(history);
  });

  it('serves twenty runs at once, each with its own answer, and forgets them afterward', async () => {
    const script = scriptedModel(({ task, input }) =>
      task === 'synthesis'
        ? { ...replies.synthesis, answerText: `Yes: ${(input as { request: string }).request}` }
        : replies[task as keyof typeof replies],
    );
    const { post, health } = await startService({ model: script });
    const asked = Array.from({ length: 20 }, (_, at) => `Question ${at}?`);
    const events = await Promise.all(asked.map(async (one) => collectEvents(await post('/runs', { request: one }))));
    expect(events.map((one) => one.at(-1)?.data['answerText'])).toEqual(asked.map((one) => `Yes: ${one}`));
    expect(await health()).toEqual({ status: 'ok', runs: 0 });
  });
});

describe('a client that disconnects', () => {
  it('interrupts its run, which leaves no call and no timer', async () => {
    const reading = partModel([neverSettles]);
    const { post, runs, health } = await startService({ model: reading });
    const controller = new AbortController();
    const events = eventsOf(await post('/runs', request, { signal: controller.signal }));
    await waitForEvent(events, ({ data }) => data.type === 'attempt-start');
    expect(reading.open()).toBe(1);
    expect(await health()).toMatchObject({ runs: 1 });
    controller.abort();
    const [run] = runs;
    expect(await run?.answer).toMatchObject({ status: 'degraded', metadata: { reason: 'interrupted' } });
    expect(run?.actor.getSnapshot().status).toBe('done');
    await expect.poll(() => reading.open()).toBe(0);
    expect(await health()).toMatchObject({ runs: 0 });
  });

  it('during a long unread answer leaves no open connection', async () => {
    const { port, runs, server } = await startService(
      { model: immediateModel() },
      { maxBodyBytes: 20_000_000, stallMs: 1_000_000 },
    );
    const socket = await requestWithoutReading(port, MUCH);
    await expect.poll(() => runs).toHaveLength(1);
    await runs[0]?.answer;
    expect(await connectionsOf(server)).toBe(1);
    socket.destroy();
    await expect.poll(() => connectionsOf(server)).toBe(0);
  });

  it('or stops reading is disconnected, and its run is interrupted', async () => {
    const much = Array.from({ length: 6 }, () => textPart('x'.repeat(3_000_000)));
    const endless = partModel([textPart('{"response":"'), ...much, neverSettles]);
    const limits = { maxReplyChars: 20_000_000 };
    const { port, runs, server } = await startService({ model: endless, limits }, { stallMs: 50 });
    await requestWithoutReading(port, JSON.stringify(request));
    await expect.poll(() => runs).toHaveLength(1);
    expect(await runs[0]?.answer).toMatchObject({ metadata: { reason: 'interrupted' } });
    await expect.poll(() => connectionsOf(server)).toBe(0);
    expect(endless.open()).toBe(0);
  });
});

describe('sending events to a run over HTTP', () => {
  it.each([
    ['keep', { kept: 1 }],
    ['summarize', { summarized: 1 }],
    ['remove', { removed: 1 }],
  ])('delivers consent to %s to the run that asked', async (choice, settled) => {
    const { post } = await startService({ model: immediateModel() });
    const events: unknown[] = [];
    let runId = '';
    for await (const { data } of eventsOf(
      await post('/runs', { ...request, history: [{ role: 'user', content: long }] }),
    )) {
      events.push(data);
      if (data.type === 'run-start') runId = String(data['runId']);
      if (data.type !== 'consent-asked') continue;
      const { questionId } = data;
      const late = { type: 'consent.given', questionId: 's1.consent', choice: 'remove' };
      expect(await errorOf(await post(`/runs/${runId}/events`, late))).toEqual({
        status: 409,
        code: 'answer_refused',
        message: `Nothing changed: the answer is to s1.consent; the pending question is ${questionId}.`,
      });
      const reply = await post(`/runs/${runId}/events`, { type: 'consent.given', questionId, choice });
      expect(reply.status).toBe(204);
    }
    expect(events).toContainEqual(expect.objectContaining({ type: 'consent-resolved', by: 'user', ...settled }));
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
  });

  it('[Q1] [Q2] delivers an approval, once', async () => {
    const paid: unknown[] = [];
    const pay = {
      name: 'pay',
      description: 'Pays.',
      arguments: z.object({ euros: z.number() }),
      execute: (args: unknown) => void paid.push(args),
    };
    const calls = [{ capability: 'pay', arguments: '{"euros":5}' }];
    const model = scriptedModel({}, { otherwise: { ...replies, action: { ...replies.action, calls } } });
    const { post } = await startService({ model, capabilities: [pay], approval: 'always' });
    let runId = '';
    for await (const { data } of eventsOf(await post('/runs', request))) {
      if (data.type === 'run-start') runId = String(data['runId']);
      if (data.type !== 'approval-asked') continue;
      const { questionId, digest } = data;
      const answer = { type: 'approval.given', questionId, digest, decision: 'approve', arguments: { euros: 4 } };
      const other = await errorOf(await post(`/runs/${runId}/events`, { ...answer, digest: 'other' }));
      expect(other).toMatchObject({ status: 409, code: 'answer_refused' });
      expect(paid).toEqual([]);
      expect((await post(`/runs/${runId}/events`, answer)).status).toBe(204);
      expect((await post(`/runs/${runId}/events`, answer)).status).toBe(409);
    }
    expect(paid).toEqual([{ euros: 4 }]);
  });

  it.each([
    [
      { type: 'run.cancelled', reason: 'enough' },
      { status: 'cancelled', metadata: { reason: 'cancelled' } },
    ],
    [{ type: 'run.finished' }, { answerText: 'It is so, for certain.' }],
    [{ type: 'run.directed', phase: 'yield' }, { status: 'completed' }],
  ])('%j ends in an answer on the stream', async (event, answer) => {
    const { post } = await startService({ model: hangingModel() });
    let last: unknown;
    let runId = '';
    for await (const { data } of eventsOf(await post('/runs', request))) {
      last = data;
      if (data.type === 'run-start') runId = String(data['runId']);
      if (data.type === 'phase-start' && data['phase'] === 'intention')
        expect((await post(`/runs/${runId}/events`, event)).status).toBe(204);
    }
    expect(last).toMatchObject(answer);
  });

  it('returns 404 for a finished or unknown run', async () => {
    const { post, runs } = await startService({ model: immediateModel() });
    await collectEvents(await post('/runs', request));
    for (const id of [runs[0]?.runId, 'nobody', '__proto__', '..%2F..%2Fetc', '%00']) {
      const reply = await post(`/runs/${id}/events`, { type: 'run.cancelled' });
      expect({ id, ...(await errorOf(reply)) }).toMatchObject({
        id,
        status: 404,
        code: 'unknown_run',
      });
    }
  });
});

it('main.ts serves the extractive model over docs/ on the loopback interface and stops on a signal', async () => {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const before = signals.flatMap((signal) => process.listeners(signal));
  vi.stubEnv('PORT', '0').stubEnv('SERVICE_TOKEN', 'secret-token');
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  await import('../../examples/service/main.ts');
  await expect.poll(() => print.mock.calls.length).toBeGreaterThan(0);
  const url = String(print.mock.calls[0]?.[0]);
  print.mockRestore();
  vi.unstubAllEnvs();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const body = JSON.stringify({ request: 'What does the Yield phase decide?' });
  const response = await fetch(`${url}/runs`, {
    method: 'POST',
    body,
    headers: { ...json, authorization: 'Bearer secret-token' },
  });
  expect((await collectEvents(response)).at(-1)).toMatchObject({ event: 'answer', data: { status: 'completed' } });
  for (const signal of signals)
    for (const stop of process.listeners(signal).filter((one) => !before.includes(one))) {
      stop(signal);
      process.removeListener(signal, stop);
    }
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});
