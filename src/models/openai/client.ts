import type OpenAI from 'openai';
import type { Timers } from '../../internal/async.ts';
import { boundedBody } from '../../internal/bounded-body.ts';
import { repeatingFetch } from '../../internal/fetch-without-timeout.ts';
import { parseJson } from '../../internal/json-text.ts';
import { TransportError } from '../../internal/transport-error.ts';
import type { OpenAISettings } from './options.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Enough for a server that corrects a path. */
const MAX_REDIRECTS = 5;

/** `fetch`, for a URL. */
type FetchUrl = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Returns a `fetch` that follows redirects within one origin, so that a key and other headers reach no other server. Method and body stay
 * the same, except that a 303 changes the method to GET. `inner` must support `redirect: 'manual'`.
 *
 * The returned function rejects with a TransportError for a redirect to another origin, for one whose target is missing, invalid or hidden
 * (in browsers), and for the sixth redirect.
 */
export function sameOriginFetch(inner: FetchUrl): FetchUrl {
  return async (from, init) => {
    let url = new URL(from);
    let sent: RequestInit = { ...init, redirect: 'manual' };
    for (let redirects = 0; ; redirects += 1) {
      const response = await inner(url.href, sent);
      if (!isRedirect(response)) return response;
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS)
        throw redirectError(url, `redirected the request more than ${MAX_REDIRECTS} times; ${CHECK}`);
      url = targetOf(response, url);
      if (response.status === 303) sent = { ...sent, method: 'GET', body: null };
    }
  };
}

function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || REDIRECTS.has(status);
}

const CHECK = 'check the base URL';
const ADVICE = 'the key was not sent there; if that server is the right one, set the base URL to it';

/** Returns where a response redirects to, within the same origin, without a user and a password. */
function targetOf({ type, status, headers }: Response, from: URL): URL {
  if (type === 'opaqueredirect')
    throw redirectError(from, `redirected the request to an address that the browser hides; ${ADVICE}`);
  const location = headers.get('location');
  if (location === null)
    throw redirectError(from, `responded with status ${status} but without a Location header; ${CHECK}`);
  const target = URL.canParse(location, from.href) ? new URL(location, from) : null;
  if (target === null) throw redirectError(from, `redirected the request to something that is not a URL; ${CHECK}`);
  const { protocol, origin } = target;
  if (!/^https?:$/u.test(protocol))
    throw redirectError(from, `redirected the request to a URL with the scheme ${JSON.stringify(protocol)}; ${CHECK}`);
  if (origin !== from.origin) throw redirectError(from, `redirected the request to ${origin}; ${ADVICE}`);
  return Object.assign(target, { username: '', password: '' });
}

const redirectError = ({ origin }: URL, problem: string): TransportError =>
  new TransportError('redirected', `${origin} ${problem}`);

/** The longest delay of a Node timer: the chart's deadlines end a call, never the client's. */
const NO_TIMEOUT_MS = 2_147_483_647;

/**
 * Returns a function that loads the openai client on first use. The client never retries (the attempt chart does), sets no time limit, and
 * logs nothing. No response is larger than `maxResponseBytes`.
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
  const fetch = settings.fetch ?? repeatingFetch;
  const bounded = withBoundedBodies(sameOriginFetch(fetch), settings.maxResponseBytes);
  const readable = withReadableErrors(bounded, settings.timers);
  return new Client({
    apiKey: settings.apiKey,
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: settings.baseURL,
    organization: settings.organization,
    project: settings.project,
    defaultHeaders: settings.headers,
    fetch: (url, init) => readable(String(url), init),
    // `openaiSettings` already rejects a key in a web page.
    dangerouslyAllowBrowser: true,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
  });
}

/** Ends every response after `maxResponseBytes`, whatever it is. */
function withBoundedBodies(inner: FetchUrl, maxBytes: number): FetchUrl {
  return async (url, init) => {
    const response = await inner(url, init);
    return response.body === null ? response : withBody(response, boundedBody(response.body, maxBytes));
  };
}

function withBody({ status, statusText, headers }: Response, body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { status, statusText, headers });
}

/** An error body is read up to this size, for this time. The status is more important than the rest of its text. */
const MAX_ERROR_BYTES = 100_000;
const ERROR_BODY_MS = 2_000;

/**
 * Moves the error of a response to the member `error` of its body, the only place where the openai client looks. FastAPI (`detail`), vLLM
 * (`message`) and Mistral (`object: 'error'`) put it elsewhere.
 */
function withReadableErrors(inner: FetchUrl, timers: Timers): FetchUrl {
  return async (url, init) => {
    const response = await inner(url, init);
    if (response.status < 400 || response.body === null) return response;
    return withBody(response, withErrorMember(await startOf(response.body, timers)));
  };
}

/** Reads the start of a body as text. An error of the connection ends it, too; an abort rejects elsewhere. */
async function startOf(body: ReadableStream<Uint8Array>, timers: Timers): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const timer = timers.setTimeout(() => void reader.cancel().catch(() => {}), ERROR_BODY_MS);
  let text = '';
  try {
    for (let bytes = 0; bytes < MAX_ERROR_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // What was read so far is the text.
  } finally {
    timers.clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
  return text;
}

function withErrorMember(text: string): string {
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || ('error' in body && body.error)) return text;
  const message = 'message' in body && typeof body.message === 'string' ? body.message : text;
  return JSON.stringify({ error: { ...body, message } });
}
