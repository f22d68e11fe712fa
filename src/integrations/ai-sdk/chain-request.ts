import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Turn } from '../../engine/runtime/run-options.ts';

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
  content: string | readonly { type: string; text?: string; mediaType?: string }[];
}

export interface ChainWarning {
  type: 'unsupported';
  feature: string;
  details?: string;
}

/** A call as a request to a chain: the last user message, the turns before it, the system messages, and warnings about what does not apply. */
export interface ChainRequest {
  readonly request: string;
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

/** @throws PostChainError `invalid_request` if the prompt has no user message with text, or if the last one has only other parts. */
export function chainRequest(options: ChainCallOptions): ChainRequest {
  const { prompt } = options;
  const at = prompt.findLastIndex(({ role, content }) => role === 'user' && textOf(content).trim() !== '');
  const last = prompt[at];
  const others = otherParts(prompt.findLast(({ role }) => role === 'user'));
  if (others.length > 0) {
    throw new PostChainError(
      'invalid_request',
      `prompt: expected text in the last user message; received ${others.join(', ')}.`,
    );
  }
  if (last === undefined) {
    throw new PostChainError('invalid_request', 'prompt: expected a user message with text; received none.');
  }
  const history = prompt.flatMap((message, index): Turn[] => {
    const { role } = message;
    const content = textOf(message.content);
    return index >= at || content.trim() === '' || role === 'tool' || role === 'system' ? [] : [{ role, content }];
  });
  const system = prompt.flatMap(({ role, content }) => (role === 'system' ? [textOf(content).trim()] : []));
  const instructions = system.filter((text) => text !== '').join('\n\n');
  return {
    request: textOf(last.content),
    ...(instructions !== '' && { instructions }),
    history,
    warnings: warningsFor(options, prompt.slice(at + 1)),
  };
}

/** Returns what a message without text has in its place, for example `image`. */
function otherParts(message: ChainMessage | undefined): readonly string[] {
  if (message === undefined || typeof message.content === 'string' || textOf(message.content).trim() !== '') return [];
  const others = message.content.filter(({ type }) => type !== 'text');
  return [...new Set(others.map(({ type, mediaType }) => (mediaType?.startsWith('image') ? 'image' : type)))];
}

function textOf(content: ChainMessage['content']): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
}

function warningsFor(options: ChainCallOptions, after: readonly ChainMessage[]): readonly ChainWarning[] {
  const given = options as ChainCallOptions & Readonly<Record<string, unknown>>;
  const { prompt } = options;
  const parts = new Set(
    prompt.flatMap(({ content }) => (typeof content === 'string' ? [] : content.map(({ type }) => type))),
  );
  const isReasoning = given['reasoning'] !== undefined && given['reasoning'] !== 'provider-default';
  const tools = given['tools'];
  return [
    ...SETTINGS.filter((name) => given[name] !== undefined).map((name) => unsupported(name, SET_ON_MODEL)),
    ...(isReasoning ? [unsupported('reasoning', SET_ON_MODEL)] : []),
    ...(Array.isArray(tools) && tools.length > 0 ? [unsupported('tools', 'Give the chain capabilities instead.')] : []),
    ...[...parts]
      .filter((type) => type !== 'text')
      .map((type) => unsupported(`${type} parts`, 'They are left out of the request.')),
    ...(after.some(({ role }) => role !== 'system')
      ? [unsupported('messages after the last user message', 'They are left out of the request.')]
      : []),
  ];
}

const SET_ON_MODEL = 'Set it on the model of the chain.';

const unsupported = (feature: string, details: string): ChainWarning => ({ type: 'unsupported', feature, details });
