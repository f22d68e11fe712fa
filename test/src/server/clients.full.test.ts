import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, collectUpdates, startServer, updatesIn } from '../../support/chain-server.ts';
import { neverSettles, partModel, textPart } from '../../support/scripted-models.ts';

const request = { request: 'Is it so?' };
const asStream = { headers: { accept: 'text/event-stream' } };
const content = `The cellar is damp. ${'It was dug in winter, beside the old well. '.repeat(40)}`;
const hangingModel = () => scriptedModel({ intention: [{ hang: true }] }, { otherwise: replies });
const asking = { profile: 'thorough', consent: 'ask' } as const;

async function errorOf(response: Response) {
  const { code, message } = (await response.json()) as { code: string; message: string };
  return { status: response.status, code, message };
}

describe('a client that disconnects', () => {
  it('leaves its run in progress, and only its stream ends', async () => {
    const reading = partModel([neverSettles]);
    const { health, post } = await startServer({ chain: { model: reading } });
    const leaving = new AbortController();
    const updates = updatesIn(await post('/runs', request, { ...asStream, signal: leaving.signal }));
    await updates.next();
    await expect.poll(() => reading.open()).toBe(1);
    expect(await health()).toEqual({ status: 'ok', runs: 1, streams: 1 });
    leaving.abort();
    await expect.poll(health).toEqual({ status: 'ok', runs: 1, streams: 0 });
    expect(reading.open()).toBe(1);
  });

  it('no longer counts as a stream, even if it disconnects before its run has started', async () => {
    const { direct, health } = await startServer({ chain: { model: hangingModel(), profile: 'thorough' } });
    const leaving = new AbortController();
    const body = { messages: [{ role: 'user', content: 'Is it so?' }] };
    const answered = direct.post('/v1/chat/completions', body, { signal: leaving.signal });
    leaving.abort();
    await answered;
    expect(await health()).toMatchObject({ runs: 1, streams: 0 });
  });

  it('leaves no stream open after a HEAD request', async () => {
    const { get, start, health } = await startServer({ chain: { model: hangingModel(), profile: 'thorough' } });
    expect((await get(`/runs/${await start()}/events`, { method: 'HEAD' })).status).toBe(200);
    expect(await health()).toMatchObject({ streams: 0 });
  });

  it('is disconnected after it stops reading for a while', async () => {
    const much = Array.from({ length: 6 }, () => textPart('x'.repeat(3_000_000)));
    const endless = partModel([textPart('{"answer":"'), ...much, neverSettles]);
    const { port, health } = await startServer({
      chain: { model: endless, limits: { maxReplyChars: 20_000_000 } },
      writeTimeoutMs: 50,
    });
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    const body = JSON.stringify(request);
    const head = `POST /runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ALICE}\r\nAccept: text/event-stream\r\nContent-Type: application/json`;
    socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await expect.poll(health).toMatchObject({ streams: 1 });
    await expect.poll(health).toMatchObject({ streams: 0 });
  });
});

describe('sending events to a run', () => {
  it.each(['keep', 'summarize', 'remove'])('delivers consent to %s to the run that asked', async (choice) => {
    const { post, get } = await startServer({ chain: asking, exposeJournal: true });
    const response = await post('/runs', { ...request, history: [{ role: 'user', content }] }, asStream);
    const path = response.headers.get('location');
    for await (const { update } of updatesIn(response)) {
      if (update.type !== 'question') continue;
      const { questionId } = update.question;
      const late = { type: 'consent.given', questionId: 's1.consent', choice: 'remove' };
      expect(await errorOf(await post(`${path}/events`, late))).toEqual({
        status: 409,
        code: 'answer_refused',
        message: `The event had no effect: the answer is to s1.consent; the pending question is ${questionId}.`,
      });
      const reply = await post(`${path}/events`, { type: 'consent.given', questionId, choice });
      expect(reply.status).toBe(204);
    }
    const { entries } = (await (await get(`${path}/journal`)).json()) as { entries: object[] };
    const settled = { keep: { kept: 1 }, summarize: { summarized: 1 }, remove: { removed: 1 } }[choice];
    expect(entries).toContainEqual(expect.objectContaining({ type: 'consent-resolved', by: 'user', ...settled }));
  });

  it.each([
    [
      { type: 'run.cancelled', reason: 'enough' },
      { status: 'cancelled', metadata: { reason: 'cancelled' } },
    ],
    [{ type: 'run.finished' }, { answerText: 'It is so, for certain.' }],
    [{ type: 'run.directed', phase: 'yield' }, { status: 'completed' }],
  ])('%j ends in an answer on the stream', async (event, answer) => {
    const { post } = await startServer({ chain: { ...asking, model: hangingModel() } });
    const response = await post('/runs', request, asStream);
    const path = `${response.headers.get('location')}/events`;
    let last: unknown;
    for await (const { update } of updatesIn(response)) {
      last = update;
      if (update.type === 'phase' && update.phase === 'intention' && update.state === 'started')
        expect((await post(path, event)).status).toBe(204);
    }
    expect(last).toMatchObject({ type: 'answer', answer });
  });

  it('rejects events for runs that have ended or do not exist', async () => {
    const { post } = await startServer();
    const response = await post('/runs', request, asStream);
    await collectUpdates(response);
    const event = { type: 'run.cancelled' };
    const ended = await post(`${response.headers.get('location')}/events`, event);
    expect(await errorOf(ended)).toMatchObject({ status: 409, code: 'run_ended' });
    for (const id of ['nobody', '__proto__', '..%2F..%2Fetc', '%00']) {
      const reply = await post(`/runs/${id}/events`, event);
      expect({ id, ...(await errorOf(reply)) }).toMatchObject({ id, status: 404, code: 'unknown_run' });
    }
  });
});
