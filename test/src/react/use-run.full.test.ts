import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { scriptedModel } from '../../../src/models/scripted.ts';
import type { RunServer } from '../../../src/react/connection.ts';
import {
  answerEvent,
  followRun,
  type NewRun,
  type RunState,
  sendToRun,
  startRun,
} from '../../../src/react/run-client.ts';
import { useRun } from '../../../src/react/use-run.ts';
import { newRunSchema } from '../../../src/server/run-routes.ts';
import { emptyView, type RunView } from '../../../src/server/run-view.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, refunds, startServer } from '../../support/chain-server.ts';

const request = { request: 'Is it so?' };

/** Follows until the run ends, or `until` holds. */
async function follow(server: RunServer, runId: string, until: (run: RunState) => boolean = () => false) {
  const seen: RunState[] = [];
  for await (const run of followRun(() => server, runId, new AbortController().signal)) {
    seen.push(run);
    if (until(run)) break;
  }
  return seen;
}

/** A `fetch` that loses its first connections, each after the given number of bytes of the response. */
function losingFetch(bytes: readonly number[]) {
  const sent: (string | null)[] = [];
  const losing: typeof fetch = async (url, init) => {
    const { headers, body } = await fetch(url, init);
    const left = bytes[sent.length];
    sent.push(new Headers(init?.headers).get('last-event-id'));
    if (left === undefined || body === null) return new Response(body, { headers });
    async function* cut() {
      for await (const piece of body ?? []) {
        if (left) yield piece.subarray(0, left);
        throw new TypeError('network error');
      }
    }
    return new Response(ReadableStream.from(cut()) as ReadableStream<Uint8Array<ArrayBuffer>>, { headers });
  };
  return { sent, fetch: losing };
}

