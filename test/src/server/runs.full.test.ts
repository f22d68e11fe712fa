import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { memoryJournals } from '../../../src/chain/journal/stores.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { emptyView, nextView } from '../../../src/server/run-view.ts';
import { runUpdateSchema } from '../../../src/server/updates.ts';
import { replies } from '../../../src/testing/replies.ts';
import { BOB, collectUpdates, startServer, updatesIn } from '../../support/chain-server.ts';

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

  it('continues a stream after the event that the client received last', async () => {
    const { get, post } = await startServer();
    const { runId } = (await (await post('/runs', { request: 'Is it so?' })).json()) as RunId;
    const all = await collectUpdates(await get(`/runs/${runId}/events`));
    for (const at of [0, 3, all.length - 2, all.length - 1]) {
      const headers = { 'last-event-id': all[at]?.id ?? '' };
      expect(await collectUpdates(await get(`/runs/${runId}/events`, { headers }))).toEqual(all.slice(at + 1));
    }
  });

  it('shows a run to its owner only', async () => {
    const { get, post } = await startServer();
    const { runId } = (await (await post('/runs', { request: 'Is it so?' })).json()) as RunId;
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
    const { get, post } = await startServer({ chain: { profile: 'thorough' } });
    const { runId } = (await (await post('/runs', { request: 'Is it so?', mode: 'manual' })).json()) as {
      runId: string;
    };
    const types: string[] = [];
    for await (const { update } of updatesIn(await get(`/runs/${runId}/events`))) {
      types.push(update.type);
      if (update.type === 'question')
        await post(`/runs/${runId}/events`, { type: 'run.finished', questionId: update.question.questionId });
    }
    expect(types.indexOf('question-closed')).toBeLessThan(types.lastIndexOf('progress'));
  });
});

describe('a repeated request', () => {
  it('with the same idempotency key gets the same run, also at the same time and after a restart', async () => {
    const journals = memoryJournals();
    const key = { headers: { 'idempotency-key': 'order-17' } };
    const { post, close } = await startServer({ journals });
    const ask = { request: 'Is it so?' };
    const started = await Promise.all([1, 2, 3].map(() => post('/runs', ask, key)));
    const ids = await Promise.all(started.map(async (response) => ((await response.json()) as RunId).runId));
    expect(new Set(ids).size).toBe(1);
    expect(started.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect((await post('/runs', { request: 'Is it?' }, key)).status).toBe(422);
    const others = (await (await post('/runs', ask, { ...key, token: BOB })).json()) as RunId;
    expect(others.runId).not.toBe(ids[0]);
    await close();
    const again = await startServer({ journals });
    expect(await (await again.post('/runs', ask, key)).json()).toEqual({ runId: ids[0] });
  });
});

describe('what operators get', () => {
  it('is an OpenAPI document that accepts what the server sends', async () => {
    const { get, post } = await startServer();
    const document = (await (await get('/openapi.json', { token: null })).json()) as {
      paths: object;
      components: { schemas: Record<string, object> };
    };
    expect(Object.keys(document.paths)).toEqual(['/runs', '/runs/{id}', '/runs/{id}/events']);
    const { runId } = (await (await post('/runs', { request: 'Is it so?' })).json()) as RunId;
    const received = await collectUpdates(await get(`/runs/${runId}/events`));
    const accepts = (name: string, value: unknown): boolean =>
      z.fromJSONSchema(document.components.schemas[name] as never).safeParse(value).success;
    expect(received.every(({ update }) => accepts('RunUpdate', update))).toBe(true);
    expect(accepts('Run', await (await get(`/runs/${runId}`)).json())).toBe(true);
    expect(accepts('RunList', await (await get('/runs')).json())).toBe(true);
    expect(accepts('Run', {})).toBe(false);
  });

  it('are metrics of requests, runs and streams, and each run', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const runs: string[] = [];
    const { get, post } = await startServer({
      meter: new MeterProvider({ readers: [reader] }).getMeter('test'),
      onRun: ({ runId }) => runs.push(runId),
    });
    const { runId } = (await (await post('/runs', { request: 'Is it so?' })).json()) as RunId;
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
