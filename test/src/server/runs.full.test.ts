import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { PostChainError } from '../../../machines/contracts/error.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { fileJournals } from '../../../src/entries/node.ts';
import { bearerTokens, createServer } from '../../../src/entries/server.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import type { ServerLogLine } from '../../../src/server/create-server.ts';
import { emptyView, nextView, type RunView } from '../../../src/server/run-view.ts';
import { type Question, runUpdateSchema } from '../../../src/server/updates.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, collectUpdates, startServer, updatesIn } from '../../support/chain-server.ts';
import { temporaryFolder } from '../../support/cli.ts';

interface RunId {
  readonly runId: string;
}

describe('runs as resources', () => {
  it('starts a run, streams it to its answer, and shows it afterwards', async () => {
    const { get, post } = await startServer({
      chain: { model: scriptedModel({}, { otherwise: replies, chunkChars: 4 }) },
    });
    const started = await post('/runs', { request: 'Is it so?' });
    expect(started.status).toBe(201);
    const { runId } = (await started.json()) as RunId;
    expect(started.headers.get('location')).toBe(`/runs/${runId}`);
    const received = await collectUpdates(await get(`/runs/${runId}/events`));
    expect(received.map(({ update }) => runUpdateSchema.parse(update))).toEqual(received.map(({ update }) => update));
    const view = received.reduce((sum, { update }) => nextView(sum, update), emptyView);
    expect(view).toMatchObject({ runId, request: 'Is it so?', status: 'ended' });
    expect(view.text).toBe(view.answer?.answerText);
    expect(await (await get(`/runs/${runId}`)).json()).toEqual(view);
    expect(await (await get('/runs')).json()).toMatchObject({ runs: [{ runId, request: 'Is it so?' }] });
  });

  it('asks its client to run a tool, and gets the result as an event', async () => {
    const calls = [{ capability: 'get_weather', arguments: '{}' }];
    const model = scriptedModel({ action: [{ ...replies.action, calls }] }, { otherwise: replies });
    const { get, post, start } = await startServer({ chain: { model } });
    const clientTools = [{ name: 'get_weather', description: 'Weather.', arguments: { type: 'object' } }];
    const runId = await start({ request: 'Is it so?', clientTools });
    const view = async () => (await (await get(`/runs/${runId}`)).json()) as RunView;
    await expect.poll(async () => (await view()).status).toBe('waiting');
    const [question] = (await view()).questions;
    expect(question).toMatchObject({ kind: 'approval', capability: 'get_weather', isClientTool: true });
    const { questionId, digest } = question as Extract<Question, { kind: 'approval' }>;
    const answer = { type: 'approval.given', questionId, digest, decision: 'approve' };
    const approved = await post(`/runs/${runId}/events`, answer);
    expect([approved.status, await approved.json()]).toMatchObject([
      409,
      { code: 'answer_refused', message: expect.stringContaining('only the client can run') },
    ]);
    expect((await post(`/runs/${runId}/events`, { ...answer, decision: 'respond' })).status).toBe(400);
    const output = 'It rains.';
    expect((await post(`/runs/${runId}/events`, { ...answer, decision: 'respond', output })).status).toBe(204);
    await expect.poll(async () => (await view()).status).toBe('ended');
    const invalid = { request: 'Is it so?', clientTools: [...clientTools, ...clientTools] };
    expect((await post('/runs', invalid)).status).toBe(400);
  });

  it('continues a stream after the event that the client received last', async () => {
    const { get, start } = await startServer();
    const runId = await start();
    const all = await collectUpdates(await get(`/runs/${runId}/events`));
    for (const at of [0, 3, all.length - 2, all.length - 1]) {
      const headers = { 'last-event-id': all[at]?.id ?? '' };
      expect(await collectUpdates(await get(`/runs/${runId}/events`, { headers }))).toEqual(all.slice(at + 1));
    }
  });

  it('lists the runs that started before a time, in any time zone', async () => {
    const { get, post } = await startServer();
    await post('/runs', { request: 'Is it so?' });
    const listed = async (hours: number, zone: string) => {
      const time = new Date(Date.now() + (hours + Number.parseInt(zone, 10)) * 3_600_000).toISOString().slice(0, -1);
      const found = await get(`/runs?before=${encodeURIComponent(time + zone)}`);
      return ((await found.json()) as { runs: unknown[] }).runs.length;
    };
    for (const zone of ['+00:00', '+09:00', '-09:00'])
      expect([await listed(-1, zone), await listed(1, zone)]).toEqual([0, 1]);
  });

  it('shows a run only to its owner', async () => {
    const { get, post, start } = await startServer();
    const runId = await start();
    const missing = await (await get('/runs/none', { token: BOB })).text();
    for (const path of [`/runs/${runId}`, `/runs/${runId}/events`]) {
      const refused = await get(path, { token: BOB });
      expect([refused.status, await refused.text()]).toEqual([404, missing]);
    }
    const sent = await post(`/runs/${runId}/events`, { type: 'run.cancelled' }, { token: BOB });
    expect([sent.status, await sent.text()]).toEqual([404, missing]);
    expect(await (await get('/runs', { token: BOB })).json()).toEqual({ runs: [] });
  });

  it('closes the question of a run that its user finishes before the answer is written', async () => {
    const { get, post, start } = await startServer({ chain: { profile: 'thorough' } });
    const runId = await start({ request: 'Is it so?', mode: 'manual' });
    const types: string[] = [];
    for await (const { update } of updatesIn(await get(`/runs/${runId}/events`))) {
      types.push(update.type);
      if (update.type === 'question')
        await post(`/runs/${runId}/events`, { type: 'run.finished', questionId: update.question.questionId });
    }
    expect(types.indexOf('question-closed')).toBeLessThan(types.lastIndexOf('progress'));
  });
});

