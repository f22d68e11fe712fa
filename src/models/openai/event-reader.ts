/**
 * Reads server-sent events from bytes that may be cut anywhere, each byte once. An event is given as its data lines and a blank
 * one; its other lines, comments and events without data are left out. Any line end counts, a BOM at the start does not.
 */
export class EventReader {
  readonly #decoder = new TextDecoder();
  #line = '';
  #data: string[] = [];
  #isAfterReturn = false;

  /** The events that these bytes complete. */
  read(bytes: Uint8Array): string[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** A last event that no blank line ended, when its JSON is whole. */
  end(): string[] {
    const events = this.#take(`${this.#decoder.decode()}\n`);
    return isJson(this.#data.join('\n')) ? [...events, ...this.#take('\n')] : events;
  }

  #take(text: string): string[] {
    if (text === '') return [];
    const fresh = this.#isAfterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#isAfterReturn = text.endsWith('\r');
    const lines = fresh.split(/\r\n|\n|\r/u);
    const rest = lines.pop() ?? '';
    const events = lines.flatMap((line) => this.#endLine(line));
    this.#line += rest;
    return events;
  }

  #endLine(end: string): string[] {
    const line = this.#line + end;
    this.#line = '';
    if (line.startsWith('data:')) this.#data.push(line.slice('data:'.length));
    if (line !== '') return [];
    const data = this.#data;
    this.#data = [];
    return data.every((text) => text.trim() === '') ? [] : [`${data.map((text) => `data:${text}\n`).join('')}\n`];
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
