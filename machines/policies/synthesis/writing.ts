import type { AttemptInput, AttemptOutcome, AttemptPolicy } from '../../contracts/attempt.ts';
import type { ChainState } from '../../contracts/chain-state.ts';
import type { GuardResult } from '../../contracts/decision.ts';
import type { Limits } from '../../contracts/limits.ts';
import type { Message } from '../../contracts/message.ts';
import { type AnswerMaterial, hasVisibleText, type Step, type SynthesisOutcome } from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { clipped } from '../../text/clip.ts';
import { startRoute } from '../model-status.ts';
import { type CallBounds, callLimits, costBounds, executionId } from '../phase-calls.ts';
import { chargeExecution, NOTHING_IN_FLIGHT } from '../progress.ts';
import { costExceeds, deadlines, instructionsFor, instructionTokens, tokensPerCharOf } from '../usage.ts';
import { hasConverged } from '../yield-rules.ts';
import { type AnswerBasis, basisOf } from './basis.ts';
import { composedOutcome, draftedOutcome, lateOutcome, outcomeOf } from './compose.ts';

/** How to write the answer: by a model from part of the material, or composed without one, and why. */
export type WritingPlan =
  | {
      readonly asks: true;
      readonly input: AnswerMaterial;
      readonly promptTokens: number;
      readonly replyTokens: number;
      readonly tokensPerChar: number;
    }
  | { readonly asks: false; readonly outcome: SynthesisOutcome };

/**
 * Decides whether a model may write the final answer: it is available, the run was not stopped, and the prompt fits
 * into the reserve and the window of `windowTokens`, with a quarter left for the reply and `instructionsTokens` for the
 * instructions. Context that does not fit is left out; if even the request and the draft do not fit, the engine composes
 * the answer.
 */
