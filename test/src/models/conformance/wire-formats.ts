import { event as data, type Exchange, responseEvent as typedEvent } from '../../../support/chat-server.ts';

/** One reply, independent of the provider. Texts and arguments are in the pieces in which they are streamed. */
export interface RecordedReply {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly name: string; readonly arguments: readonly string[] }[];
  readonly finish: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other';
}

/** Tokens: 40 of the input are read from a cache, 12 of the output are reasoning. */
export const USAGE = { input: 100, cached: 40, written: 5, output: 30, reasoning: 12 };

/** A provider's API: what its server sends. */
export interface WireFormat {
  /** The events of a streamed reply. The last `endEvents` of them contain the finish reason and what follows it. */
  readonly events: (reply: RecordedReply, body: unknown) => readonly string[];
  readonly endEvents: number;
  /** An event that is not valid JSON. */
  readonly broken: string;
  readonly error: (status: number, message: string) => object;
  /** Whether the server reports how many tokens were reasoning. */
  readonly reportsReasoning: boolean;
  /** Whether the server reports how many tokens were written to its cache. */
  readonly reportsWrites?: boolean;
  /** The files in a body, each as a data: URL, and the text after them. */
  readonly attached: (body: unknown) => readonly string[];
  /** Whether a body asks for JSON that matches a schema with this property. */
  readonly asksFor: (body: unknown, property: string) => boolean;
  /** Calls have no ids. */
  readonly identifiesCallsByName?: boolean;
  /** The native tool calls in a body and the results of tools, each with its id (Google: its name) and its arguments or text. */
  readonly toolTurns: (body: unknown) => readonly (readonly ['call' | 'result', unknown, unknown])[];
}

type Part = Readonly<Record<string, unknown>>;

/** Reads the parts of the only user turn. */
function userParts(turns: unknown, textOf: (part: Part) => string): readonly string[] {
  const { content, parts = content } = (turns as readonly Part[]).find(({ role }) => role === 'user') ?? {};
  return (parts as readonly Part[]).map(textOf);
}

type ToolTurns = ReturnType<WireFormat['toolTurns']>;

const partsIn = (body: unknown, member: string): readonly Part[] => (body as Part)[member] as readonly Part[];

const textIn = (content: unknown): string =>
  typeof content === 'string' ? content : (content as readonly Part[]).map(({ text }) => text).join('');

const dataUrl = (mediaType: unknown, base64: unknown): string => `data:${mediaType};base64,${base64}`;

const BROKEN = 'data: {"broken\n\n';

function chatChunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return data({ id: 'c1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'recorded', choices });
}

const CHAT_FINISH = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  other: 'abort',
};

export const chatCompletions: WireFormat = {
  reportsReasoning: true,
  broken: BROKEN,
  endEvents: 3,
  events: ({ reasoning = [], text = [], calls = [], finish }) => [
    chatChunk({ role: 'assistant', content: '' }),
    ...reasoning.map((piece) => chatChunk({ reasoning_content: piece })),
    ...text.map((piece) => chatChunk({ content: piece })),
    ...calls.flatMap(({ name, arguments: pieces }, index) => [
      chatChunk({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }],
      }),
      ...pieces.map((piece) => chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chatChunk({}, CHAT_FINISH[finish]),
    data({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'recorded',
      choices: [],
      usage: {
        prompt_tokens: USAGE.input,
        completion_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
        prompt_tokens_details: { cached_tokens: USAGE.cached },
        completion_tokens_details: { reasoning_tokens: USAGE.reasoning },
      },
    }),
    'data: [DONE]\n\n',
  ],
  error: (status, message) => ({ error: { message, type: status === 401 ? 'invalid_request_error' : 'error' } }),
  asksFor: (body, property) => JSON.stringify((body as Exchange['body']).response_format ?? null).includes(property),
  toolTurns: (body) =>
    partsIn(body, 'messages').flatMap((message): ToolTurns => {
      if (message['role'] === 'tool') return [['result', message['tool_call_id'], message['content']]];
      return ((message['tool_calls'] as readonly Part[]) ?? []).map((call) => [
        'call',
        call['id'],
        JSON.parse(String((call['function'] as Part)['arguments'])),
      ]);
    }),
  attached: (body) =>
    userParts((body as Part)['messages'], (part) =>
      String((part['image_url'] as Part)?.['url'] ?? (part['file'] as Part)?.['file_data'] ?? part['text']),
    ),
};

const RESPONSES_INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
  other: 'other',
};

