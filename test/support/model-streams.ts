import type { ChatModel, FinishReason, ModelPart, ModelRequest } from '../../machines/contracts/model.ts';
import { type ReadStreamOptions, readStream } from '../../src/llm/streaming/read-stream.ts';

/** A small request; its schema is one that OpenAI's strict mode takes. */
export function modelRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    task: 'action',
    turns: [
      { role: 'system', content: 'You answer.' },
      { role: 'user', content: 'Why is the sky blue?' },
    ],
    schemaName: 'action_reply',
    outputSchema: {
      type: 'object',
      properties: { response: { type: 'string' } },
      required: ['response'],
      additionalProperties: false,
    },
    replyForm: 'text',
    input: {},
    ...changes,
  };
}

/** All parts of one call. */
export async function partsOf(
  model: ChatModel,
  request = modelRequest(),
  signal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request, { signal })) parts.push(part);
  return parts;
}

export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
}

/** The failure that a call ended in; throws when it ended well. */
export async function failureFrom(model: ChatModel, request = modelRequest()) {
  const last = (await partsOf(model, request)).at(-1);
  if (last?.type !== 'failure') throw new Error(`expected a failure, got ${JSON.stringify(last)}`);
  return last.failure;
}

/** What the parts of one call say when they are put together. */
export interface Reply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** The finish reason, or the code of the failure. */
  readonly end: string;
}

/** Puts the parts together, and throws where they break the port's contract: order, indexes, names and the one last part. */
export function replyOf(parts: readonly ModelPart[]): Reply {
  const calls: { name: string; arguments: string }[] = [];
  let text = '';
  let reasoning = '';
  for (const part of parts.slice(0, -1)) {
    if (part.type === 'text-delta') text += part.text;
    else if (part.type === 'reasoning-delta') reasoning += part.text;
    else if (part.type === 'tool-call-delta') addTo(calls, part);
    else throw new Error(`a part came after the ${part.type}`);
  }
  const last = parts.at(-1);
  if (last?.type === 'finish') return { text, reasoning, calls, end: last.reason };
  if (last?.type === 'failure') return { text, reasoning, calls, end: last.failure.code };
  throw new Error(`expected a last part, got ${JSON.stringify(last)}`);
}

function addTo(
  calls: { name: string; arguments: string }[],
  part: Extract<ModelPart, { type: 'tool-call-delta' }>,
): void {
  if (part.index === calls.length) calls.push({ name: part.name, arguments: '' });
  const call = calls[part.index];
  if (call?.name !== part.name) throw new Error(`call ${part.index} is ${call?.name}, got ${JSON.stringify(part)}`);
  call.arguments += part.arguments;
}

/** The tool whose arguments are the reply, where a test reads them. */
export const TOOL = 'plan_reply';

/** A finish part as a well-behaved provider gives it. */
export function finishPart(reason: FinishReason = 'stop'): ModelPart {
  return { type: 'finish', reason, usage: null };
}

/** Some arguments of a tool call: of the one tool at index 0, where nothing else is said. */
export function argumentsPart(text: string, { index = 0, name = TOOL } = {}): ModelPart {
  return { type: 'tool-call-delta', index, name, arguments: text };
}

export function reasoningPart(text: string): ModelPart {
  return { type: 'reasoning-delta', text };
}

/** A model's stream: text in pieces, and other parts as they are; a finish at the end where nothing else ends it. */
export async function* streamOf(parts: readonly (string | ModelPart)[]): AsyncGenerator<ModelPart, void> {
  for (const part of parts) yield typeof part === 'string' ? { type: 'text-delta', text: part } : part;
  const last = parts.at(-1);
  if (typeof last !== 'object' || (last.type !== 'finish' && last.type !== 'failure')) yield finishPart();
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
    takeTurn: (act) => act(),
    promptChars: 40,
    ...options,
  });
  return { ...reply, texts, partials, told };
}

/** Reads these pieces of text. */
export function readText(...pieces: readonly string[]) {
  return readAll(streamOf(pieces));
}

/** Reads these pieces as the arguments of one tool call. */
export function readArguments(...pieces: readonly string[]) {
  return readAll(streamOf(pieces.map((piece) => argumentsPart(piece))), { form: 'tool-call' });
}
