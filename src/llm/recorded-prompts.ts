import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import type { ChatTurn, ModelRequest } from '../../machines/contracts/model.ts';
import { schemaKey } from '../internal/json-schema.ts';
import { parseJson } from '../internal/json-text.ts';

type PromptEntry = Extract<JournalEntry, { type: 'prompt' }>;
/** What a `prompt` entry records about the text that a model received: the numbers of its parts, and the parts that no entry before has. */
export type PromptParts = Pick<PromptEntry, 'turns' | 'schema' | 'tools' | 'parts'>;

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

/** Writes the prompts of a run: each different part once. */
export interface PromptWriter {
  partsOf(request: PromptTexts): PromptParts;
  /** Takes an entry that the run has already. */
  take(entry: JournalEntry): void;
}

export function createPromptWriter(): PromptWriter {
  const written = new Map<string, number>();
  let next = 0;
  return {
    partsOf({ turns, schema, tools }) {
      const added: Record<string, string> = {};
      const add = (text: string): number => {
        const known = written.get(text);
        if (known !== undefined) return known;
        const number = next;
        next += 1;
        written.set(text, number);
        added[number] = text;
        return number;
      };
      return {
        turns: turns.map(({ role, content, toolCalls, toolResult }) => ({
          role,
          parts: blocksOf(content).map(add),
          ...(toolCalls && { toolCalls: [...toolCalls] }),
          ...(toolResult && { toolResult }),
        })),
        schema: add(schema),
        tools: tools.map(add),
        parts: added,
      };
    },
    take(entry) {
      if (entry.type !== 'prompt') return;
      for (const [number, text] of Object.entries(entry.parts)) {
        written.set(text, Number(number));
        next = Math.max(next, Number(number) + 1);
      }
    },
  };
}

/** Remembers no parts, so that each prompt has all of its own: for calls that do not share a journal, or not its earlier entries. */
export const wholePrompts: PromptWriter = {
  partsOf: (texts) => createPromptWriter().partsOf(texts),
  take: () => {},
};

/** A context grows by whole blocks, so most blocks of a prompt are those of the prompt before. */
function blocksOf(content: string): readonly string[] {
  const blocks: string[] = [];
  let begin = 0;
  for (let end = content.indexOf('\n') + 1; end > 0 && end < content.length; end = content.indexOf('\n', end) + 1) {
    // After an empty line, and before a tag.
    if (content[end] !== '<' && content[end - 2] !== '\n') continue;
    blocks.push(content.slice(begin, end));
    begin = end;
  }
  return [...blocks, content.slice(begin)];
}

export function textsOf({ turns, outputSchema, tools = [] }: ModelRequest): PromptTexts {
  return { turns, schema: schemaKey(outputSchema), tools: tools.map((tool) => JSON.stringify(tool)) };
}

/** Reads the prompts of a run. */
export interface PromptReader {
  take(entry: JournalEntry): void;
  /** Returns the prompt of an entry; null if it is not a `prompt` entry that was taken. */
  at(seq: number): RecordedPrompt | null;
  /** Returns the texts of a `prompt` entry. */
  textsOf(entry: PromptParts): PromptTexts;
}

export function createPromptReader(): PromptReader {
  const texts = new Map<string, string>();
  const tasks = new Map<string, string>();
  const prompts = new Map<number, { readonly entry: PromptEntry; readonly parts: PartTexts }>();
  let versions: RunStart['product']['prompts'] = {};

  const textOf = (number: number): string => texts.get(String(number)) ?? '';
  /** Prompts of several machines may use the same numbers for different parts. */
  const partTexts = ({ turns, schema, tools }: PromptParts): PartTexts => ({
    turns: turns.map(({ parts, ...turn }) => ({ ...turn, parts: parts.map(textOf) })),
    schema: textOf(schema),
    tools: tools.map(textOf),
  });
  return {
    take(entry) {
      if (entry.type === 'start') versions = entry.product.prompts;
      else if (entry.type === 'attempt-start') tasks.set(entry.attemptId, entry.phases ? 'brief' : entry.task);
      else if (entry.type === 'prompt') {
        for (const [number, text] of Object.entries(entry.parts)) texts.set(number, text);
        prompts.set(entry.seq, { entry, parts: partTexts(entry) });
      }
    },
    at(seq) {
      const { entry, parts } = prompts.get(seq) ?? {};
      if (entry === undefined || parts === undefined) return null;
      const { turns, schema, tools } = joined(parts);
      const task = tasks.get(entry.attemptId) ?? '';
      const { name = task, version = 0 } = versions[task] ?? {};
      const isEdited = entry.edited === true;
      return { name, version, isEdited, turns, schema: parsed(schema), tools: tools.map(parsed) };
    },
    textsOf: (entry) => joined(partTexts(entry)),
  };
}

/** A prompt whose parts are not joined: most of them are shared with other prompts. */
interface PartTexts {
  readonly turns: readonly (Omit<PromptTurn, 'content'> & { readonly parts: readonly string[] })[];
  readonly schema: string;
  readonly tools: readonly string[];
}

const joined = ({ turns, ...texts }: PartTexts): PromptTexts => ({
  turns: turns.map(({ parts, ...turn }) => ({ ...turn, content: parts.join('') })),
  ...texts,
});

/** A redacted text may not be JSON any more. */
const parsed = (json: string): unknown => parseJson(json) ?? json;