/** One entry of a response's output: when it is complete, and how it is streamed. */
interface OutputItem {
  readonly whole: object;
  readonly added: object;
  readonly deltas: readonly { readonly type: string; readonly delta: string }[];
}

function outputItems({ reasoning = [], text = [], calls = [] }: RecordedReply): readonly OutputItem[] {
  const thought = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning.join('') }] };
  const content = [{ type: 'output_text', text: text.join(''), annotations: [] }];
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content };
  const texts = [
    {
      pieces: reasoning,
      type: 'response.reasoning_summary_text.delta',
      whole: thought,
      added: { ...thought, summary: [] },
    },
    {
      pieces: text,
      type: 'response.output_text.delta',
      whole: message,
      added: { ...message, status: 'in_progress', content: [] },
    },
  ].filter(({ pieces }) => pieces.length > 0);
  return [
    ...texts.map(({ pieces, type, ...item }) => ({ ...item, deltas: pieces.map((delta) => ({ type, delta })) })),
    ...calls.map(({ name, arguments: pieces }, at) => {
      const call = { id: `fc_${at}`, type: 'function_call', call_id: `call_${at}`, name };
      return {
        whole: { ...call, arguments: pieces.join('') },
        added: { ...call, arguments: '' },
        deltas: pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      };
    }),
  ];
}

export const openaiResponses: WireFormat = {
  reportsReasoning: true,
  broken: BROKEN,
  endEvents: 1,
  events(reply) {
    const items = outputItems(reply);
    const response = { id: 'resp_1', object: 'response', created_at: 1_760_000_000, model: 'recorded' };
    const reason = RESPONSES_INCOMPLETE[reply.finish];
    const end = reason === undefined ? 'completed' : 'incomplete';
    return [
      typedEvent('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      ...items.flatMap(({ whole, added, deltas }, output_index) => [
        typedEvent('response.output_item.added', { output_index, item: added }),
        ...deltas.map(({ type, delta }) => typedEvent(type, { output_index, delta })),
        typedEvent('response.output_item.done', { output_index, item: whole }),
      ]),
      typedEvent(`response.${end}`, {
        response: {
          ...response,
          status: end,
          error: null,
          incomplete_details: reason === undefined ? null : { reason },
          output: items.map(({ whole }) => whole),
          usage: {
            input_tokens: USAGE.input,
            input_tokens_details: { cached_tokens: USAGE.cached },
            output_tokens: USAGE.output,
            output_tokens_details: { reasoning_tokens: USAGE.reasoning },
            total_tokens: USAGE.input + USAGE.output,
          },
        },
      }),
    ];
  },
  error: (_, message) => ({ error: { message, type: 'error' } }),
  asksFor: (body, property) => JSON.stringify((body as Exchange['body']).text ?? null).includes(property),
  toolTurns: (body) =>
    partsIn(body, 'input').flatMap((item): ToolTurns => {
      if (item['type'] === 'function_call_output') return [['result', item['call_id'], item['output']]];
      return item['type'] === 'function_call' ? [['call', item['call_id'], JSON.parse(String(item['arguments']))]] : [];
    }),
  attached: (body) =>
    userParts((body as Part)['input'], (part) => String(part['image_url'] ?? part['file_data'] ?? part['text'])),
};

const ANTHROPIC_FINISH = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  other: 'compaction',
};

