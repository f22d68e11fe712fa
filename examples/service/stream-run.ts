import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Run } from 'postchain';

/**
 * A run as server-sent events: `entry` for each entry of its journal (its `seq` is the id), `partial` for the reply under way, and
 * last `answer`. The next event is asked for when the last is on its way, so a slow reader slows nothing down but itself: what it
 * misses are partial values, of which it gets the newest.
 */
export function streamRun(c: Context<{ Bindings: HttpBindings }>, run: Run, stallMs: number): Response {
  const hangUp = () => void c.env.outgoing.destroy();
  c.header('x-accel-buffering', 'no');
  return streamSSE(c, async (stream) => {
    for await (const event of run.events) {
      const isPartial = event.type === 'partial';
      const data = JSON.stringify(event);
      const message = isPartial ? { event: 'partial', data } : { event: 'entry', id: String(event.seq), data };
      if (!(await written(stream, message, stallMs, hangUp))) return;
    }
    await written(stream, { event: 'answer', data: JSON.stringify(await run.answer) }, stallMs, hangUp);
  });
}

/** False once the reader is gone. One that took nothing for `stallMs` is hung up on, which interrupts the run like any disconnect. */
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
