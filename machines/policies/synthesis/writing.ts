import type { AttemptPolicy } from '../../contracts/attempt.ts';
import type { Message } from '../../contracts/message.ts';
import { type SynthesisInput, type SynthesisOutcome, says } from '../../contracts/synthesis.ts';
import { clipped } from '../../text/clip.ts';
import { type CallBounds, callLimits } from '../phase-input.ts';
import { tokensPerCharOf } from '../usage.ts';
import { composedOutcome, unwritten } from './outcome.ts';

/** How the answer is to be written: by a model, from so much of the input; or by the engine, and why. */
export type WritingPlan =
  | {
      readonly asks: true;
      readonly input: SynthesisInput;
      readonly promptTokens: number;
      readonly replyTokens: number;
      /** Tokens a character, of these texts. */
      readonly tokensPerChar: number;
    }
  | { readonly asks: false; readonly outcome: SynthesisOutcome };

/**
 * Whether a model may write the final answer [E9]: it is there, the run was not left, and the prompt fits in the reserve with a quarter
 * of it left for the reply, in a window of `windowTokens`. What does not fit of the context is not shown; where even the request and
 * the draft do not fit, the engine composes.
 */
export function planWriting(input: SynthesisInput, windowTokens: number): WritingPlan {
  const { interruption, limits } = input.run;
  const kind = interruption?.kind;
  const reserve = limits.synthesisReserveTokens ?? 0;
  if (kind === 'cancelled' || kind === 'interrupted' || kind === 'model_unavailable' || reserve === 0)
    return { asks: false, outcome: composedOutcome('') };
  if (!says(input.request)) return { asks: false, outcome: unwritten('prompt', 'there is no request') };
  const room = Math.min(reserve, windowTokens);
  const fit = fitPrompt(input, room - Math.ceil(room * REPLY_SHARE));
  if (fit === null)
    return {
      asks: false,
      outcome: composedOutcome(
        `Composed without a model: its prompt does not fit in the ${room} tokens kept for the final answer.`,
      ),
    };
  return { asks: true, ...fit, replyTokens: room - fit.promptTokens };
}

const REPLY_SHARE = 0.25;

/**
 * The bounds of the final answer's calls, all paid from the reserve: at most one correction, one transport retry and one of each fallback, while another
 * prompt fits in what is left of it; no reply is longer than the first prompt left room for.
 */
export function writingPolicy(
  bounds: CallBounds,
  { replyTokens, tokensPerChar }: Extract<WritingPlan, { asks: true }>,
): AttemptPolicy {
  const { limits } = bounds;
  return {
    ...callLimits(bounds),
    maxCorrections: Math.min(1, limits.maxCorrections),
    maxTransportRetries: Math.min(1, limits.maxTransportRetries),
    maxCalls: 3 + bounds.fallbackModels,
    maxTokens: limits.synthesisReserveTokens,
    maxReplyChars: Math.max(1, Math.min(limits.maxReplyChars, Math.floor(replyTokens / tokensPerChar))),
  };
}

/** What the product's prompt says beside the input: its instructions, its headings and the schema of the reply. */
const INSTRUCTION_CHARS = 1_600;

/** What stands around one piece of text in a prompt: its block, with its id, its role and its source. */
const BLOCK_CHARS = 80;

/** Less of a piece says nothing. */
const LEAST_CHARS = 400;

interface PromptFit {
  readonly input: SynthesisInput;
  readonly promptTokens: number;
  readonly tokensPerChar: number;
}

/** A step or a message that may be shown, and what it costs. */
interface Piece {
  readonly of: 'step' | 'message';
  readonly at: number;
  readonly content: string;
  /** Characters of what stands around it. */
  readonly marks: number;
  readonly rank: number;
  readonly weight: number;
}

/**
 * The input with as many of its steps and messages as a prompt of `tokens` has room for: the messages that the draft rests on first,
 * then the steps, what the user said, and the rest by its importance, the newer first; of what does not fit, the beginning. Null where
 * not even the request and the draft fit. Counted are the texts that the product's own prompt shows, by the tokens that such text usually has.
 */
export function fitPrompt(input: SynthesisInput, tokens: number): PromptFit | null {
  const tokensPerChar = tokensPerCharOf(textsOf(input));
  const room = tokens / tokensPerChar;
  const base = INSTRUCTION_CHARS + charsOfText(input.request) + charsOfText(input.convergenceAssessment.rationale);
  let chars = base + charsOfText(input.run.draft?.text ?? '');
  if (chars > room) return null;
  const pieces = piecesOf(input);
  const shown = { step: new Map<number, string>(), message: new Map<number, string>() };
  for (const piece of pieces) {
    const content = shownOf(piece, room - chars);
    if (content === null) continue;
    chars += piece.marks + charsOfText(content);
    shown[piece.of].set(piece.at, content);
  }
  const promptTokens = Math.ceil(chars * tokensPerChar);
  if (pieces.every(({ of, at, content }) => shown[of].get(at) === content))
    return { input, promptTokens, tokensPerChar };
  const { run, executionResults } = input;
  return {
    input: {
      ...input,
      executionResults: partsOf(executionResults, shown.step),
      run: { ...run, messages: partsOf(run.messages, shown.message) },
    },
    promptTokens,
    tokensPerChar,
  };
}

/** All of a piece, or as much of its beginning as half of the room that is left; null where that would say nothing. */
function shownOf({ content, marks }: Piece, room: number): string | null {
  if (marks + charsOfText(content) <= room) return content;
  const chars = Math.floor(room / 2) - marks;
  if (chars < LEAST_CHARS) return null;
  const cut = clipped(content, chars);
  return clipped(content, Math.max(1, chars - (charsOfText(cut) - cut.length)));
}

function partsOf<Part extends { readonly content: string }>(
  parts: readonly Part[],
  shown: ReadonlyMap<number, string>,
): readonly Part[] {
  return parts.flatMap((part, at) => {
    const content = shown.get(at);
    if (content === undefined) return [];
    return content === part.content ? [part] : [{ ...part, content }];
  });
}

function* textsOf({ request, executionResults, run }: SynthesisInput): Iterable<string> {
  yield request;
  yield run.draft?.text ?? '';
  for (const { content } of run.messages) yield content;
  for (const { content } of executionResults) yield content;
}

/** The best first; of the same rank and weight, the later. */
function piecesOf({ executionResults, run }: SynthesisInput): readonly Piece[] {
  const used = new Set(run.draft?.usedMessageIds);
  const steps = executionResults.map(({ phase, content }, at): Piece => {
    return { of: 'step', at, content, marks: BLOCK_CHARS + phase.length, rank: 1, weight: 0 };
  });
  const messages = run.messages.map(
    (message, at): Piece => ({
      of: 'message',
      at,
      content: message.content,
      marks: marksOf(message),
      rank: rankOf(message, used),
      weight: message.importance,
    }),
  );
  return [...steps, ...messages].sort((a, b) => a.rank - b.rank || b.weight - a.weight || b.at - a.at);
}

function rankOf({ id, role }: Message, used: ReadonlySet<string>): number {
  if (used.has(id)) return 0;
  return role === 'user' ? 2 : 3;
}

function marksOf({ id, source }: Message): number {
  return BLOCK_CHARS + id.length + (source?.path.length ?? 0);
}

/** With a space more for each tag that a prompt breaks up. */
function charsOfText(text: string): number {
  let chars = text.length;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) chars += 1;
  return chars;
}
