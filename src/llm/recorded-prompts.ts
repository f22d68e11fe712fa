import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import type { ChatTurn, ModelRequest } from '../../machines/contracts/model.ts';
import type { Json } from '../durable/codec.ts';
import type { DurableEntry } from '../durable/entries.ts';
import { journalOf } from '../durable/hosted-call.ts';
import type { NoteSource } from '../durable/reused-calls.ts';
import { schemaKey } from '../internal/json-schema.ts';
import { parseJson } from '../internal/json-text.ts';

type PromptEntry = Extract<JournalEntry, { type: 'prompt' }>;
/** What a `prompt` entry records about the text that a model received: its turns and parts by number, and the contents of new ones. */
export type PromptParts = Pick<PromptEntry, 'after' | 'turns' | 'schema' | 'tools' | 'parts'>;
type RecordedTurn = PromptParts['turns'][number];

/** The texts of a prompt: `schema` and `tools` are JSON. */
interface PromptTexts {
  readonly turns: readonly PromptTurn[];
  readonly schema: string;
  readonly tools: readonly string[];
}

type PromptTurn = Pick<ChatTurn, 'role' | 'content' | 'toolCalls' | 'toolResult'>;

/** A prompt as the model received it, without the bytes of files. */
export interface RecordedPrompt {
  /** The name and version of the template. */
  readonly name: string;
  readonly version: number;
  /** Whether its text was edited for this call. */
  readonly isEdited: boolean;
  readonly turns: PromptTexts['turns'];
  readonly schema: unknown;
  readonly tools: readonly unknown[];
}

/** Writes the prompts of a journal: each different turn and part once. */
export interface PromptWriter {
  partsOf(request: PromptTexts): PromptParts;
  /** Takes an entry that the journal has already. */
  take(entry: JournalEntry): void;
}

export function createPromptWriter(): PromptWriter {
  const texts = new Numbering();
  const turnKeys = new Numbering();
  return {
    partsOf({ turns, schema, tools }) {
      const parts: Record<string, string> = {};
      const add = (text: string): number =>
        texts.numberOf(text, (number) => {
          parts[number] = text;
        });
      const added: RecordedTurn[] = [];
      let after: number | undefined;
      let last: number | undefined;
      for (const { role, content, toolCalls, toolResult } of turns) {
        const turn: RecordedTurn = {
          role,
          parts: blocksOf(content).map(add),
          ...(toolCalls && { toolCalls: [...toolCalls] }),
          ...(toolResult && { toolResult }),
        };
        last = turnKeys.numberOf(turnKey(last, turn), (number) => added.push({ number, ...turn }));
        if (added.length === 0) after = last;
      }
      return {
        ...(after !== undefined && { after }),
        turns: added,
        schema: add(schema),
        tools: tools.map(add),
        parts,
      };
    },
    take(entry) {
      if (entry.type !== 'prompt') return;
      const { after, turns, schema, tools, parts } = entry;
      const known = Object.entries(parts).map(([number, text]) => [Number(number), text] as const);
      const keys = turns.flatMap(({ number, ...turn }, at): [number, string][] =>
        number === undefined ? [] : [[number, turnKey(at === 0 ? after : turns[at - 1]?.number, turn)]],
      );
      // Another writer has reused a number, so the known texts may be wrong.
      if (texts.contradicts(known) || turnKeys.contradicts(keys)) for (const all of [texts, turnKeys]) all.forget();
      texts.take(known, [schema, ...tools, ...turns.flatMap((turn) => turn.parts)]);
      turnKeys.take(keys, after === undefined ? [] : [after]);
    },
  };
}

/** Turns are equal only if all turns before them are, too. */
const turnKey = (before: number | undefined, turn: RecordedTurn): string => `${before} ${JSON.stringify(turn)}`;

/** Numbers different texts from 0. */
class Numbering {
  #next = 0;
  readonly #numbers = new Map<string, number>();

