import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type ServerSentEvent, sseResponse } from '../../../src/server/sse.ts';
import { TestClock } from '../../support/simulated-clock.ts';

const text = (chunk: { readonly value?: unknown }): string => new TextDecoder().decode(chunk.value as Uint8Array);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function streamed(events: AsyncGenerator<ServerSentEvent, void>) {
  const clock = new TestClock();
  const state = { ends: 0 };
  const onEnd = (): void => {
    state.ends += 1;
  };
  const reader = sseResponse(events, { clock, keepAliveMs: 100, writeTimeoutMs: 1_000, onEnd }).body?.getReader();
  if (reader === undefined) throw new Error('expected a body');
  return { clock, state, reader };
}

describe('a stream of server-sent events', () => {
  it('sends each event after the client has read the one before it, and ends', async () => {
    const read: number[] = [];
    const { state, reader, clock } = streamed(
      (async function* () {
        for (const id of [1, 2, 3]) {
          read.push(id);
          yield { id: `${id}.0`, data: `{"at":${id}}` };
        }
      })(),
    );
    await turn();
    expect(read).toEqual([1]);
    expect(text(await reader.read())).toBe('id: 1.0\ndata: {"at":1}\n\n');
    await reader.read();
    await reader.read();
    expect((await reader.read()).done).toBe(true);
    expect([state.ends, clock.openTimers]).toEqual([1, 0]);
  });

  it('sends a comment while it is idle', async () => {
    let arrive = (): void => {};
    const arrival = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const { clock, reader } = streamed(
      (async function* () {
        await arrival;
        yield { data: '1' };
      })(),
    );
    for (let times = 0; times < 3; times += 1) {
      const comment = reader.read();
      await turn();
      clock.increment(100);
      expect(text(await comment)).toBe(': keep-alive\n\n');
    }
    arrive();
    expect(text(await reader.read())).toBe('data: 1\n\n');
  });

  it('ends when the client stops reading for too long', async () => {
    const { clock, state, reader } = streamed(
      (async function* () {
        for (;;) yield { data: '1' };
      })(),
    );
    await turn();
    clock.increment(999);
    expect(state.ends).toBe(0);
    clock.increment(1);
    expect([state.ends, clock.openTimers]).toEqual([1, 0]);
    const error: unknown = await reader.read().catch((reason: unknown) => reason);
    // As the adapter for Node.js prints it.
    expect(inspect(error)).toBe('[Error: the client stopped reading]');
  });

  it('stops reading when the client disconnects', async () => {
    let isStopped = false;
    const { state, reader, clock } = streamed(
      (async function* () {
        try {
          for (;;) yield { data: '1' };
        } finally {
          isStopped = true;
        }
      })(),
    );
    await reader.read();
    await reader.cancel();
    await turn();
    expect([isStopped, state.ends, clock.openTimers]).toEqual([true, 1, 0]);
  });
});
