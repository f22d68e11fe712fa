import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Run } from 'postchain';

/**
 * Streams a run as server-sent events: `entry` for each journal entry (its `seq` is the event id), `answer-delta` and `answer-void` for the
 * text of the answer while it is written, and finally `answer`. The next event is read only after the last one is written, so a slow client
 * delays only itself: it gets fewer, longer deltas.
 */
export function streamRun(c: Context<{ Bindings: HttpBindings }>, run: Run, stallMs: number): Response {
  const hangUp = () => void c.env.outgoing.destroy();
  c.header('x-accel-buffering', 'no');
  return streamSSE(c, async (stream) => {
    for await (const event of run.events) {
      if (event.type === 'partial') continue;
      const data = JSON.stringify(event);
      const message = 'seq' in event ? { event: 'entry', id: String(event.seq), data } : { event: event.type, data };
      if (!(await written(stream, message, stallMs, hangUp))) return;
    }
    await written(stream, { event: 'answer', data: JSON.stringify(await run.answer) }, stallMs, hangUp);
  });
}

/**
 * Returns false once the client is gone. A client that reads nothing for `stallMs` is disconnected, which interrupts the run like any
 * other disconnect.
 */
async function written(
  stream: SSEStreamingApi,
  message: { readonly event: string; readonly id?: string; readonly data: string },
  stallMs: number,
  hangUp: () => void,
): Promise<boolean> {
  const timer = setTimeout(hangUp, stallMs);
  await stream.writeSSE(message);
  clearTimeout(timer);
  return !stream.aborted;
}
