import { once } from 'node:events';
import { serve } from '@hono/node-server';
import { EventSourceParserStream } from 'eventsource-parser/stream';

/**
 * Serves a handler of requests on a free loopback port, for as long as the process runs, and returns its origin.
 *
 * @param {(request: Request) => Response | Promise<Response>} handle
 */
export async function served(handle) {
  const http = serve({ fetch: handle, hostname: '127.0.0.1', port: 0 });
  await once(http, 'listening');
  return `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (http.address()).port}`;
}

/**
 * Posts JSON and yields the data of the server-sent events of the response, parsed.
 *
 * @param {string} url
 * @param {object} body
 * @returns {AsyncGenerator<any>}
 */
export async function* posted(url, body) {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok || response.body === null) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) if (data !== '[DONE]') yield JSON.parse(data);
}
