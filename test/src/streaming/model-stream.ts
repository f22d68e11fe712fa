import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import { readStream } from '../../../src/streaming/read-stream.ts';

/** A finish part as a well-behaved provider gives it. */
export function finish(reason: FinishReason = 'stop'): ModelPart {
  return { type: 'finish', reason, usage: null };
}

/** A model's stream: text in pieces, and other parts as they are; a finish at the end where nothing else ends it. */
export async function* stream(parts: readonly (string | ModelPart)[]): AsyncGenerator<ModelPart, void> {
  for (const part of parts) yield typeof part === 'string' ? { type: 'text-delta', text: part } : part;
  const last = parts.at(-1);
  if (last === undefined || typeof last === 'string') yield finish();
}

/** What a stream came to, and everything that the watcher was told on the way; partials as they stood at that moment. */
export async function readAll(parts: AsyncIterable<ModelPart>, { maxChars = 1_000_000, promptChars = 40 } = {}) {
  const texts: string[] = [];
  const partials: unknown[] = [];
  const reply = await readStream(() => parts, {
    onText: (text) => texts.push(text),
    onPartial: (value) => partials.push(structuredClone(value)),
    onStoppable: () => {},
    maxChars,
    promptChars,
  });
  return { ...reply, texts, partials };
}

/** Reads these pieces of text. */
export function readText(...pieces: readonly string[]) {
  return readAll(stream(pieces));
}
