import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Timers } from '../../internal/async.ts';
import { isLoopback } from '../../internal/loopback.ts';
import { acceptsSchema, functionSchema, hasMethod, parseOption, requireValidHeaders } from '../../internal/options.ts';
import { headerSecrets, secretWords } from '../../internal/secrets.ts';

/** The APIs for a reply: chat completions, which most servers have, and OpenAI's newer Responses API. */
const APIS = ['chat', 'responses'] as const;
export type OpenAIApi = (typeof APIS)[number];

const SUMMARIES = ['auto', 'concise', 'detailed'] as const;

/** How to reach a server with one of OpenAI's APIs. Only `model` is required if `OPENAI_API_KEY` is set. */
export interface OpenAIModelOptions {
  readonly model: string;
  /**
   * Default: chat completions, or the Responses API if the server reports that the model requires it. Replies are not stored on the
   * server (`store: false`).
   */
  readonly api?: OpenAIApi;
  /**
   * Default: `OPENAI_API_KEY`, read when the model is created. A server on loopback (Ollama, llama.cpp) needs none. If `apiKey: undefined` is
   * passed, for example from an unset environment variable, `OPENAI_API_KEY` is used for OpenAI only.
   */
  readonly apiKey?: string | undefined;
  /** Including `/v1`, for example `http://localhost:11434/v1`. Default: `OPENAI_BASE_URL`, otherwise OpenAI. */
  readonly baseURL?: string;
  /** The size of the context window (prompt and reply together), in tokens. Default: 128,000. Local models often have far less. */
  readonly contextWindowTokens?: number;
  /** Sent with every call. They override the client's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** From 0 to 2. Default: the server's. */
  readonly temperature?: number;
  /** The maximum length of a reply, in tokens. Default: the server's. */
  readonly maxOutputTokens?: number;
  /** How long a reasoning model thinks, for example `low`. The values depend on the model. Default: the server's. */
  readonly reasoningEffort?: string;
  /**
   * Requests a summary of the reasoning, which shows that a model that thinks for long is alive. Requires `api: 'responses'`. Default: none.
   */
  readonly reasoningSummary?: (typeof SUMMARIES)[number];
  /** The processing tier, for example `flex` or `priority`. Default: the server's. */
  readonly serviceTier?: string;
  /** Groups requests with the same beginning, which increases hits in the server's cache. Default: none. */
  readonly promptCacheKey?: string;
  /** The organization that is billed, as the header `OpenAI-Organization`. Default: `OPENAI_ORG_ID`, sent to OpenAI only. */
  readonly organization?: string;
  /** The project that is billed, as the header `OpenAI-Project`. Default: `OPENAI_PROJECT_ID`, sent to OpenAI only. */
  readonly project?: string;
  /**
   * Media types of the files that the model reads, for example `['image/*', 'application/pdf']`. Default: none, because many compatible
   * servers serve models that read text only.
   */
  readonly accepts?: readonly string[];
  /** Whether capabilities are offered as native tools. Default: true. If the server rejects them, they are described in the prompt. */
  readonly nativeTools?: boolean;
  /**
   * Whether replies are streamed. Default: true. If false, the server sends one JSON response, which arrives as one part: there are no
   * earlier partial values, and `firstChunkMs` must allow for the whole reply.
   */
  readonly stream?: boolean;
  /** The maximum size of one response, decompressed. A larger one is cut off and fails. Default: 32,000,000. */
  readonly maxResponseBytes?: number;
  /**
   * Sends the requests, and must stop when its `signal` aborts. Default: in Node, its HTTP client without a timeout, through the proxy in
   * `HTTPS_PROXY` or `HTTP_PROXY` unless `NO_PROXY` lists the host; elsewhere, the platform's `fetch`.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** Allows a key in a web page, where everyone who opens the page can read it. Default: false. */
  readonly dangerouslyAllowBrowser?: boolean;
  /** Returns milliseconds since the epoch, for a `Retry-After` with a date. Default: `Date.now`. */
  readonly now?: () => number;
  /** The timers for the short waits after a whole reply and for an error's text. Default: the system's. */
  readonly clock?: Timers;
}

/** No message may contain one of `secrets`. */
export type OpenAISettings = ReturnType<typeof openaiSettings>;

const systemTimers: Timers = {
  setTimeout: (fn, timeoutMs) => setTimeout(fn, timeoutMs),
  clearTimeout: (id) => clearTimeout(id as ReturnType<typeof setTimeout>),
};

const modelName = 'expected the name of a model on the server, for example "gpt-4.1-mini"';

const word = z.optional(z.string().check(z.trim(), z.minLength(1)));
const headerWord = z.optional(
  z.string().check(z.trim(), z.regex(/^[!-~]+$/u, 'expected printable ASCII without spaces')),
);

/** Strict, because with a misspelled `baseURL`, everything would be sent to OpenAI. */
export const modelOptionsSchema = z.strictObject({
  model: z.string(modelName).check(z.trim(), z.minLength(1, modelName)),
  api: z.optional(z.enum(APIS)),
  apiKey: z.optional(z.string()),
  baseURL: z.optional(z.string()),
  contextWindowTokens: z._default(z.int().check(z.gte(1)), 128_000),
  headers: z._default(z.record(z.string(), z.string()), {}),
  temperature: z.optional(z.number().check(z.gte(0), z.lte(2))),
  maxOutputTokens: z.optional(z.int().check(z.gte(1))),
  reasoningEffort: word,
  reasoningSummary: z.optional(z.enum(SUMMARIES)),
  serviceTier: word,
  promptCacheKey: word,
  organization: headerWord,
  project: headerWord,
  accepts: z._default(acceptsSchema, []),
  nativeTools: z._default(z.boolean(), true),
  stream: z._default(z.boolean(), true),
  maxResponseBytes: z._default(z.int().check(z.gte(1)), 32_000_000),
  fetch: z.optional(functionSchema),
  dangerouslyAllowBrowser: z._default(z.boolean(), false),
  clock: z.optional(hasMethod('setTimeout', 'expected a clock with setTimeout and clearTimeout')),
  now: z.optional(functionSchema),
});