const ANTHROPIC_ERRORS: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export const anthropicMessages: WireFormat = {
  reportsReasoning: false,
  reportsWrites: true,
  broken: `event: content_block_delta\n${BROKEN}`,
  endEvents: 2,
  events(given, body) {
    const { reasoning = [], text = [], calls = [], finish } = asksForJsonTool(body) ? asJsonTool(given) : given;
    const block = (index: number, start: object, deltas: readonly object[]): string[] => [
      typedEvent('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => typedEvent('content_block_delta', { index, delta })),
      typedEvent('content_block_stop', { index }),
    ];
    const blocks: { readonly start: object; readonly deltas: readonly object[] }[] = calls.map(
      ({ name, arguments: pieces }, at) => ({
        start: { type: 'tool_use', id: `toolu_${at}`, name, input: {} },
        deltas: pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      }),
    );
    if (text.length > 0)
      blocks.unshift({
        start: { type: 'text', text: '' },
        deltas: text.map((piece) => ({ type: 'text_delta', text: piece })),
      });
    if (reasoning.length > 0)
      blocks.unshift({
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: 'c2lnbmVk' },
        ],
      });
    const usage = {
      input_tokens: USAGE.input - USAGE.cached - USAGE.written,
      cache_creation_input_tokens: USAGE.written,
      cache_read_input_tokens: USAGE.cached,
    };
    return [
      typedEvent('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      typedEvent('ping', {}),
      ...blocks.flatMap(({ start, deltas }, index) => block(index, start, deltas)),
      typedEvent('message_delta', {
        delta: { stop_reason: ANTHROPIC_FINISH[finish], stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }),
      typedEvent('message_stop', {}),
    ];
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: ANTHROPIC_ERRORS[status] ?? 'api_error', message },
    request_id: 'req_1',
  }),
  asksFor(body, property) {
    const { output_config, output_format, tools } = body as Readonly<Record<string, unknown>>;
    return JSON.stringify([output_config, output_format, tools]).includes(property);
  },
  toolTurns: (body) =>
    partsIn(body, 'messages').flatMap(({ content }) =>
      [content].flat().flatMap((given): ToolTurns => {
        const block = given as Part;
        if (block['type'] === 'tool_use') return [['call', block['id'], block['input']]];
        return block['type'] === 'tool_result' ? [['result', block['tool_use_id'], textIn(block['content'])]] : [];
      }),
    ),
  attached: (body) =>
    userParts((body as Part)['messages'], ({ source, text }) => {
      const { media_type, data: base64 } = Object(source) as Part;
      return source === undefined ? String(text) : dataUrl(media_type, base64);
    }),
};

/** Whether JSON is requested as the call of a tool `json`, as for models without structured outputs. */
function asksForJsonTool(body: unknown): boolean {
  const { tools = [] } = body as { readonly tools?: readonly { readonly name: string }[] };
  return tools.some(({ name }) => name === 'json');
}

function asJsonTool({ text = [], calls = [], ...reply }: RecordedReply): RecordedReply {
  if (text.length === 0 || calls.length > 0) return { text, calls, ...reply };
  const finish = reply.finish === 'stop' ? 'tool-calls' : reply.finish;
  return { ...reply, calls: [{ name: 'json', arguments: text }], finish };
}

const GOOGLE_FINISH = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  other: 'OTHER',
};

const GOOGLE_ERRORS: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function googleChunk(parts: readonly object[], members: object = {}, more: object = {}): string {
  const candidates = [{ content: { parts, role: 'model' }, index: 0, ...members }];
  return data({ candidates, modelVersion: 'gemini-2.5-flash', responseId: 'r1', ...more });
}

export const googleGenerate: WireFormat = {
  identifiesCallsByName: true,
  reportsReasoning: true,
  broken: BROKEN,
  endEvents: 1,
  events: ({ reasoning = [], text = [], calls = [], finish }) => [
    ...reasoning.map((piece) => googleChunk([{ text: piece, thought: true }])),
    ...text.map((piece) => googleChunk([{ text: piece }])),
    ...calls.map(({ name, arguments: pieces }) =>
      googleChunk([{ functionCall: { name, args: JSON.parse(pieces.join('')) } }]),
    ),
    googleChunk(
      [{ text: '' }],
      { finishReason: GOOGLE_FINISH[finish] },
      {
        usageMetadata: {
          promptTokenCount: USAGE.input,
          cachedContentTokenCount: USAGE.cached,
          candidatesTokenCount: USAGE.output - USAGE.reasoning,
          thoughtsTokenCount: USAGE.reasoning,
          totalTokenCount: USAGE.input + USAGE.output,
        },
      },
    ),
  ],
  error: (status, message) => ({
    error: {
      code: status,
      message,
      status: GOOGLE_ERRORS[status] ?? 'INTERNAL',
      ...(status === 429 && {
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }],
      }),
    },
  }),
  asksFor: (body, property) =>
    JSON.stringify((body as { generationConfig?: unknown }).generationConfig ?? null).includes(property),
  toolTurns: (body) =>
    partsIn(body, 'contents').flatMap(({ parts }) =>
      (parts as readonly Part[]).flatMap((part): ToolTurns => {
        const { functionCall: call, functionResponse: result } = part as Readonly<Record<string, Part | undefined>>;
        if (call !== undefined) return [['call', call['name'], call['args']]];
        const { content, error = content } = Object(result?.['response']) as Part;
        return result === undefined ? [] : [['result', result['name'], error]];
      }),
    ),
  attached: (body) =>
    userParts((body as Part)['contents'], ({ inlineData, text }) => {
      const { mimeType, data: base64 } = Object(inlineData) as Part;
      return inlineData === undefined ? String(text) : dataUrl(mimeType, base64);
    }),
};
