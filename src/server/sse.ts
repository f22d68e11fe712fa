import { type BodyStreamOptions, bodyStream } from './body-stream.ts';

/** A server-sent event. `data` is one line. */
export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: string;
}

export interface StreamOptions extends BodyStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a response that streams the events. */
export function sseResponse(events: AsyncGenerator<ServerSentEvent, void>, options: StreamOptions): Response {
  return new Response(bodyStream(encoded(events), options), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...options.headers,
    },
  });
}

async function* encoded(events: AsyncGenerator<ServerSentEvent, void>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  for await (const event of events) yield encoder.encode(textOf(event));
}

function textOf({ event, id, data }: ServerSentEvent): string {
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
