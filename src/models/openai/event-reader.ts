import { createParser } from 'eventsource-parser';

/**
 * Reads server-sent events from bytes that may be cut anywhere. An event is given as its data lines and a blank one; all else of it,
 * comments, and events without data are left out.
 */
export class EventReader {
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