/** @throws PostChainError `invalid_key` or `invalid_option` */
export function openaiSettings(options: OpenAIModelOptions) {
  const read = parseOption(modelOptionsSchema, options, 'options of openaiModel');
  if (read.reasoningSummary !== undefined && read.api !== 'responses')
    throw new PostChainError(
      'invalid_option',
      `reasoningSummary requires the Responses API; add api: "responses" or remove "reasoningSummary"`,
    );
  const url = resolveBaseURL(options.baseURL);
  const key = resolveApiKey(options, url);
  if (key.secret && isWebPage() && !read.dangerouslyAllowBrowser)
    throw new PostChainError(
      'invalid_key',
      'apiKey would be readable by everyone who opens this page; send requests through your own server (baseURL), or pass dangerouslyAllowBrowser: true',
    );
  requireValidHeaders(read.headers);
  // Null, not undefined, for which the openai client reads the environment.
  const account = (given: string | undefined, variable: string): string | null =>
    given ?? (isOpenAI(url.href) ? environment(variable)?.trim() || null : null);
  const organization = account(read.organization, 'OPENAI_ORG_ID');
  const project = account(read.project, 'OPENAI_PROJECT_ID');
  return {
    ...read,
    apiKey: key.text,
    baseURL: url.href,
    organization,
    project,
    fetch: options.fetch,
    timers: options.clock ?? systemTimers,
    now: options.now ?? Date.now,
    secrets: [
      ...(key.secret ? [key.text] : []),
      ...secretWords([organization ?? '', project ?? '']),
      ...headerSecrets(read.headers),
    ] as readonly string[],
  };
}

/** `secret` is false for the placeholder sent to a local server. */
interface ApiKey {
  readonly text: string;
  readonly secret: boolean;
}

/**
 * Returns the given key, otherwise `OPENAI_API_KEY`. If `apiKey: undefined` is passed for another company's server, that key is not used. A
 * server on loopback usually needs none and gets a placeholder. Surrounding white space, common in files and shells, is removed.
 *
 * @throws PostChainError `invalid_key`. The message never contains the key or a part of it.
 */
function resolveApiKey(options: Pick<OpenAIModelOptions, 'apiKey'>, url: URL): ApiKey {
  const { apiKey: given } = options;
  const from = given === undefined ? 'OPENAI_API_KEY' : 'apiKey';
  const isForgotten = given === undefined && 'apiKey' in options && !isOpenAI(url.href);
  const text = (given ?? (isForgotten ? '' : environment('OPENAI_API_KEY')) ?? '').trim();
  if (text === '') {
    if (isLoopback(url.hostname)) return { text: 'not-needed', secret: false };
    const advice = isForgotten
      ? '"apiKey" is undefined; set the environment variable that it is read from'
      : 'set OPENAI_API_KEY or pass "apiKey"';
    throw new PostChainError(
      'invalid_key',
      `${url.host} requires an API key; ${advice} (any text if the server needs none)`,
    );
  }
  const wrong = invalidPart(text);
  if (wrong !== null) {
    throw new PostChainError(
      'invalid_key',
      `${from} must be printable ASCII, but contains ${wrong}; copy the key again`,
    );
  }
  return { text, secret: true };
}

function invalidPart(text: string): string | null {
  if (/\s/u.test(text)) return 'white space';
  if (/\p{Cc}/u.test(text)) return 'control characters';
  return /^[!-~]+$/u.test(text) ? null : 'non-ASCII characters';
}

/** A browser has no environment variables. */
const environment = (name: string): string | undefined => globalThis.process?.env?.[name];

function isWebPage(): boolean {
  const { window, document } = globalThis as { readonly window?: unknown; readonly document?: unknown };
  return window !== undefined && document !== undefined;
}

const OPENAI = 'https://api.openai.com/v1';

/**
 * Returns the given URL, otherwise `OPENAI_BASE_URL`, otherwise OpenAI's.
 *
 * @throws PostChainError `invalid_option` for anything but a plain http(s) URL. The message does not quote text that may contain a secret.
 */
function resolveBaseURL(given: string | undefined): URL {
  const from = given === undefined ? 'OPENAI_BASE_URL' : 'baseURL';
  const text = (given ?? environment('OPENAI_BASE_URL') ?? '').trim();
  if (text === '' && given === undefined) return new URL(OPENAI);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/u.test(url.protocol)) {
    const received =
      url === null ? 'something that is not a URL' : `a URL with the scheme ${JSON.stringify(url.protocol)}`;
    throw new PostChainError(
      'invalid_option',
      `${from} must be an http or https URL, for example http://localhost:11434/v1; received ${received}`,
    );
  }
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') {
    const message = `${from} must have no user, query or fragment; received one with host ${url.host}; use "apiKey" or "headers" instead`;
    throw new PostChainError('invalid_option', message);
  }
  return url;
}

/** Whether a URL is OpenAI's. Its newest models reject `max_tokens`; many other servers support nothing else. */
export function isOpenAI(baseURL: string): boolean {
  // Also regional hosts, for example eu.api.openai.com.
  return /^(?:[a-z]{2}\.)?api\.openai\.com$/u.test(new URL(baseURL).hostname);
}
