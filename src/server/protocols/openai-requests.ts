import * as z from 'zod/mini';
import { shallowObjectSchema } from '../../../machines/contracts/events.ts';
import type { ContentPart } from '../../llm/content.ts';
import { invalid } from '../context.ts';
import { HttpError } from '../http-error.ts';
import type { ClientRequest } from '../run-service.ts';
import type { CallOutput } from './openai-turns.ts';

const text = z.string().check(z.maxLength(1_000_000));
const dataText = z.string('expected the content of the file, because the server downloads nothing');

const file = { file_data: dataText, filename: z.optional(z.string()) };
type File = z.output<z.ZodMiniObject<typeof file>>;
const textOf = (text: string): ContentPart => ({ type: 'text', text });
const imageOf = (image: string): ContentPart => ({ type: 'image', image });
const fileOf = ({ file_data: data, filename }: File): ContentPart => ({ type: 'file', data, filename });

const textParts = [
  z.pipe(
    z.object({ type: z.enum(['text', 'input_text', 'output_text']), text }),
    z.transform((part) => textOf(part.text)),
  ),
  z.pipe(
    z.object({ type: z.literal('refusal'), refusal: text }),
    z.transform((part) => textOf(part.refusal)),
  ),
] as const;
const EXPECTED_PART = 'expected text, an image or a file';
const responsePart = z.discriminatedUnion(
  'type',
  [
    ...textParts,
    z.pipe(
      z.object({ type: z.literal('input_image'), image_url: dataText }),
      z.transform((part) => imageOf(part.image_url)),
    ),
    z.pipe(
      z.object({ type: z.literal('input_file'), ...file }),
      z.transform((part) => fileOf(part)),
    ),
  ],
  EXPECTED_PART,
);
const chatPart = z.discriminatedUnion(
  'type',
  [
    ...textParts,
    z.pipe(
      z.object({ type: z.literal('image_url'), image_url: z.object({ url: dataText }) }),
      z.transform((part) => imageOf(part.image_url.url)),
    ),
    z.pipe(
      z.object({ type: z.literal('file'), file: z.object(file) }),
      z.transform((part) => fileOf(part.file)),
    ),
  ],
  EXPECTED_PART,
);

const EXPECTED_MESSAGE = 'expected a message, a function call or the output of one';
const messageShape = <Part extends z.ZodMiniType<ContentPart>>(part: Part) => ({
  role: z.enum(['system', 'developer', 'user', 'assistant'], EXPECTED_MESSAGE),
  content: partsOf(part),
});

/** A string counts as one text part. */
const partsOf = <Part extends z.ZodMiniType>(part: Part) =>
  z.pipe(
    z.transform((content: unknown) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content)),
    z.array(part, 'expected a string or an array of parts').check(z.maxLength(100)),
  );

/** The output of a function call: text. */
const outputText = z.pipe(
  partsOf(z.union(textParts, 'expected text')),
  z.transform((parts) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')),
);

/** An item of the input. Output items of earlier responses may be sent again, or referred to by id. */
const inputItem = z.pipe(
  z.transform((item: unknown): unknown =>
    typeof item === 'object' && item !== null ? { type: 'message', ...item } : item,
  ),
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('message'), ...messageShape(responsePart) }),
      z.object({ type: z.literal('item_reference'), id: z.string() }),
      z.object({ type: z.literal('reasoning') }),
      z.object({ type: z.literal('function_call') }),
      z.object({ type: z.literal('function_call_output'), call_id: z.string(), output: outputText }),
    ],
    EXPECTED_MESSAGE,
  ),
);

/** A message of a chat: one of the assistant with tool calls only has no content. */
const chatMessage = z.pipe(
  z.transform((message: unknown): unknown => {
    const { content, tool_calls: calls } = Object(message);
    return content == null && Array.isArray(calls) ? { ...Object(message), content: [] } : message;
  }),
  z.discriminatedUnion(
    'role',
    [
      z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: outputText }),
      z.object(messageShape(chatPart)),
    ],
    'expected the role "system", "developer", "user", "assistant" or "tool"',
  ),
);

const MAX_REFERENCES = 100;
const common = {
  model: z.nullish(z.string()),
  stream: z.nullish(z.boolean()),
  parallel_tool_calls: z.nullish(z.boolean()),
};

export const responseRequestSchema = z.looseObject({
  ...common,
  /** A string counts as one user message. */
  input: z.pipe(
    z.transform((input: unknown) => (typeof input === 'string' ? [{ role: 'user', content: input }] : input)),
    z.array(inputItem, 'expected a string or an array of items').check(
      z.maxLength(1_000),
      // Each of them is read from a journal.
      z.refine((items) => items.filter(({ type }) => type === 'item_reference').length <= MAX_REFERENCES, {
        error: `expected at most ${MAX_REFERENCES} references`,
      }),
    ),
  ),
  instructions: z.nullish(z.string().check(z.maxLength(20_000))),
  previous_response_id: z.nullish(z.string()),
  background: z.nullish(z.boolean()),
  metadata: z.nullish(
    z.pipe(
      // Checked first, because the record below checks each key.
      z.unknown().check(z.refine((metadata) => Object.keys(Object(metadata)).length <= 16, 'expected at most 16 keys')),
      z.record(z.string().check(z.maxLength(64)), z.string().check(z.maxLength(512))),
    ),
  ),
});

export const chatRequestSchema = z.looseObject({
  ...common,
  messages: z.array(chatMessage, 'expected an array of messages').check(z.maxLength(1_000)),
  stream_options: z.nullish(z.object({ include_usage: z.nullish(z.boolean()) })),
});

export type InputItem = z.output<typeof inputItem>;

