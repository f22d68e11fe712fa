import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { emptyView, nextView } from '../../../src/server/run-view.ts';
import { runUpdateSchema } from '../../../src/server/updates.ts';
import { replies } from '../../../src/testing/replies.ts';
import { BOB, collectUpdates, startServer } from '../../support/chain-server.ts';

describe('runs as resources', () => {
  it('starts a run, streams it to its answer, and shows it afterwards', async () => {
    const { get, post } = await startServer({
      chain: { model: scriptedModel({}, { otherwise: replies, chunkChars: 4 }) },
    });
    const started = await post('/runs', { request: 'Is it so?' });
    expect(started.status).toBe(201);
    const { runId } = (await started.json()) as { runId: string };
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
    const { runId } = (await (await post('/runs', { request: 'Is it so?' })).json()) as { runId: string };
    const all = await collectUpdates(await get(`/runs/${runId}/events`));
    for (const at of [0, 3, all.length - 2, all.length - 1]) {
      const headers = { 'last-event-id': all[at]?.id ?? '' };
      expect(await collectUpdates(await get(`/runs/${runId}/events`, { headers }))).toEqual(all.slice(at + 1));
    }
  });

  it('shows a run to its owner only', async () => {
    const { get, post } = await startServer();
    const { runId } = (await (await post('/runs', { request: 'Is it so?' })).json()) as { runId: string };
    const missing = await (await get('/runs/none', { token: BOB })).text();
    for (const path of [`/runs/${runId}`, `/runs/${runId}/events`]) {
      const refused = await get(path, { token: BOB });
      expect([refused.status, await refused.text()]).toEqual([404, missing]);
    }
    const sent = await post(`/runs/${runId}/events`, { type: 'run.cancelled' }, { token: BOB });
    expect([sent.status, await sent.text()]).toEqual([404, missing]);
    expect(await (await get('/runs', { token: BOB })).json()).toEqual({ runs: [] });
  });
});
