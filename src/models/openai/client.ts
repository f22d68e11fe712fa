import type OpenAI from 'openai';
import type { OpenAISettings } from './options.ts';
import { withWholeEvents } from './whole-events.ts';

/** The longest time that a Node timer can hold: the chart's deadlines end a call, never the client's. */
const NEVER_MS = 2_147_483_647;

/**
 * The openai client, loaded at the first call so that importing PostChain costs nothing. It never retries (the attempt chart
 * does), never times out by itself and prints nothing, not even what it cannot parse.
 */
export function lazyClient(settings: OpenAISettings): () => Promise<OpenAI> {
  let client: Promise<OpenAI> | undefined;
  return () => {
    client ??= load(settings);
    return client;
  };
}

async function load(settings: OpenAISettings): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai');
  const fetch = settings.fetch ?? (await import('../../internal/http.ts')).fetchWithoutTimeout;
  return new Client({
    apiKey: settings.apiKey,
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: settings.baseURL,
    defaultHeaders: settings.headers,
    fetch: withWholeEvents(withReadableErrors(fetch)),
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
  });
}

type Fetch = typeof globalThis.fetch;

/**
 * The openai client reads an error only from the member `error` of its body; FastAPI (`detail`), vLLM (`message`) and Mistral
 * (`object: 'error'`) put it elsewhere, and the client then says "(no body)". This fetch puts such a body where it is looked for.
 */
function withReadableErrors(inner: Fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.status < 400) return response;
    const { status, statusText, headers } = response;
    return new Response(readable(await response.text()), { status, statusText, headers });
  };
}

function readable(text: string): string {
  const body = parsed(text);
  if (typeof body !== 'object' || body === null || ('error' in body && body.error)) return text;
  const message = 'message' in body && typeof body.message === 'string' ? body.message : text;
  return JSON.stringify({ error: { ...body, message } });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