/** A message in either API. */
export interface InputMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  readonly content: string | readonly ContentPart[];
}

/** Returns the results of tool calls after the last turn: those before it are history. */
export function outputsIn<Item>(
  items: readonly Item[],
  isTurn: (item: Item) => boolean,
  outputOf: (item: Item) => CallOutput | null,
): readonly CallOutput[] {
  return items.slice(items.findLastIndex(isTurn) + 1).flatMap((item) => outputOf(item) ?? []);
}

/** Returns a tool result as history. For a result that another message followed before the run had an answer. */
export const resultAsHistory = (output: string): InputMessage => ({ role: 'user', content: `Tool result: ${output}` });

/** Returns the request, history and instructions in the messages. `param` is the name of the messages in errors. */
export function conversationOf(
  messages: readonly InputMessage[],
  param: string,
): Pick<ClientRequest, 'request' | 'history' | 'instructions'> {
  const turns = messages.flatMap(({ role, content }) =>
    role === 'user' || (role === 'assistant' && content.length > 0) ? [{ role, content }] : [],
  );
  const last = turns.pop();
  if (last?.role !== 'user') throw invalid(param, 'expected the last role to be "user"', last?.role);
  const instructions = messages
    .flatMap(({ role, content }) => (role === 'system' || role === 'developer' ? [plainText(content, param)] : []))
    .filter((text) => text.trim() !== '');
  return {
    request: last.content,
    ...(turns.length > 0 && { history: turns }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
  };
}

function plainText(content: InputMessage['content'], param: string): string {
  if (typeof content === 'string') return content;
  const texts = content.map((part) => {
    if (part.type === 'text') return part.text;
    throw invalid(param, 'expected system and developer messages without images and files');
  });
  return texts.join('\n\n');
}

type ClientTool = NonNullable<ClientRequest['clientTools']>[number];

const toolSchema = z.object({
  name: z.string(),
  description: z.nullish(z.string()),
  parameters: z.nullish(shallowObjectSchema),
});

/** For a function without `parameters`, or with `{}`. */
const NO_ARGUMENTS = { type: 'object', properties: {} };

/** Returns the tools of a request in either API. The tools may not be needed: `tool_choice` "none" sends none of them. */
export function clientToolsOf({
  tools,
  tool_choice: choice,
}: Readonly<Record<string, unknown>>): readonly ClientTool[] {
  const given: unknown = choice === 'none' ? [] : (tools ?? []);
  if (!Array.isArray(given)) throw invalid('tools', 'expected an array of functions', given);
  return given.map((tool): ClientTool => {
    const { type, function: nested = tool } = Object(tool);
    if (type !== 'function')
      throw invalid('tools', 'expected functions, because the server has no tools of its own to offer', type);
    const read = toolSchema.safeParse(nested);
    if (!read.success) {
      const [{ path, message } = { path: [], message: '' }] = read.error.issues;
      throw invalid('tools', `function${path.map((name) => `.${String(name)}`).join('')}: ${message}`, nested);
    }
    const { name, description, parameters } = read.data;
    return {
      name,
      description: description || name,
      arguments: Object.keys(parameters ?? {}).length === 0 ? NO_ARGUMENTS : { type: 'object', ...parameters },
    };
  });
}

/** Waits for the start of a run. An error about its option `clientTools` names the parameter of these protocols. */
export async function withToolErrors<Started>(start: Promise<Started>): Promise<Started> {
  try {
    return await start;
  } catch (error) {
    const { code, message } = Object(error);
    const problem = code === 'invalid_option' ? /^clientTools: (.*)$/su.exec(message)?.[1] : undefined;
    throw problem === undefined ? error : new HttpError(400, code, `tools: ${problem}`, {}, 'tools');
  }
}

const hasLengthZero = (value: unknown): boolean => Object(value).length === 0;
const isNoTool = (choice: unknown): boolean => choice === 'auto' || choice === 'none';
const isText = (format: unknown): boolean => format === undefined || Object(format).type === 'text';
const isOnlyText = (modalities: unknown): boolean => [modalities].flat().every((modality) => modality === 'text');
const never = (): boolean => false;
const OWN_CHOICE = 'leave it out, because the chain chooses its tools';

/** Parameters that would change the answer, with a check for harmless values, and advice. All others are ignored. */
const UNSUPPORTED: readonly (readonly [string, (value: unknown) => boolean, string?])[] = [
  ['functions', hasLengthZero, 'send tools'],
  ['tool_choice', isNoTool, OWN_CHOICE],
  ['function_call', isNoTool, OWN_CHOICE],
  ['response_format', isText, 'leave it out, because answers are text'],
  ['text', (text) => isText(Object(text).format ?? undefined), 'leave it out, because answers are text'],
  ['modalities', isOnlyText, 'leave it out, because answers are text'],
  ['audio', never, 'leave it out, because answers are text'],
  ['n', (count) => count === 1, 'leave it out, because a run has one answer'],
  ['stop', hasLengthZero],
  ['logprobs', (isAsked) => isAsked === false],
  ['web_search_options', never, OWN_CHOICE],
  ['prompt', never, 'send the texts as instructions and input'],
  ['conversation', never, 'use previous_response_id'],
];

/** Throws an `HttpError` 400 for a parameter that a run does not support. */
export function requireSupported(body: Readonly<Record<string, unknown>>): void {
  for (const [name, isHarmless, advice = 'leave it out'] of UNSUPPORTED) {
    const value = body[name] ?? null;
    const param = name === 'text' ? 'text.format' : name;
    if (value !== null && !isHarmless(value))
      throw new HttpError(400, 'unsupported_parameter', `${param}: not supported; ${advice}.`, {}, param);
  }
}