  /** Returns the number of a text. A new text gets the next one, which `onNew` receives. */
  numberOf(text: string, onNew: (number: number) => void): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#next;
    this.take([[number, text]]);
    onNew(number);
    return number;
  }

  /** Whether another text may have one of these numbers. */
  contradicts(numbered: Numbered): boolean {
    return numbered.some(([number, text]) => number < this.#next && this.#numbers.get(text) !== number);
  }

  /** Takes the numbers of texts, and numbers whose texts are unknown. */
  take(numbered: Numbered, unknown: readonly number[] = []): void {
    for (const [number, text] of numbered) this.#numbers.set(text, number);
    for (const number of [...numbered.map(([one]) => one), ...unknown]) this.#next = Math.max(this.#next, number + 1);
  }

  /** Forgets the texts, but not which numbers are taken. */
  forget(): void {
    this.#numbers.clear();
  }
}

type Numbered = readonly (readonly [number: number, text: string])[];

/** Writes each prompt with all of its parts: for calls without a shared journal, or without its earlier entries. */
export const wholePrompts: PromptWriter = {
  partsOf: (texts) => createPromptWriter().partsOf(texts),
  take: () => {},
};

/** The writers of journals, and how many of their entries each has taken. */
const journalWriters = new WeakMap<readonly DurableEntry[], { readonly writer: PromptWriter; taken: number }>();

/** Returns the writer of all prompts in the journal of a call's durable actor. It numbers turns and parts as the entries of the journal do. */
export function journalPrompts(call: { readonly self: object }): PromptWriter {
  const journal = journalOf(call);
  if (journal === null) return wholePrompts;
  const known = journalWriters.get(journal) ?? { writer: createPromptWriter(), taken: 0 };
  journalWriters.set(journal, known);
  const { take, partsOf } = known.writer;
  return {
    take,
    partsOf(texts) {
      for (; known.taken < journal.length; known.taken += 1) {
        const entry = journal[known.taken];
        if (entry?.type === 'note' && isPrompt(entry.note)) take(entry.note);
      }
      return partsOf(texts);
    },
  };
}

/** The readers of journals whose notes are copied. */
const journalReaders = new WeakMap<readonly DurableEntry[], PromptReader>();

/** Returns a note of another journal as a note of this call. The note of a prompt gets the texts that it refers to. */
export function copyPrompt(note: Json, call: { readonly self: object }, { entries, seq }: NoteSource): Json {
  const texts = isPrompt(note) ? readerOf(entries).textsAt(seq) : null;
  if (texts === null) return note;
  const { after: _, ...others } = note as unknown as PromptEntry;
  return { ...others, ...journalPrompts(call).partsOf(texts) } as unknown as Json;
}

function readerOf(entries: readonly DurableEntry[]): PromptReader {
  const known = journalReaders.get(entries);
  if (known !== undefined) return known;
  const reader = createPromptReader();
  journalReaders.set(entries, reader);
  for (const entry of entries)
    if (entry.type === 'note' && isPrompt(entry.note)) reader.take(Object.assign({}, entry.note, { seq: entry.seq }));
  return reader;
}

/** Notes come from any program, so their form is checked. */
function isPrompt(note: unknown): note is PromptEntry {
  const { type, turns, schema, tools, parts } = Object(note) as Partial<PromptEntry>;
  const areLists = [turns, tools, ...[turns].flat().map((turn) => turn?.parts)].every(Array.isArray);
  return type === 'prompt' && areLists && Number.isInteger(schema) && parts === Object(parts);
}

/**
 * Splits a content into blocks: a paragraph, an element, or a line of JSON. A context grows by whole blocks, so most
 * blocks of a prompt are those of the prompt before.
 */
