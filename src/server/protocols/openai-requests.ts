import * as z from 'zod/mini';
import type { ContentPart } from '../../llm/content.ts';
import { invalid } from '../context.ts';
import type { ClientRequest } from '../served-runs.ts';
import type { CallOutput } from './openai-turns.ts';

const text = z.string().check(z.maxLength(1_000_000));
const dataText = z.string('expected the content of the file, because the server downloads nothing');

const textOf = (text: string): ContentPart => ({ type: 'text', text });
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

const image = z.pipe(
  z.object({
    type: z.enum(['input_image', 'image_url']),
    image_url: z.union(
      [dataText, z.object({ url: dataText })],
      'expected the content of the image, because the server downloads nothing',
    ),
  }),
  z.transform(({ image_url: url }): ContentPart => ({ type: 'image', image: typeof url === 'string' ? url : url.url })),
);
const file = { file_data: dataText, filename: z.nullish(z.string()) };
const fileOf = ({ file_data: data, filename }: { file_data: string; filename?: string | null | undefined }) =>
  ({ type: 'file', data, filename: filename ?? undefined }) as const;

/** A part of a message, in the shapes of either API. */
const messagePart = z.discriminatedUnion(
  'type',
  [
    ...textParts,
    image,
    z.pipe(
      z.object({ type: z.literal('input_file'), ...file }),
      z.transform((part): ContentPart => fileOf(part)),
    ),
    z.pipe(
      z.object({ type: z.literal('file'), file: z.object(file) }),
      z.transform((part): ContentPart => fileOf(part.file)),
    ),
  ],
  'expected text, an image or a file',
);

const EXPECTED_MESSAGE = 'expected a message, a function call or the output of one';
/** A string counts as one text part. */
const partsOf = <Part extends z.ZodMiniType>(part: Part) =>
  z.pipe(
    z.transform((content: unknown) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content)),
    z.array(part, 'expected a string or an array of parts').check(z.maxLength(100)),
  );

const messageShape = {
  role: z.enum(['system', 'developer', 'user', 'assistant'], EXPECTED_MESSAGE),
  content: partsOf(messagePart),
};

/** The output of a function call: text. */
const outputText = z.pipe(
  partsOf(z.union(textParts, 'expected text')),
  z.transform((parts) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')),
);

/** Parts of assistant messages from OpenAI and its clients that are not their text. */
const UNSAID: ReadonlySet<unknown> = new Set([
  'reasoning',
  'reasoning_text',
  'summary_text',
  'thinking',
  'redacted_thinking',
  'output_audio',
  'function_call',
  'tool_call',
  'tool_use',
]);

/** Returns a message with content. An assistant message may have none, or a refusal, and parts that are not its text. */
function withContent(given: unknown): unknown {
  const message = Object(given);
  if (message.role !== 'assistant') return given;
  const { content, refusal } = message;
  if (Array.isArray(content))
    return {
      ...message,
      content: content.filter((part) => !UNSAID.has(Object(part).type) && Object(part).text !== ''),
    };
  if (content != null && content !== '') return given;
  return { ...message, content: typeof refusal === 'string' ? [{ type: 'refusal', refusal }] : [] };
}

/** Items whose content the answers of runs already contain: those of hosted tools, reasoning and calls. */
const skipped = z.object({
  type: z.enum([
    'additional_tools',
    'apply_patch_call',
    'apply_patch_call_output',
    'code_interpreter_call',
    'compaction',
    'compaction_trigger',
    'computer_call',
    'computer_call_output',
    'custom_tool_call',
    'custom_tool_call_output',
    'file_search_call',
    'image_generation_call',
    'local_shell_call',
    'local_shell_call_output',
    'mcp_approval_request',
    'mcp_approval_response',
    'mcp_call',
    'mcp_list_tools',
    'program',
    'program_output',
    'reasoning',
    'shell_call',
    'shell_call_output',
    'tool_search_call',
    'tool_search_output',
    'web_search_call',
  ]),
});

/** Adds the type of an item without one: a message has a role, a reference only an id. */
function withType(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const { type, role, id } = given as Readonly<Record<string, unknown>>;
  const implied = role === undefined && id !== undefined ? 'item_reference' : 'message';
  return withContent({ ...given, type: type ?? implied });
}

/** An item of the input. Output items of earlier responses may be sent again, or referred to by id. */
const inputItem = z.pipe(
  z.transform(withType),
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('message'), ...messageShape }),
      z.object({ type: z.literal('item_reference'), id: z.string() }),
      z.object({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
      z.object({ type: z.literal('function_call_output'), call_id: z.string(), output: outputText }),
      skipped,
    ],
    EXPECTED_MESSAGE,
  ),
);

const toolCall = z.object({
  id: z.nullish(z.string()),
  function: z.nullish(z.object({ name: z.string(), arguments: z.string() })),
});

/** A message of a chat. Tools that are not functions belong to other servers. */
const chatMessage = z.pipe(
  z.transform(withContent),
  z.discriminatedUnion(
    'role',
    [
      z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: outputText }),
      // The old format of a call result.
      z.pipe(
        z.object({ role: z.literal('function'), content: z.nullable(outputText) }),
        z.transform(({ content }) => ({ role: 'tool' as const, tool_call_id: '', content: content ?? '' })),
      ),
      z.object({ ...messageShape, tool_calls: z.nullish(z.array(toolCall)) }),
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
const tokens = z.nullish(z.int().check(z.gte(1)));

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
  max_output_tokens: tokens,
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
  max_tokens: tokens,
  max_completion_tokens: tokens,
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

/** Returns a tool result as text; `call` is the call in words, if it is known. */
const resultText = (output: string, call: string | undefined): string =>
  `Tool result${call === undefined ? '' : ` of ${call}`}: ${output}`;

export const callText = ({ name, arguments: args }: { readonly name: string; readonly arguments: string }): string =>
  `${name}(${args})`;

/** Returns a tool result as history. For a result that another message followed before the run had an answer. */
export const resultAsHistory = (output: string, call?: string): InputMessage => ({
  role: 'user',
  content: resultText(output, call),
});

/**
 * Returns the messages with tool results as a part of the last user message, which asks for an answer; without what the assistant said when
 * it made the calls. `calls`: the calls in words, by id.
 */
export function withResults(
  messages: readonly InputMessage[],
  outputs: readonly CallOutput[],
  calls: ReadonlyMap<string, string>,
): readonly InputMessage[] {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const results = outputs.map(({ callId, output }) => textOf(resultText(output, calls.get(callId))));
  if (results.length === 0) return messages;
  return messages.flatMap((message, place) => {
    if (place !== at) return place < at || message.role !== 'assistant' ? [message] : [];
    const { content } = message;
    return [{ ...message, content: [...(typeof content === 'string' ? [textOf(content)] : content), ...results] }];
  });
}

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