export function planWriting(
  { material, interruption, limits }: AnswerBasis,
  windowTokens: number,
  instructionsTokens = 0,
): WritingPlan {
  const kind = interruption?.kind;
  const reserve = limits.synthesisReserveTokens ?? 0;
  if (kind === 'cancelled' || kind === 'interrupted' || kind === 'model_unavailable' || reserve === 0)
    return { asks: false, outcome: composedOutcome('') };
  const budget = Math.min(reserve, windowTokens);
  const fit = fitPrompt(material, budget - Math.ceil(budget * REPLY_SHARE) - instructionsTokens);
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

/** The first call, a correction and a transport retry. */
const BASE_WRITING_CALLS = 3;

/**
 * The limits of the calls that write the answer, all paid from the reserve: at most one correction, one transport retry
 * and one call of each fallback, while another prompt fits into the rest; a reply is at most as long as the first
 * prompt left tokens for.
 */
export function writingPolicy(bounds: CallBounds, plan: Extract<WritingPlan, { asks: true }>): AttemptPolicy {
  const { limits } = bounds;
  const calls = callLimits(bounds, 'synthesis');
  return {
    ...calls,
    parentMs: null,
    triesReplyForms: false,
    maxCorrections: Math.min(1, calls.maxCorrections),
    maxTransportRetries: Math.min(1, calls.maxTransportRetries),
    maxCalls: BASE_WRITING_CALLS + bounds.fallbackModels,
    maxTokens: limits.synthesisReserveTokens,
    maxReplyChars: replyChars(limits, plan),
  };
}

/** Returns the most characters of a reply, so that it fits into the tokens that the prompt leaves. */
export const replyChars = (
  { maxReplyChars }: Pick<Limits, 'maxReplyChars'>,
  { replyTokens, tokensPerChar }: Extract<WritingPlan, { asks: true }>,
): number => Math.max(1, Math.min(maxReplyChars, Math.floor(replyTokens / tokensPerChar)));

/** Characters of the built-in prompt besides the material: instructions, headings and the reply schema. */
const INSTRUCTION_CHARS = 1_600;

/** Characters around one piece of text in a prompt: its block with id, role and source. */
const BLOCK_CHARS = 80;

/** A shorter piece is not worth showing. */
const LEAST_CHARS = 400;

interface PromptFit {
  readonly input: AnswerMaterial;
  readonly promptTokens: number;
  readonly tokensPerChar: number;
}

/** The notes that a prompt shows besides how the run ended, entirely or not at all. */
const NOTES = ['plan', 'task', 'passes', 'validation'] as const;

/** A step, message or note that may be shown, and its cost. */
interface Piece {
  readonly source: Step | Message | (typeof NOTES)[number];
  readonly content: string;
  /** Characters around it. */
  readonly overheadChars: number;
  readonly rank: number;
  readonly weight: number;
}

/**
 * Selects the steps and messages that fit into a prompt of `tokens`: first the messages that the draft is based on,
 * then the steps, the notes, the user's messages, and the rest by importance, newer first; a piece that does not
 * fit is cut to its beginning, and a note left out. Null if not even the request and the draft fit. Counts the
 * texts of the built-in prompt with their usual number of tokens.
 */
function fitPrompt(material: AnswerMaterial, tokens: number): PromptFit | null {
  const { request, draft, steps, messages, notes } = material;
  const tokensPerChar = tokensPerCharOf(textsOf(material));
  const maxChars = tokens / tokensPerChar;
  let chars = INSTRUCTION_CHARS + charsOfText(request) + charsOfText(notes.ending) + charsOfText(draft.text);
  if (chars > maxChars) return null;
  const shown = new Map<Piece['source'], string>();
  for (const piece of piecesOf(material)) {
    const content = shownOf(piece, maxChars - chars);
    if (content === null) continue;
    chars += piece.overheadChars + charsOfText(content);
    shown.set(piece.source, content);
  }
  const shownNotes = Object.fromEntries(NOTES.map((name) => [name, shown.get(name) ?? '']));
  return {
    input: {
      ...material,
      steps: shownParts(steps, shown),
      messages: shownParts(messages, shown),
      notes: { ...notes, ...shownNotes },
    },
    promptTokens: Math.ceil(chars * tokensPerChar),
    tokensPerChar,
  };
}

/**
 * Returns the entire piece, or its beginning in half of the remaining characters; null if that is too short to be
 * useful.
 */
function shownOf({ source, content, overheadChars }: Piece, left: number): string | null {
  if (overheadChars + charsOfText(content) <= left) return content;
  if (typeof source === 'string') return null;
  const chars = Math.floor(left / 2) - overheadChars;
  if (chars < LEAST_CHARS) return null;
  const cut = clipped(content, chars);
  return clipped(content, Math.max(1, chars - (charsOfText(cut) - cut.length)));
}

function shownParts<Part extends Step | Message>(
  parts: readonly Part[],
  shown: ReadonlyMap<Piece['source'], string>,
): readonly Part[] {
  return parts.flatMap((part) => {
    const content = shown.get(part);
    if (content === undefined) return [];
    return content === part.content ? [part] : [{ ...part, content }];
  });
}

function* textsOf({ request, draft, messages, steps }: AnswerMaterial): Iterable<string> {
  yield request;
  yield draft.text;
  for (const { content } of messages) yield content;
  for (const { content } of steps) yield content;
}

/** Returns the pieces, the best first; within a rank and weight, the later first. */
function piecesOf({ steps, messages, notes, draft }: AnswerMaterial): readonly Piece[] {
  const used = new Set(draft.usedMessageIds);
  const pieces: readonly Piece[] = [
    ...steps.map((step): Piece => {
      return {
        source: step,
        content: step.content,
        overheadChars: BLOCK_CHARS + step.phase.length,
        rank: 1,
        weight: 0,
      };
    }),
    ...messages.map((message): Piece => {
      const { content, importance } = message;
      return {
        source: message,
        content,
        overheadChars: overheadOf(message),
        rank: rankOf(message, used),
        weight: importance,
      };
    }),
    ...NOTES.map((name, at): Piece => {
      return { source: name, content: notes[name], overheadChars: BLOCK_CHARS, rank: 2, weight: -at };
    }),
  ];
  return pieces.toReversed().sort((a, b) => a.rank - b.rank || b.weight - a.weight);
}

function rankOf({ id, role }: Message, used: ReadonlySet<string>): number {
  if (used.has(id)) return 0;
  return role === 'user' ? 3 : 4;
}

function overheadOf({ id, source }: Message): number {
  return BLOCK_CHARS + id.length + (source?.path?.length ?? 0);
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

export function writingInput(state: ChainState): AttemptInput {
  const plan = planOf(state);
  if (!plan.asks) throw new TypeError('writingInput was called although modelMayWrite does not hold');
  return {
    id: executionId(state, 'synthesis'),
    task: 'synthesis',
    input: plan.input,
    instructions: instructionsFor(state, 'synthesis'),
    policy: {
      ...writingPolicy(state, plan),
      parentMs: deadlines(state).synthesisMs,
      triesReplyForms: true,
      ...costBounds(state),
    },
    models: state.models,
    hasParent: true,
  };
}

/** Records the outcome. Its usage is part of the outcome, separate from the usage of the phases. */
export function finishWriting(state: ChainState, outcome: AttemptOutcome): Partial<ChainState> {
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

export function writingOf(state: ChainState): SynthesisOutcome {
  if (state.written !== null) return state.written;
  const plan = planOf(state);
  return plan.asks ? composedOutcome('') : plan.outcome;
}

function planOf(state: ChainState): WritingPlan {
  if (answerIsFinal(state).holds) return { asks: false, outcome: draftedOutcome };
  const plan = planWriting(basisOf(state), state.contextWindowTokens, instructionTokens(state));
  if (!plan.asks || !isTooExpensive(state, 'synthesis', plan.promptTokens)) return plan;
  const why = 'The answer was composed without a model, because its call could exceed the cost limit.';
  return { asks: false, outcome: composedOutcome(why) };
}

/** Whether a call for the answer could exceed the cost limit with the model that is called first. */
export function isTooExpensive(state: ChainState, task: 'synthesis' | 'value', promptTokens: number): boolean {
  const policy = { ...callLimits(state, task), ...costBounds(state) };
  const { model } = startRoute(task, state.models, policy);
  return costExceeds(policy, model ?? 0, 0, Math.max(promptTokens, policy.promptTokens)).holds;
}