function blocksOf(content: string): readonly string[] {
  const blocks: string[] = [];
  let begin = 0;
  let line = 0;
  for (let end = content.indexOf('\n') + 1; end > 0 && end < content.length; end = content.indexOf('\n', end) + 1) {
    const isBreak = content[end - 2] === '\n' || /[<{]/u.test(content.charAt(end)) || content[line] === '{';
    line = end;
    if (!isBreak) continue;
    blocks.push(content.slice(begin, end));
    begin = end;
  }
  return [...blocks, content.slice(begin)];
}

export function textsOf({ turns, outputSchema, tools = [] }: ModelRequest): PromptTexts {
  return { turns, schema: schemaKey(outputSchema), tools: tools.map((tool) => JSON.stringify(tool)) };
}

/** Reads the prompts of a journal. */
export interface PromptReader {
  take(entry: JournalEntry): void;
  /** Returns the prompt of an entry; null if it is not a `prompt` entry that was taken. */
  at(seq: number): RecordedPrompt | null;
  /** Returns the texts of a prompt; null as above. */
  textsAt(seq: number): PromptTexts | null;
}

/** Stands for a text that a reader does not have: the journal was cut, or is a fork that lacks the entry with the text. */
export const MISSING_TEXT = '[missing in this journal]';

export function createPromptReader(): PromptReader {
  const texts = new Map<number, string>();
  const turnNodes = new Map<number, TurnNode>();
  const tasks = new Map<string, string>();
  const prompts = new Map<number, ReadPrompt>();
  let versions: RunStart['product']['prompts'] = {};

  const textOf = (number: number): string => texts.get(number) ?? MISSING_TEXT;
  /** Later entries may reuse the numbers of parts. */
  function read(entry: PromptEntry): ReadPrompt {
    for (const [number, text] of Object.entries(entry.parts)) texts.set(Number(number), text);
    let last = entry.after === undefined ? null : (turnNodes.get(entry.after) ?? MISSING_TURN);
    for (const { number, parts, ...turn } of entry.turns) {
      last = { before: last, turn, parts: parts.map(textOf) };
      if (number !== undefined) turnNodes.set(number, last);
    }
    return { entry, last, schema: textOf(entry.schema), tools: entry.tools.map(textOf) };
  }

  function textsAt(seq: number): PromptTexts | null {
    const prompt = prompts.get(seq);
    if (prompt === undefined) return null;
    const turns: PromptTurn[] = [];
    for (let node = prompt.last; node !== null; node = node.before)
      turns.push({ ...node.turn, content: node.parts.join('') });
    return { turns: turns.reverse(), schema: prompt.schema, tools: prompt.tools };
  }

  return {
    take(entry) {
      if (entry.type === 'start') versions = entry.product.prompts;
      else if (entry.type === 'attempt-start') tasks.set(entry.attemptId, entry.phases ? 'brief' : entry.task);
      else if (entry.type === 'prompt') prompts.set(entry.seq, read(entry));
    },
    at(seq) {
      const [prompt, read] = [prompts.get(seq), textsAt(seq)];
      if (prompt === undefined || read === null) return null;
      const { attemptId, edited } = prompt.entry;
      const task = tasks.get(attemptId) ?? '';
      const { name = task, version = 0 } = versions[task] ?? {};
      const { turns, schema, tools } = read;
      return { name, version, isEdited: edited === true, turns, schema: parsed(schema), tools: tools.map(parsed) };
    },
    textsAt,
  };
}

/** A prompt whose turns are shared with other prompts, and whose parts are not joined. */
interface ReadPrompt {
  readonly entry: Pick<PromptEntry, 'attemptId' | 'edited'>;
  readonly last: TurnNode | null;
  readonly schema: string;
  readonly tools: readonly string[];
}

interface TurnNode {
  readonly before: TurnNode | null;
  readonly turn: Omit<PromptTurn, 'content'>;
  readonly parts: readonly string[];
}

const MISSING_TURN: TurnNode = { before: null, turn: { role: 'system' }, parts: [MISSING_TEXT] };

/** A redacted text may not be JSON any more. */
const parsed = (json: string): unknown => parseJson(json) ?? json;
