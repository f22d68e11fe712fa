import { createParser } from 'eventsource-parser';

type Fetch = typeof globalThis.fetch;

/**
 * The openai client takes an event without data (a keep-alive of some servers) for broken JSON, loses a last event that no blank
 * line follows, and copies all that has come anew for each event. This fetch hands it whole events, one at a time.
 */
export function withWholeEvents(inner: Fetch): Fetch {
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
        for (let done = false, told = 0; !done && told === 0; ) {
          const piece = await source.read();
          done = piece.done;
          const whole = piece.done ? events.end() : events.read(piece.value);
          for (const event of whole) controller.enqueue(encoder.encode(event));
          told = whole.length;
          if (done) controller.close();
        }
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/**
 * Reads server-sent events from bytes that may be cut anywhere. An event is given as its data lines and a blank one; all else of it,
 * comments, and events without data are left out.
 */
class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      if (data.trim() !== '') this.#data.push(data);
    },
  });
  #data: string[] = [];

  /** The events that these bytes complete. */
  read(bytes: Uint8Array): string[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#taken().map(eventOf);
  }

  /** A last event that no blank line ended, when its JSON is whole. */
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
