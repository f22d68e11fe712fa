import { PostChainError } from '../../../machines/contracts/error.ts';
import { requireValidHeaders } from '../../internal/http.ts';
import { secretWords } from '../../internal/secrets.ts';
import { resolveBaseURL } from './base-url.ts';

/** How to reach a server that speaks OpenAI's chat completions. Only `model` is needed when `OPENAI_API_KEY` is set. */
export interface OpenAIModelOptions {
  readonly model: string;
  /** Default: `OPENAI_API_KEY`, read once, here. A server on loopback (Ollama, llama.cpp) needs none. */
  readonly apiKey?: string;
  /** Up to and with `/v1`, say `http://localhost:11434/v1`. Default: `OPENAI_BASE_URL`, else OpenAI itself. */
  readonly baseURL?: string;
  /** Prompt and reply together, in tokens. Default 128,000; local models are often started with far less. */
  readonly contextWindowTokens?: number;
  /** Sent with every call, over the client's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** 0..2. Default: the server's. */
  readonly temperature?: number;
  /** The longest reply, in tokens. Default: the server's. */
  readonly maxOutputTokens?: number;
  /**
   * Whether capabilities are given as tools, beside the reply that is asked for. Default true; a server that refuses them is told them
   * in words.
   */
  readonly nativeTools?: boolean;
  /**
   * How requests are sent, say through a proxy: `globalThis.fetch` with undici's dispatcher. It must let go when its `signal`
   * aborts. Default: `patientFetch`, Node's own HTTP without a time limit.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The options, checked and with their defaults. `secrets` are the texts that no message may hold. */
export interface OpenAISettings {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL: string;
  readonly contextWindowTokens: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly temperature: number | null;
  readonly maxOutputTokens: number | null;
  readonly nativeTools: boolean;
  readonly fetch: typeof globalThis.fetch | null;
  readonly now: () => number;
  readonly secrets: readonly string[];
}

/** @throws PostChainError `invalid_key` or `invalid_option`, before anything is sent. */
export function openaiSettings(options: OpenAIModelOptions): OpenAISettings {
  requireKnown(options);
  if (typeof options.model !== 'string' || options.model.trim() === '') {
    throw new PostChainError('invalid_option', "model: got no name; give the server's name of one, say 'gpt-4.1-mini'");
  }
  const url = resolveBaseURL(options.baseURL);
  const key = resolveApiKey(options.apiKey, url);
  const headers = options.headers ?? {};
  requireValidHeaders(headers);
  return {
    model: options.model.trim(),
    apiKey: key.text,
    baseURL: url.href,
    contextWindowTokens: wholeTokens('contextWindowTokens', options.contextWindowTokens) ?? 128_000,
    headers,
    temperature: checkedTemperature(options.temperature),
    maxOutputTokens: wholeTokens('maxOutputTokens', options.maxOutputTokens),
    nativeTools: checkedNativeTools(options.nativeTools),
    fetch: options.fetch ?? null,
    now: options.now ?? Date.now,
    secrets: [...(key.secret ? [key.text] : []), ...secretWords(Object.values(headers))],
  };
}

const NAMES: Readonly<Record<keyof OpenAIModelOptions, true>> = {
  model: true,
  apiKey: true,
  baseURL: true,
  contextWindowTokens: true,
  headers: true,
  temperature: true,
  maxOutputTokens: true,
  nativeTools: true,
  fetch: true,
  now: true,
};

/** A misspelt `baseURL` would send everything to OpenAI. */
function requireKnown(options: unknown): void {
  const known = Object.keys(NAMES).join(', ');
  if (typeof options !== 'object' || options === null)
    throw new PostChainError('invalid_option', `openaiModel: got ${typeof options}; give options: ${known}`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(NAMES, name));
  if (unknown === undefined) return;
  throw new PostChainError(
    'invalid_option',
    `${unknown}: there is no such option of openaiModel; give one of ${known}`,
  );
}

function wholeTokens(name: string, value: number | undefined): number | null {
  if (value === undefined) return null;
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new PostChainError('invalid_option', `${name}: got ${value}; give a whole number of tokens, at least 1`);
}

function checkedTemperature(value: number | undefined): number | null {
  if (value === undefined) return null;
  if (value >= 0 && value <= 2) return value;
  throw new PostChainError('invalid_option', `temperature: got ${value}; give a number from 0 to 2`);
}

function checkedNativeTools(value: boolean | undefined): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? true;
  throw new PostChainError('invalid_option', `nativeTools: got ${String(value)}; give true or false`);
}

/** `secret` is false for the placeholder that a local server gets, which needs no hiding. */
interface ApiKey {
  readonly text: string;
  readonly secret: boolean;
}

/**
 * The key to send: the one given, else `OPENAI_API_KEY`. A server on loopback usually needs none, so it gets a placeholder.
 * White space around a key is taken off, as it comes with most files and shells.
 *
 * @throws PostChainError `invalid_key`; the message never holds the key or a part of it.
 */
function resolveApiKey(given: string | undefined, url: URL): ApiKey {
  const from = given === undefined ? 'OPENAI_API_KEY' : 'apiKey';
  const text = (given ?? process.env['OPENAI_API_KEY'] ?? '').trim();
  if (text === '') {
    if (isLoopback(url.hostname)) return { text: 'not-needed', secret: false };
    throw new PostChainError(
      'invalid_key',
      `${from}: got no key; ${url.host} wants one; set OPENAI_API_KEY or pass apiKey (any word for a server that needs none)`,
    );
  }
  const wrong = whatIsWrong(text);
  if (wrong !== null) {
    throw new PostChainError(
      'invalid_key',
      `${from}: got a key with ${wrong}; want printable ASCII only; copy it again`,
    );
  }
  return { text, secret: true };
}

function whatIsWrong(text: string): string | null {
  if (/\s/u.test(text)) return 'white space inside';
  if (/\p{Cc}/u.test(text)) return 'control characters inside';
  return /^[!-~]+$/u.test(text) ? null : 'characters that are not ASCII';
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\])$/u.test(hostname);
}
