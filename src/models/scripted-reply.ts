import type { TokenUsage } from '../../machines/contracts/budget.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { FinishReason, ModelRequest, ReplyForm } from '../../machines/contracts/model.ts';

/**
 * What any scripted reply may have beside. `reasoning`: thought aloud before all else. `cut`: after that many characters of the
 * reply the connection breaks (a retryable `stream_cut`). `replyForm`: the form that the model answers in, whatever was asked for.
 */
interface Ending {
  readonly reasoning?: string;
  readonly reason?: FinishReason;
  readonly usage?: TokenUsage | null;
  readonly cut?: number;
  readonly replyForm?: ReplyForm;
}

export type Directive =
  /** Raw text, say broken JSON. */
  | ({ readonly text: string } & Ending)
  /** A reply object, with an ending of its own. */
  | ({ readonly reply: unknown } & Ending)
  /** A call of the tool asked for, or of another by `name`, one offered beside the reply say; text is sent as it is, say broken JSON. `text`: said before the call. */
  | ({ readonly toolCall: unknown; readonly name?: string; readonly text?: string } & Omit<Ending, 'replyForm'>)
  /** A failed call; what is left out is a retryable failure of transport. `usage`: what it cost all the same. */
  | { readonly failure: Partial<Failure>; readonly usage?: TokenUsage | null; readonly reasoning?: string }
  /** Says `text`, if any, and then nothing until the call is aborted. */
  | { readonly hang: true; readonly text?: string; readonly reasoning?: string };

/**
 * What one call gives: a directive, or any other object, which is the reply itself. Where the request wants a tool call, a reply
 * and a `text` are the arguments of one call of its tool, so the same script does for both forms.
 */
export type ScriptedReply = Directive | Readonly<Record<string, unknown>>;

/** A reply, or one made from the request. */
export type ScriptEntry = ScriptedReply | ((request: ModelRequest) => ScriptedReply);

const WORDS = ['text', 'reply', 'toolCall', 'failure', 'hang', 'reasoning', 'reason', 'usage', 'cut', 'replyForm'];

/** A directive has one of the five leading words and no word that is not a directive's. */
export function isDirective(reply: ScriptedReply): reply is Directive {
  const { text, failure, hang }: Readonly<Record<string, unknown>> = { ...reply };
  const isFailing = typeof failure === 'object' && failure !== null;
  const leads = typeof text === 'string' || isFailing || hang === true || 'reply' in reply || 'toolCall' in reply;
  return leads && Object.keys(reply).every((word) => WORDS.includes(word) || (word === 'name' && 'toolCall' in reply));
}