describe('a client that follows a run', () => {
  it('gets each state until the answer, and the last is the one that the server returns', async () => {
    const { url, get } = await startServer();
    const server = { url: `${url}/`, token: ALICE };
    const runId = await startRun(server, request);
    const seen = await follow(server, runId);
    expect(seen.at(-1)).toMatchObject({ connection: 'closed', error: null, view: { runId, status: 'ended' } });
    expect(seen.at(-1)?.view).toEqual(await (await get(`/runs/${runId}`)).json());
    expect(await startRun(server, request, 'one')).toBe(await startRun(server, request, 'one'));
  });

  it('continues after the last update that it received, however often the connection is lost', async () => {
    const { url, get } = await startServer();
    const { sent, ...losing } = losingFetch([0, 500]);
    const server = { url, token: ALICE, ...losing };
    const runId = await startRun({ url, token: ALICE }, request);
    const seen = await follow(server, runId);
    expect(seen.filter(({ connection }) => connection === 'connecting')).toMatchObject([
      { error: { message: 'network error' } },
      { error: { message: 'network error' } },
    ]);
    expect(sent).toEqual([null, null, expect.stringMatching(/^\d+\.\d+$/u)]);
    expect(seen.at(-1)?.view).toEqual(await (await get(`/runs/${runId}`)).json());
  });

  it.each([
    ['a run of another owner', { token: BOB }, 'unknown_run'],
    ['a wrong token', { token: 'wrong' }, 'unauthorized'],
    ['a page instead of a stream', { fetch: async () => new Response('<!doctype html>') }, 'not_a_stream'],
  ])('ends with the error of %s', async (_, given, code) => {
    const { url } = await startServer();
    const runId = await startRun({ url, token: ALICE }, request);
    const seen = await follow({ url, ...given }, runId);
    expect(seen.at(-1)).toMatchObject({ connection: 'closed', error: { code }, view: emptyView });
  });

  it('waits for as long as a busy server asks, and reconnects after a connection goes silent', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const stream = { headers: { 'content-type': 'text/event-stream' } };
    const responses = [
      () => Response.json({ code: 'closing', message: 'Try again.' }, { status: 503, headers: { 'retry-after': '7' } }),
      () => new Response(new ReadableStream(), stream),
    ];
    const called: number[] = [];
    const fake = async () => {
      called.push(Date.now());
      return responses[called.length - 1]?.() ?? Response.json(null, { status: 404 });
    };
    const startMs = Date.now();
    const following = follow({ url: '', fetch: fake }, 'any');
    await vi.runAllTimersAsync();
    const seen = await following;
    expect(seen.map(({ connection, error }) => [connection, (error as { code?: string } | null)?.code])).toEqual([
      ['connecting', 'closing'],
      ['open', undefined],
      ['connecting', undefined],
      ['closed', 'http_error'],
    ]);
    expect((called[1] ?? 0) - startMs).toBe(7_000);
    expect((called[2] ?? 0) - (called[1] ?? 0)).toBeGreaterThanOrEqual(60_000);
  });

  it('leaves nothing open at the server when it stops', async () => {
    const model = scriptedModel({ intention: [{ hang: true }] }, { otherwise: replies });
    const { url, health } = await startServer({ chain: { model, profile: 'thorough' } });
    const server = { url, token: ALICE };
    const runId = await startRun(server, request);
    const leaving = new AbortController();
    for await (const { view } of followRun(() => server, runId, leaving.signal))
      if (view.phases.at(-1)?.phase === 'intention') {
        expect(await health()).toMatchObject({ streams: 1 });
        leaving.abort();
      }
    await expect.poll(health).toMatchObject({ streams: 0 });
  });

  it('answers approval, consent and direction questions', async () => {
    const { refunded, chain } = refunds('A7');
    const { url } = await startServer({ chain: { ...chain, profile: 'thorough', consent: 'ask' } });
    const server = { url, token: ALICE };
    const content = `The cellar is damp. ${'It was dug in winter, beside the old well. '.repeat(40)}`;
    const runId = await startRun(server, { ...request, mode: 'manual', history: [{ role: 'user', content }] });
    const asked: string[] = [];
    for await (const { view } of followRun(() => server, runId, new AbortController().signal)) {
      const [question] = view.questions;
      if (question === undefined || asked.includes(question.questionId)) continue;
      asked.push(question.questionId);
      const event =
        question.kind === 'approval'
          ? answerEvent(question, { decision: 'approve', arguments: { order: 'B8' } })
          : question.kind === 'consent'
            ? answerEvent(question, { choice: 'keep' })
            : answerEvent(question, 'finish');
      await sendToRun(server, runId, event);
      await expect(sendToRun(server, runId, event)).rejects.toMatchObject({ status: 409 });
    }
    expect(asked).toHaveLength(3);
    expect(refunded).toEqual(['B8']);
  });
});

it('the server accepts every request that the type of the client allows', () => {
  const asked: NewRun = {
    request: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', image: 'data:image/png;base64,', mediaType: 'image/png' },
      { type: 'file', data: '', mediaType: 'application/pdf', filename: 'a.pdf' },
    ],
    history: [{ role: 'assistant', content: 'Good day.' }],
    instructions: 'Be brief.',
    mode: 'manual',
    session: 'desk',
  };
  expect(newRunSchema.parse(asked)).toEqual(asked);
});

describe('useRun, rendered by a server', () => {
  const rendered = (runId: string | null, initialView?: RunView): string =>
    renderToString(
      createElement(() => {
        const { view, connection } = useRun({ url: '' }, runId, initialView);
        return `${connection}: ${view.text}`;
      }),
    );

  it('shows an initial view only if it is of this run', () => {
    const view = { ...emptyView, runId: 'one', text: 'Yes' };
    expect(rendered(null)).toBe('idle: ');
    expect(rendered('one')).toBe('connecting: ');
    expect(rendered('one', view)).toBe('connecting: Yes');
    expect(rendered('two', view)).toBe('connecting: ');
  });
});
