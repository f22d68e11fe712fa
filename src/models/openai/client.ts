import type OpenAI from 'openai';
import type { OpenAISettings } from './options.ts';
import { withReadableErrors } from './readable-errors.ts';
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
  const fetch = settings.fetch ?? (await import('../../internal/http/fetch-without-timeout.ts')).fetchWithoutTimeout;
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