describe('a run that has started', () => {
  it('is stored, even if many start at once', async () => {
    const { direct } = await startServer({ limits: { runsPerOwner: 40 } });
    const answers = await Promise.all(
      Array.from({ length: 40 }, async () => (await direct.get(`/runs/${await direct.start()}`)).status),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
  });

  it('is closed with the server, which then starts no more runs', async () => {
    const model = scriptedModel({ action: [{ hang: true }] }, { otherwise: replies });
    const { direct, journals, close } = await startServer({ chain: { model, profile: 'thorough' } });
    const ask = { request: 'Is it so?', session: 'main' };
    const requests = Array.from({ length: 20 }, () => direct.post('/runs', ask));
    while ((await journals.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await close();
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    const runs = await journals.list();
    expect(runs.length).toBeGreaterThanOrEqual(statuses.filter((status) => status === 201).length);
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['interrupted']));
  });

  it('does not exist when its journal is deleted', async () => {
    const { get, post, journals, start } = await startServer();
    const runId = await start();
    await collectUpdates(await get(`/runs/${runId}/events`));
    await (journals as ReturnType<typeof memoryJournals>).delete(runId);
    const answers = [
      await get(`/runs/${runId}`),
      await get(`/runs/${runId}/events`),
      await get(`/v1/responses/resp_${runId}`),
      await post(`/runs/${runId}/events`, { type: 'run.cancelled' }),
      await post('/v1/responses', { input: 'And?', previous_response_id: `resp_${runId}` }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  });

  it('is reported as an error, not as busy, if its journal is damaged', async () => {
    const place = temporaryFolder();
    const first = await startServer({ chain: { journals: fileJournals(place) } });
    const runId = await first.start();
    await collectUpdates(await first.get(`/runs/${runId}/events`));
    await first.close();
    appendFileSync(join(place, `${runId}.jsonl`), 'damage\n'.repeat(2));
    const lines: ServerLogLine[] = [];
    const { get } = await startServer({ chain: { journals: fileJournals(place) }, onLog: (line) => lines.push(line) });
    expect((await get(`/runs/${runId}`)).status).toBe(500);
    expect(lines.map(({ error }) => String(error))).toContainEqual(expect.stringContaining('cannot read entry'));
  });
});

describe('a repeated request', () => {
  it('with the same idempotency key returns the same run, even at the same time or after a restart', async () => {
    const journals = memoryJournals();
    const key = { headers: { 'idempotency-key': 'order-17' } };
    const { post, close } = await startServer({ chain: { journals } });
    const ask = { request: 'Is it so?' };
    const started = await Promise.all([1, 2, 3].map(() => post('/runs', ask, key)));
    const ids = await Promise.all(started.map(async (response) => ((await response.json()) as RunId).runId));
    expect(new Set(ids).size).toBe(1);
    expect(started.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect((await post('/runs', { request: 'Is it?' }, key)).status).toBe(422);
    const others = (await (await post('/runs', ask, { ...key, token: BOB })).json()) as RunId;
    expect(others.runId).not.toBe(ids[0]);
    await close();
    const again = await startServer({ chain: { journals } });
    expect(await (await again.post('/runs', ask, key)).json()).toEqual({ runId: ids[0] });
  });
});

describe('an operator', () => {
  it('gets `invalid_option` for invalid server options', async () => {
    const chain = createPostChain({ journals: memoryJournals() });
    const authorize = () => 'alice';
    for (const [options, message] of [
      [{ chain: createPostChain(), authorize }, 'received a chain without journals.'],
      [{ chain }, 'authorize: expected a function that returns the owner of a request'],
      [
        { chain, authorize, limits: { runsPerUser: 1 } },
        'limits.runsPerUser: unknown option; expected one of bodyBytes',
      ],
      [
        { chain, authorize, limits: { costPerDay: 1 } },
        'limits.costPerDay: expected prices.models["offline-extractive"]',
      ],
      [{ chain, authorize, allowedHosts: ['https://a.com'] }, 'allowedHosts.0: expected a host name without a port'],
      [{ chain, authorize, allowedOrigins: ['https://a.com/'] }, 'allowedOrigins.0: expected an origin such as'],
      [{ chain, authorize, keepAliveMs: 1e12 }, 'keepAliveMs: expected'],
      [{ chain, authorize, journals: memoryJournals() }, 'journals: unknown option; expected one of chain'],
    ] as const) {
      const error = await createServer(options as never).then(
        () => null,
        (thrown: PostChainError) => thrown,
      );
      expect([error?.code, error?.message]).toEqual(['invalid_option', expect.stringContaining(message)]);
    }
    for (const owners of [{ 'only-15-letters': 'a' }, { [`${ALICE} 1`]: 'a' }, { [ALICE]: '' }, {}, undefined, [ALICE]])
      expect(() => bearerTokens(owners as never)).toThrow('bearerTokens: expected tokens of at least 16 characters');
  });

  it('gets an OpenAPI document that matches what the server sends', async () => {
    const { get, start } = await startServer();
    const document = (await (await get('/openapi.json', { token: null })).json()) as {
      paths: object;
      components: { schemas: Record<string, object> };
    };
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/runs',
        '/runs/{id}',
        '/runs/{id}/events',
        '/v1/responses',
        '/api/chat',
        '/ag-ui',
        '/mcp',
      ]),
    );
    const runId = await start();
    const received = await collectUpdates(await get(`/runs/${runId}/events`));
    const accepts = (name: string, value: unknown): boolean =>
      z.fromJSONSchema(document.components.schemas[name] as never).safeParse(value).success;
    expect(received.every(({ update }) => accepts('RunUpdate', update))).toBe(true);
    expect(accepts('Run', await (await get(`/runs/${runId}`)).json())).toBe(true);
    expect(accepts('RunList', await (await get('/runs')).json())).toBe(true);
    expect(accepts('Run', {})).toBe(false);
  });

  it('gets metrics of requests, runs and streams, and each run', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const runs: string[] = [];
    const { get, start } = await startServer({
      meter: new MeterProvider({ readers: [reader] }).getMeter('test'),
      onRun: ({ id: runId }) => runs.push(runId),
    });
    const runId = await start();
    await collectUpdates(await get(`/runs/${runId}/events`));
    await reader.forceFlush();
    const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    expect(metrics.map(({ descriptor }) => descriptor.name).sort()).toEqual([
      'http.server.request.duration',
      'postchain.server.runs',
      'postchain.server.streams',
    ]);
    expect(runs).toEqual([runId]);
    await reader.shutdown();
  });
});
