import type { FinishReason, ModelPart } from '../../../../machines/contracts/model.ts';
import { type ReadStreamOptions, readStream } from '../../../../src/engine/streaming/read-stream.ts';

/** The tool whose arguments are the reply, where a test reads them. */
export const TOOL = 'plan_reply';

/** A finish part as a well-behaved provider gives it. */
export function finish(reason: FinishReason = 'stop'): ModelPart {
  return { type: 'finish', reason, usage: null };
}

/** Some arguments of a tool call: of the one tool at index 0, where nothing else is said. */
export function argumentsOf(text: string, { index = 0, name = TOOL } = {}): ModelPart {
  return { type: 'tool-call-delta', index, name, arguments: text };
}

export function reasoning(text: string): ModelPart {
  return { type: 'reasoning-delta', text };
}

/** A model's stream: text in pieces, and other parts as they are; a finish at the end where nothing else ends it. */
export async function* stream(parts: readonly (string | ModelPart)[]): AsyncGenerator<ModelPart, void> {
  for (const part of parts) yield typeof part === 'string' ? { type: 'text-delta', text: part } : part;
  const last = parts.at(-1);
  if (typeof last !== 'object' || (last.type !== 'finish' && last.type !== 'failure')) yield finish();
}

/** What a stream came to, and everything that the observer was told on the way; partials as they stood at that moment. */
export async function readAll(parts: AsyncIterable<ModelPart>, options: Partial<ReadStreamOptions> = {}) {
  const texts: string[] = [];
  const partials: unknown[] = [];
  const told: ('text' | 'alive')[] = [];
  const reply = await readStream(() => parts, {
    form: 'text',
    toolName: TOOL,
    acceptsList: false,
    onText: (text) => {
      texts.push(text);
      told.push('text');
    },
    onAlive: () => told.push('alive'),
    onPartial: (value) => partials.push(structuredClone(value)),
    onStoppable: () => {},
    maxChars: 1_000_000,
    promptChars: 40,
    ...options,
  });
  return { ...reply, texts, partials, told };
}

/** Reads these pieces of text. */
export function readText(...pieces: readonly string[]) {
  return readAll(stream(pieces));
}

/** Reads these pieces as the arguments of one tool call. */
export function readArguments(...pieces: readonly string[]) {
  return readAll(stream(pieces.map((piece) => argumentsOf(piece))), { form: 'tool-call' });
}
