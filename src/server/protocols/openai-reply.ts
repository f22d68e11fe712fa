import { tokensPerCharOf } from '../../../machines/policies/usage.ts';
import { isJsonNode } from '../../internal/json-schema.ts';
import type { ServedAnswer } from '../updates.ts';
import type { Returned } from './openai-parameters.ts';
import { type CallName, FORCED } from './openai-turns.ts';

/** The part of an answer that ends a response. */
export type AnswerReply =
  | { readonly type: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly type: 'refusal'; readonly refusal: string }
  | { readonly type: 'call'; readonly call: CallName };

/** What a request asked for, as it is stored with the run. */
export interface ReplyRequest {
  readonly returned: Returned;
  readonly max_output_tokens: number | null;
}

/** Returns the answer in the form that its request asked for; a refusal with the reason if the requested value is missing. */
export function replyOf(answer: ServedAnswer, { returned, max_output_tokens: maxTokens }: ReplyRequest): AnswerReply {
  const { value, answerText, reasons } = answer;
  if (returned === 'text') return textReply(answerText, maxTokens);
  if (value === undefined) {
    const { message = answerText } = reasons.find(({ code }) => code === 'value_missing') ?? {};
    return { type: 'refusal', refusal: message };
  }
  if (returned === 'value') return textReply(JSON.stringify(value), maxTokens);
  const [only = '', ...others] = returned.calls;
  const { name, arguments: args } = others.length === 0 ? { name: only, arguments: value } : Object(value);
  return {
    type: 'call',
    call: {
      questionId: FORCED,
      capability: String(name),
      arguments: isJsonNode(args) ? (args as CallName['arguments']) : {},
    },
  };
}

/** Cuts a text to the token limit of a response. Tokens are estimated. */
function textReply(text: string, maxTokens: number | null): AnswerReply {
  const most = maxTokens === null ? text.length : Math.max(1, Math.floor(maxTokens / tokensPerCharOf([text])));
  // Half of a surrogate pair is not text.
  return { type: 'text', text: text.slice(0, most).replace(/[\ud800-\udbff]$/u, ''), isCut: most < text.length };
}
