import type { ModelPart } from '../../../machines/contracts/model.ts';
import { BracketBalance } from '../../internal/json-text.ts';
import { Increments } from './increments.ts';
import { MAX_CALLS, type ToolCallEntry } from './reply-chunk.ts';
import type { ToolNames } from './request-body.ts';

type ToolCallDelta = Extract<ModelPart, { type: 'tool-call-delta' }>;

/** One entry of `tool_calls`, with arguments as text: a few servers send them parsed. `name` is that on the wire. */
interface Entry {
  readonly at: number | null;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/**
 * `at`, `id` and `name` are the server's. `buffered` are arguments that were not reported yet. `changesId`: each delta has a new id.
 */
interface Call {
  readonly index: number;
  readonly at: number | null;
  readonly extent: JsonExtent;
  readonly increments: Increments;
  id: string;
  name: string;
  arguments: string;
  buffered: string;
  isReported: boolean;
  changesId: boolean;
}

/**
 * Assembles the tool calls of one reply. Servers differ: the index may be missing (Mistral) or the same for every call (vLLM, SGLang,
 * Gemini); the id may be missing, empty or new in every delta (older vLLM); the name may come once, repeatedly, in pieces or be empty; and
 * the whole call may come again.
 */
export class ToolCalls {
  readonly #names: ToolNames;
  readonly #wires: readonly string[];
  readonly #calls: Call[] = [];

  constructor(names: ToolNames) {
    this.#names = names;
    this.#wires = [names.reply, ...names.offered];
  }

  /** A call is reported once its name is certain. */
  read(entries: readonly (ToolCallEntry | null)[]): ToolCallDelta[] {
    return entries.flatMap((entry) => (entry === null ? [] : this.#readOne(entryOf(entry))));
  }

  rest(): ToolCallDelta[] {
    for (const call of this.#calls) call.buffered += call.increments.rest();
    return this.#calls.flatMap((call) => (call.isReported && call.buffered === '' ? [] : [this.#report(call)]));
  }

  #readOne(entry: Entry): ToolCallDelta[] {
    // Each delta searches all calls.
    if (this.#calls.length > MAX_CALLS) return [];
    const found = this.#find(entry);
    const isKnown = found !== undefined && this.#continues(found, entry);
    if (!isKnown && entry.id + entry.name + entry.text === '') return [];
    const call = isKnown ? found : this.#begin(entry);
    call.changesId ||= entry.id !== '' && call.id !== '' && entry.id !== call.id;
    call.id ||= entry.id;
    call.name = this.#nameWith(call, entry.name);
    const text = isRepeated(call, entry) ? '' : call.increments.read(entry.text);
    call.extent.add(text);
    call.arguments += text;
    call.buffered += text;
    if (call.name === '' || (call.buffered === '' && (call.isReported || this.#mayContinue(call.name)))) return [];
    // The calls keep their order.
    const waiting = this.#calls.slice(0, call.index).filter(({ isReported, name }) => !isReported && name !== '');
    return [...waiting, call].map((one) => this.#report(one));
  }

  #report(call: Call): ToolCallDelta {
    const { index, id, name, buffered } = call;
    call.isReported = true;
    call.buffered = '';
    const known = this.#names.nameOf(name);
    return { type: 'tool-call-delta', index, ...(id !== '' && { id }), name: known, arguments: buffered };
  }

  /** Finds a call by its id if known, otherwise by the server's index, otherwise the last one. */
  #find({ at, id }: Entry): Call | undefined {
    const isHere = (call: Call): boolean => at === null || call.at === null || call.at === at;
    const byId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id && isHere(call));
    return byId ?? (at === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.at === at));
  }

  #begin({ at }: Entry): Call {
    const call: Call = {
      index: this.#calls.length,
      at,
      extent: new JsonExtent(),
      increments: new Increments(),
      id: '',
      name: '',
      arguments: '',
      buffered: '',
      isReported: false,
      changesId: false,
    };
    this.#calls.push(call);
    return call;
  }

  /** Whether an entry continues this call. A new id starts a new call, unless this call's JSON is incomplete. */
  #continues(call: Call, entry: Entry): boolean {
    const { id, name, text } = entry;
    if (isRepeated(call, entry)) return true;
    const isOtherName = name !== '' && call.name !== '' && name !== call.name;
    if (isOtherName && this.#isPiece(call, entry)) return true;
    if (id !== '' && id === call.id) return true;
    if (isOtherName) return false;
    const isOtherId = id !== '' && call.id !== '';
    if (call.extent.state === 'open') return true;
    if (call.extent.state === 'none') return !isOtherId || name === '';
    const isBlank = text.trim() === '';
    return isOtherId ? call.changesId && isBlank : name === '' || isBlank;
  }

  /** Whether an entry has the next piece of a name: nothing but such pieces precedes the arguments. */
  #isPiece(call: Call, { at, id, name }: Entry): boolean {
    const isSameCall = at !== null && (id === '' || id === call.id) && call.extent.state === 'none';
    if (!isSameCall || call.isReported) return false;
    return (
      !this.#wires.includes(call.name) || this.#mayContinue(call.name + name) || this.#wires.includes(call.name + name)
    );
  }

  #nameWith(call: Call, piece: string): string {
    if (call.isReported || piece === call.name || piece === '') return call.name;
    return piece.startsWith(call.name) ? piece : call.name + piece;
  }

  /** Whether a name may be the first piece of another. */
  #mayContinue(name: string): boolean {
    const isLonger = (wire: string): boolean => wire.length > name.length && wire.startsWith(name);
    return !this.#wires.includes(name) || this.#wires.some(isLonger);
  }
}

function entryOf({ index, id, function: { name, arguments: args } }: ToolCallEntry): Entry {
  const text = typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args);
  return { at: index ?? null, id, name, text };
}

/** Whether an entry is a whole call once more: those of two calls with the same arguments differ in their ids or indexes. */
function isRepeated(call: Call, { at, id, name, text }: Entry): boolean {
  const isSame = id === '' ? at !== null && at === call.at : id === call.id;
  return isSame && call.extent.state === 'closed' && (name === '' || name === call.name) && text === call.arguments;
}

/** Tracks whether JSON text that arrives in pieces is complete. */
class JsonExtent {
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
