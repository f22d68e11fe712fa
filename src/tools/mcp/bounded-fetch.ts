import { fetchWithoutTimeout } from '../../internal/http/fetch-without-timeout.ts';
import { MAX_MESSAGE_BYTES } from './wire.ts';

/**
 * The patient fetch, for MCP: an answer is read up to a bound. The stream for what a server says unasked is not opened, since nothing
 * is offered that it could ask for; one that takes up a broken answer is.
 */
export const boundedFetch: typeof globalThis.fetch = async (input, init) => {
  if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
    return new Response(null, { status: 405 });
  const { body, status, statusText, headers } = await fetchWithoutTimeout(input, init);
  return new Response(body?.pipeThrough(bounded()) ?? null, { status, statusText, headers });
};

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new Error(`an answer of more than ${MAX_MESSAGE_BYTES} bytes`));
      else controller.enqueue(piece);
    },
  });
}
