import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Turn } from '../../chain/runtime/run-options.ts';
import type { Content, ContentPart } from '../../llm/content.ts';

/** The options of a call that apply to a chain. All others only cause warnings. */
export interface ChainCallOptions {
  prompt: readonly ChainMessage[];
  responseFormat?: ChainResponseFormat | undefined;
  abortSignal?: AbortSignal | undefined;
}

export type ChainResponseFormat =
  | { type: 'text' }
  | { type: 'json'; schema?: unknown; name?: string | undefined; description?: string | undefined };

interface ChainMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | readonly ChainPart[];
}

/** The `data` of a file is bytes or Base64 text; in V4, an object with a `type` contains them. */
interface ChainPart {
  type: string;
  text?: string;
  mediaType?: string;
  filename?: string | undefined;
  data?: unknown;
}

export interface ChainWarning {
  type: 'unsupported';
  feature: string;
  details?: string;
}

/** A call as a request to a chain: the last user message, the turns before it, the system messages, and warnings about what does not apply. */
export interface ChainRequest {
  readonly request: Content;
  readonly instructions?: string;
  readonly history: readonly Turn[];
  readonly warnings: readonly ChainWarning[];
}

/** Settings of one model call. A chain makes several, each with the settings of its own model. */
const SETTINGS = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
] as const;

/** @throws PostChainError `invalid_request` if the prompt has no user message with a text or a file. */
export function chainRequest(options: ChainCallOptions): ChainRequest {
  const prompt = Array.isArray(options?.prompt) ? options.prompt : [];
  const contents = prompt.map(contentOf);
  const at = contents.findLastIndex((content, index) => prompt[index]?.role === 'user' && !isBlank(content));
  const request = contents[at];
  if (request === undefined)
    throw new PostChainError('invalid_request', 'prompt: expected a user message with text or a file; received none.');
  const history = prompt.slice(0, at).flatMap(({ role }, index): Turn[] => {
    const content = contents[index] ?? '';
    return isBlank(content) || role === 'tool' || role === 'system' ? [] : [{ role, content }];
  });
  const system = prompt.flatMap(({ role, content }) => (role === 'system' ? [textOf(content).trim()] : []));
  const instructions = system.filter((text) => text !== '').join('\n\n');
  return {
    request,
    ...(instructions !== '' && { instructions }),
    history,
    warnings: warningsFor(options, prompt.slice(at + 1)),
  };
}

/** Returns the text of a message; for a user message with files, its texts and files. */
function contentOf({ role, content }: ChainMessage): Content {
  if (role !== 'user' || typeof content === 'string' || content.every(({ type }) => type !== 'file'))
    return textOf(content);
  return content.flatMap((part): ContentPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text ?? '' }];
    return part.type === 'file' ? [part as ContentPart] : [];
  });
}

const isBlank = (content: Content): boolean => typeof content === 'string' && content.trim() === '';

function textOf(content: ChainMessage['content']): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
}

function warningsFor(options: ChainCallOptions, after: readonly ChainMessage[]): readonly ChainWarning[] {
  const given = options as ChainCallOptions & Readonly<Record<string, unknown>>;
  const { prompt } = options;
  const parts = new Set(
    prompt.flatMap(({ role, content }) =>
      (typeof content === 'string' ? [] : content.map(({ type }) => type)).filter(
        // A chain's own replies contain reasoning.
        (type) => type !== 'text' && type !== 'reasoning' && !(type === 'file' && role === 'user'),
      ),
    ),
  );
  const isReasoning = given['reasoning'] !== undefined && given['reasoning'] !== 'provider-default';
  const tools = given['tools'];
  return [
    ...SETTINGS.filter((name) => given[name] !== undefined).map((name) => unsupported(name, SET_ON_MODEL)),
    ...(isReasoning ? [unsupported('reasoning', SET_ON_MODEL)] : []),
    ...(Array.isArray(tools) && tools.length > 0 ? [unsupported('tools', 'Give the chain capabilities instead.')] : []),
    ...[...parts].map((type) => unsupported(`${type} parts`, 'They are left out of the request.')),
    ...(after.some(({ role }) => role !== 'system')
      ? [unsupported('messages after the last user message', 'They are left out of the request.')]
      : []),
  ];
}

const SET_ON_MODEL = 'Set it on the model of the chain.';

const unsupported = (feature: string, details: string): ChainWarning => ({ type: 'unsupported', feature, details });
