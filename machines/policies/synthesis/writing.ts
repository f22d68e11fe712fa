import type { AttemptInput, AttemptOutcome, AttemptPolicy } from '../../contracts/attempt.ts';
import type { ChainState } from '../../contracts/chain-state.ts';
import type { GuardResult } from '../../contracts/decision.ts';
import type { Message } from '../../contracts/message.ts';
import {
  type Dictionary,
  type FinalAnswer,
  hasVisibleText,
  type SynthesisInput,
  type SynthesisOutcome,
} from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { clipped } from '../../text/clip.ts';
import { instructionsFor } from '../instructions.ts';
import { deadlines } from '../limits.ts';
import { type CallBounds, callLimits, executionId } from '../phase-input.ts';
import { chargeExecution, NOTHING_IN_FLIGHT } from '../progress.ts';
import { instructionTokens, maxWritingCalls, tokensPerCharOf } from '../usage.ts';
import { hasConverged } from '../yield-rules.ts';
import { composeAnswer } from './compose.ts';
import { synthesisInput } from './input.ts';
import { composedOutcome, draftedOutcome, failedOutcome, lateOutcome, outcomeOf } from './outcome.ts';
import { readSynthesisInput } from './read-input.ts';

/** How to write the answer: by a model from part of the input, or composed without one, and why. */
export type WritingPlan =
  | {
      readonly asks: true;
      readonly input: SynthesisInput;
      readonly promptTokens: number;
      readonly replyTokens: number;
      /** Tokens per character of these texts. */
      readonly tokensPerChar: number;
    }
  | { readonly asks: false; readonly outcome: SynthesisOutcome };

/**
 * Decides whether a model may write the final answer: it is available, the run was not stopped, and the prompt fits
 * into the reserve and the window of `windowTokens`, with a quarter left for the reply and `instructionsTokens` for the
 * instructions. Context that does not fit is left out; if even the request and the draft do not fit, the engine composes
 * the answer.
 */
export function planWriting(input: SynthesisInput, windowTokens: number, instructionsTokens = 0): WritingPlan {
  const { interruption, limits } = input.run;
  const kind = interruption?.kind;
  const reserve = limits.synthesisReserveTokens ?? 0;
  if (kind === 'cancelled' || kind === 'interrupted' || kind === 'model_unavailable' || reserve === 0)
    return { asks: false, outcome: composedOutcome('') };
  if (!hasVisibleText(input.request)) return { asks: false, outcome: failedOutcome('prompt', 'there is no request') };
  const budget = Math.min(reserve, windowTokens);
  const fit = fitPrompt(input, budget - Math.ceil(budget * REPLY_SHARE) - instructionsTokens);
  if (fit === null)
    return {
      asks: false,
      outcome: composedOutcome(
        `The answer was composed without a model: the prompt does not fit into the ${budget} tokens reserved for it.`,
      ),
    };
  const promptTokens = fit.promptTokens + instructionsTokens;
  return { asks: true, ...fit, promptTokens, replyTokens: budget - promptTokens };
}

const REPLY_SHARE = 0.25;

/**
 * The limits of the calls that write the answer, all paid from the reserve: at most one correction, one transport retry
 * and one call of each fallback, while another prompt fits into the rest; a reply is at most as long as the first
 * prompt left tokens for.
 */
export function writingPolicy(
  bounds: CallBounds,
  { replyTokens, tokensPerChar }: Extract<WritingPlan, { asks: true }>,
): AttemptPolicy {
  const { limits } = bounds;
  const calls = callLimits(bounds, 'synthesis');
  return {
    ...calls,
    parentMs: null,
    triesReplyForms: false,
    maxCorrections: Math.min(1, calls.maxCorrections),
    maxTransportRetries: Math.min(1, calls.maxTransportRetries),
    maxCalls: maxWritingCalls(bounds.fallbackModels),
    maxTokens: limits.synthesisReserveTokens,
    maxReplyChars: Math.max(1, Math.min(limits.maxReplyChars, Math.floor(replyTokens / tokensPerChar))),
  };
}

/** Characters of the built-in prompt besides the input: instructions, headings and the reply schema. */
const INSTRUCTION_CHARS = 1_600;

/** Characters around one piece of text in a prompt: its block with id, role and source. */
const BLOCK_CHARS = 80;

/** A shorter piece is not worth showing. */
const LEAST_CHARS = 400;

interface PromptFit {
  readonly input: SynthesisInput;
  readonly promptTokens: number;
  readonly tokensPerChar: number;
}

