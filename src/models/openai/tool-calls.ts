import type { ModelPart } from '../../../machines/contracts/model.ts';
import { BracketBalance } from '../../internal/json-text.ts';
import { MAX_CALLS, type ToolCallEntry } from './reply-chunk.ts';
import type { ToolNames } from './request-body.ts';

type ToolCallDelta = Extract<ModelPart, { type: 'tool-call-delta' }>;

/** One entry of `tool_calls`, with arguments as text: a few servers send them parsed. */
interface Entry {
  readonly at: number | null;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** `at` and `id` are the server's. `buffered` are arguments received before the name. `changesId`: each delta has a new id. */
interface Call {
  readonly index: number;
  readonly at: number | null;
  readonly extent: JsonExtent;
  id: string;
  name: string;
  buffered: string;
  changesId: boolean;
}

/**
 * Assembles the tool calls of one reply. Servers differ: the index may be missing (Mistral) or the same for every call (vLLM, SGLang,
 * Gemini); the id may be missing, empty or new in every delta (older vLLM); the name may come once, repeatedly or be empty.
 */
export class ToolCalls {
  readonly #names: Pick<ToolNames, 'nameOf'>;
  readonly #calls: Call[] = [];

  constructor(names: Pick<ToolNames, 'nameOf'>) {
    this.#names = names;
  }

  /** A call is reported once its name is known. */
  read(entries: readonly (ToolCallEntry | null)[]): ToolCallDelta[] {
    return entries.flatMap((entry) => (entry === null ? [] : this.#readOne(this.#entryOf(entry))));
  }

  /** Returns the arguments of calls that never got a name. */
  rest(): ToolCallDelta[] {
    return this.#calls.filter(({ name }) => name === '').map(({ index, buffered }) => delta(index, '', buffered));
  }

  #readOne(entry: Entry): ToolCallDelta[] {
    // Each delta searches all calls.
    if (this.#calls.length > MAX_CALLS) return [];
    const known = this.#find(entry);
    const isKnown = known !== undefined && continues(known, entry);
    if (!isKnown && entry.id + entry.name + entry.text === '') return [];
    const call = isKnown ? known : this.#begin(entry);
    const isNew = call !== known || call.name === '';
    call.changesId ||= entry.id !== '' && call.id !== '' && entry.id !== call.id;
    call.id ||= entry.id;
    call.name ||= entry.name;
    call.extent.add(entry.text);
    call.buffered += entry.text;
    if (call.name === '' || (call.buffered === '' && !isNew)) return [];
    const text = call.buffered;
    call.buffered = '';
    return [delta(call.index, call.name, text)];
  }

  /** Finds a call by its id if known, otherwise by the server's index, otherwise the last one. */
  #find({ at, id }: Entry): Call | undefined {
    const isHere = (call: Call): boolean => at === null || call.at === null || call.at === at;
    const byId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id && isHere(call));
    return byId ?? (at === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.at === at));
  }

  #entryOf({ index, id, function: called }: ToolCallEntry): Entry {
    const { name, arguments: args } = called;
    const text = typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args);
    return { at: index ?? null, id, name: this.#names.nameOf(name), text };
  }

  #begin({ at }: Entry): Call {
    const index = this.#calls.length;
    const call = { index, at, extent: new JsonExtent(), id: '', name: '', buffered: '', changesId: false };
    this.#calls.push(call);
    return call;
  }
}

/** Whether an entry continues this call. A new id starts a new call, unless this call's JSON is incomplete. */
function continues(call: Call, { id, name, text }: Entry): boolean {
  if (id !== '' && id === call.id) return true;
  if (name !== '' && call.name !== '' && name !== call.name) return false;
  const isOtherId = id !== '' && call.id !== '';
  if (call.extent.state === 'open') return true;
  if (call.extent.state === 'none') return !isOtherId || name === '';
  const isBlank = text.trim() === '';
  return isOtherId ? call.changesId && isBlank : name === '' || isBlank;
}

function delta(index: number, name: string, text: string): ToolCallDelta {
  return { type: 'tool-call-delta', index, name, arguments: text };
}

/** Tracks whether JSON text that arrives in pieces is complete. */
export class JsonExtent {
  readonly #brackets = new BracketBalance();
  #hasStarted = false;

  /** `none`: only white space so far. `open`: a string, object or array is not closed yet. */
  get state(): 'none' | 'open' | 'closed' {
    if (!this.#hasStarted) return 'none';
    return this.#brackets.isOpen ? 'open' : 'closed';
  }

  add(text: string): void {
    this.#brackets.add(text);
    this.#hasStarted ||= text.trim() !== '';
  }
}
