import { createParser } from 'eventsource-parser';
import type OpenAI from 'openai';
import { linkSignals } from '../../internal/async.ts';
import type { OpenAISettings } from './options.ts';

/** The longest delay of a Node timer: the chart's deadlines end a call, never the client's. */
const NO_TIMEOUT_MS = 2_147_483_647;

/**
 * Returns a function that loads the openai client on first use. The client never retries (the attempt chart does), sets no time limit, and
 * logs nothing.
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
  const fetch = settings.fetch ?? (await import('../../internal/fetch-without-timeout.ts')).fetchWithoutTimeout;
  return new Client({
    apiKey: settings.apiKey,
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: settings.baseURL,
    defaultHeaders: settings.headers,
    fetch: withWholeEvents(withReadableErrors(fetch)),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
  });
}

/**
 * Moves the error of a response to the member `error` of its body, the only place where the openai client looks. FastAPI (`detail`), vLLM
 * (`message`) and Mistral (`object: 'error'`) put it elsewhere.
 */
function withReadableErrors(inner: Fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.status < 400) return response;
    const { status, statusText, headers } = response;
    return new Response(withErrorMember(await response.text()), { status, statusText, headers });
  };
}

function withErrorMember(text: string): string {
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

type Fetch = typeof globalThis.fetch;

/**
 * Passes whole server-sent events to the openai client, one at a time. The client itself fails on an event without data (a keep-alive of
 * some servers), loses a last event without a blank line after it, and takes quadratic time for large replies.
 */
function withWholeEvents(inner: Fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    const { ok, body, status, statusText, headers } = response;
    if (!ok || body === null || headers.get('content-type')?.includes('json')) return response;
    return new Response(wholeEvents(body), { status, statusText, headers });
  };
}

function wholeEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const source = body.getReader();
  const events = new EventReader();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (let done = false, sent = 0; !done && sent === 0; ) {
          const piece = await source.read();
          done = piece.done;
          const whole = piece.done ? events.end() : events.read(piece.value);
          for (const event of whole) controller.enqueue(encoder.encode(event));
          sent = whole.length;
          if (done) controller.close();
        }
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Reads server-sent events from bytes cut at any position. Returns each event as its data lines and a blank line; omits the rest. */
class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      if (data.trim() !== '') this.#data.push(data);
    },
  });
  #data: string[] = [];

  /** Returns the events completed by these bytes. */
  read(bytes: Uint8Array): string[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#taken().map(eventOf);
  }

  /** Returns a last event without a blank line after it if its JSON is complete. */
  end(): string[] {
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
    return this.#taken().filter(isJson).map(eventOf);
  }

  #taken(): readonly string[] {
    const taken = this.#data;
    this.#data = [];
    return taken;
  }
}

function eventOf(data: string): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return `${lines.join('')}\n`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `signal` aborts with the caller's. `release` aborts it, to end anything that still uses it, and removes the listener. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/**
 * Returns a signal for one call. The openai client and `fetch` never remove their listeners, so they must not get the caller's signal,
 * which may live as long as the program.
 */
export function linkedSignal(caller: AbortSignal): LinkedSignal {
  const { signal, abort, forget } = linkSignals(caller);
  return {
    signal,
    release: () => {
      forget();
      abort();
    },
  };
}