/** The dictionaries of the input that a prompt shows besides how the run ended, entirely or not at all. */
const DICTIONARIES = ['planState', 'taskProfile', 'executionPasses', 'semanticValidation'] as const;

/** Returns a dictionary in lines, without its empty members. */
export function dictionaryText(dictionary: Dictionary | readonly Dictionary[] | null): string {
  if (isList(dictionary)) return dictionary.map((one) => JSON.stringify(one)).join('\n');
  return Object.entries(dictionary ?? {})
    .filter(([, value]) => value != null && value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

const isList = (value: Dictionary | readonly Dictionary[] | null): value is readonly Dictionary[] =>
  Array.isArray(value);

/** A step, message or dictionary that may be shown, and its cost. */
interface Piece {
  readonly of: 'step' | 'message' | 'dictionary';
  readonly at: number;
  readonly content: string;
  /** Characters around it. */
  readonly overheadChars: number;
  readonly rank: number;
  readonly weight: number;
}

/**
 * Selects the steps and messages that fit into a prompt of `tokens`: first the messages that the draft is based on,
 * then the steps, the dictionaries, the user's messages, and the rest by importance, newer first; a piece that does not
 * fit is cut to its beginning, and a dictionary left out. Null if not even the request and the draft fit. Counts the
 * texts of the built-in prompt with their usual number of tokens.
 */
export function fitPrompt(input: SynthesisInput, tokens: number): PromptFit | null {
  const tokensPerChar = tokensPerCharOf(textsOf(input));
  const maxChars = tokens / tokensPerChar;
  const base =
    INSTRUCTION_CHARS + charsOfText(input.request) + charsOfText(dictionaryText(input.convergenceAssessment));
  let chars = base + charsOfText(input.run.draft?.text ?? '');
  if (chars > maxChars) return null;
  const pieces = piecesOf(input);
  const shown = {
    step: new Map<number, string>(),
    message: new Map<number, string>(),
    dictionary: new Map<number, string>(),
  };
  for (const piece of pieces) {
    const content = shownOf(piece, maxChars - chars);
    if (content === null) continue;
    chars += piece.overheadChars + charsOfText(content);
    shown[piece.of].set(piece.at, content);
  }
  const promptTokens = Math.ceil(chars * tokensPerChar);
  if (pieces.every(({ of, at, content }) => shown[of].get(at) === content))
    return { input, promptTokens, tokensPerChar };
  const { run, executionResults } = input;
  return {
    input: {
      ...input,
      ...withoutHidden(shown.dictionary),
      executionResults: shownParts(executionResults, shown.step),
      run: { ...run, messages: shownParts(run.messages, shown.message) },
    },
    promptTokens,
    tokensPerChar,
  };
}

/**
 * Returns the entire piece, or its beginning in half of the remaining characters; null if that is too short to be
 * useful.
 */
function shownOf({ of, content, overheadChars }: Piece, left: number): string | null {
  if (overheadChars + charsOfText(content) <= left) return content;
  if (of === 'dictionary') return null;
  const chars = Math.floor(left / 2) - overheadChars;
  if (chars < LEAST_CHARS) return null;
  const cut = clipped(content, chars);
  return clipped(content, Math.max(1, chars - (charsOfText(cut) - cut.length)));
}

function shownParts<Part extends { readonly content: string }>(
  parts: readonly Part[],
  shown: ReadonlyMap<number, string>,
): readonly Part[] {
  return parts.flatMap((part, at) => {
    const content = shown.get(at);
    if (content === undefined) return [];
    return content === part.content ? [part] : [{ ...part, content }];
  });
}

/** Returns the dictionaries that do not fit, emptied. */
function withoutHidden(
  shown: ReadonlyMap<number, string>,
): Partial<Pick<SynthesisInput, (typeof DICTIONARIES)[number]>> {
  const hidden = DICTIONARIES.filter((_, at) => !shown.has(at));
  return Object.fromEntries(hidden.map((name) => [name, name === 'planState' ? {} : null]));
}

function* textsOf({ request, executionResults, run }: SynthesisInput): Iterable<string> {
  yield request;
  yield run.draft?.text ?? '';
  for (const { content } of run.messages) yield content;
  for (const { content } of executionResults) yield content;
}

/** Returns the pieces, the best first; within a rank and weight, the later first. */
function piecesOf(input: SynthesisInput): readonly Piece[] {
  const { executionResults, run } = input;
  const used = new Set(run.draft?.usedMessageIds);
  const steps = executionResults.map(({ phase, content }, at): Piece => {
    return { of: 'step', at, content, overheadChars: BLOCK_CHARS + phase.length, rank: 1, weight: 0 };
  });
  const messages = run.messages.map(
    (message, at): Piece => ({
      of: 'message',
      at,
      content: message.content,
      overheadChars: overheadOf(message),
      rank: rankOf(message, used),
      weight: message.importance,
    }),
  );
  const dictionaries = DICTIONARIES.map((name, at): Piece => {
    const content = dictionaryText(input[name]);
    return { of: 'dictionary', at, content, overheadChars: BLOCK_CHARS, rank: 2, weight: 1 - at / 10 };
  });
  return [...steps, ...messages, ...dictionaries].sort((a, b) => a.rank - b.rank || b.weight - a.weight || b.at - a.at);
}

function rankOf({ id, role }: Message, used: ReadonlySet<string>): number {
  if (used.has(id)) return 0;
  return role === 'user' ? 3 : 4;
}

function overheadOf({ id, source }: Message): number {
  return BLOCK_CHARS + id.length + (source?.path.length ?? 0);
}

/** Characters of a text in a prompt: one more for each `<`, since the prompt breaks up tags. */
function charsOfText(text: string): number {
  let chars = text.length;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) chars += 1;
  return chars;
}

/**
 * Whether Yield's answer is the final one, so that no model writes another: the profile allows it, a rule found the answer good, and
 * the answer is the current cycle's, valid (not prose), and supported by the evidence.
 */
export function answerIsFinal(state: ChainState): GuardResult {
  const { profile, results, recursion, assessment } = state;
  const reply = results.yield;
  const isCurrent = reply !== null && reply.step === recursion.step && hasVisibleText(reply.reply.answer);
  const { modelConfidence = 0 } = assessment?.evidence ?? {};
  const inputs = {
    writing: profile.writing,
    converged: hasConverged(state),
    current: isCurrent,
    prose: reply?.prose ?? false,
    confidence: assessment?.confidence ?? 0,
    modelConfidence,
  };
  const isSound = inputs.converged && isCurrent && !inputs.prose && inputs.confidence >= modelConfidence;
  return { holds: profile.writing === 'if-needed' && isSound, inputs };
}

/** Whether a model may write the final answer: it is available, and there is a reserve of tokens for it. */
export function modelMayWrite(state: ChainState): GuardResult {
  const plan = planOf(state);
  return {
    holds: plan.asks,
    inputs: {
      interruption: state.interruption?.kind ?? null,
      synthesisReserveTokens: state.limits.synthesisReserveTokens,
      promptTokens: plan.asks ? plan.promptTokens : null,
    },
  };
}

/** Returns the input of the attempt that writes the answer. */
export function writingInput(state: ChainState): AttemptInput {
  const plan = planOf(state);
  if (!plan.asks) throw new TypeError('writingInput was called although modelMayWrite does not hold');
  return {
    id: executionId(state, 'synthesis'),
    task: 'synthesis',
    input: plan.input,
    instructions: instructionsFor(state, 'synthesis'),
    policy: { ...writingPolicy(state, plan), parentMs: deadlines(state).synthesisMs, triesReplyForms: true },
    models: state.models,
    hasParent: true,
  };
}

/** Records the outcome. Its usage is part of the outcome, separate from the usage of the phases. */
export function settleWriting(state: ChainState, outcome: AttemptOutcome): Partial<ChainState> {
  const { inFlight, corrections, lastMessageAtMs } = chargeExecution(state, outcome.execution);
  return { inFlight, corrections, lastMessageAtMs, written: outcomeOf(outcome) };
}

export function timeOutWriting(state: ChainState, usage: Usage): Partial<ChainState> {
  return {
    inFlight: NOTHING_IN_FLIGHT,
    lastMessageAtMs: state.lastMessageAtMs + deadlines(state).synthesisMs,
    written: lateOutcome(usage),
  };
}

/** Returns the final answer of a run in its current state. */
export function answerOf(state: ChainState): FinalAnswer {
  const plan = state.written === null ? planOf(state) : null;
  const outcome = state.written ?? (plan?.asks === false ? plan.outcome : composedOutcome(''));
  return composeAnswer(synthesisInput(state), outcome);
}

function planOf(state: ChainState): WritingPlan {
  if (answerIsFinal(state).holds) return { asks: false, outcome: draftedOutcome };
  const { input } = readSynthesisInput(synthesisInput(state));
  return planWriting(input, state.contextWindowTokens, instructionTokens(state));
}
