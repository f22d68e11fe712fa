import type { AttemptOutcome } from '../../contracts/attempt.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { Message } from '../../contracts/message.ts';
import {
  type Budget,
  type Citation,
  explanationOf,
  type Fallback,
  type FinalAnswer,
  hasVisibleText,
  type SynthesisOutcome,
  type SynthesisReply,
  synthesisReplySchema,
  type ValueOutcome,
} from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { checkAnswer, type TextCheck } from '../../heuristics/default-grader.ts';
import { isNoAnswer } from '../../heuristics/no-answer.ts';
import { changeBetween } from '../../text/similarity.ts';
import { preview } from '../../text/summary.ts';
import { checkAgainstContext, groundedConfidence, groundingIn, isSupported } from '../evidence.ts';
import { unexpectedFailure } from '../failures.ts';
import { addCost, addUsage, NO_USAGE } from '../usage.ts';
import { type AnswerBasis, bestDraft } from './basis.ts';
import { type Judged, limitNote, reachedCycleLimit, reasonsOf } from './reasons.ts';

/**
 * Composes the final answer: the text that the model wrote, or else the best text of the run, and the value that the run is to return.
 * Flags and reasons are computed here, so no model can set them.
 */
export function composeAnswer(
  basis: AnswerBasis,
  outcome: SynthesisOutcome,
  stated: ValueOutcome | null = null,
): FinalAnswer {
  const { material } = basis;
  const { usedMessageIds, notes, ...judged } = judgedText(basis, outcome);
  const reasons = reasonsOf(basis, outcome, judged, stated);
  const [first] = reasons;
  const explanation = explanationOf({ reasons });
  const text = hasVisibleText(judged.text) ? judged.text : `No answer was reached. ${explanation}`.trim();
  const { confidence, grounding } = judged;
  const spent = stated === null ? outcome.usage : addUsage(outcome.usage, stated.usage);
  const usage = addUsage(basis.usage, spent);
  return {
    answerText: text,
    ...(stated?.ok && { value: stated.value }),
    confidence,
    usedStepIds: usedSteps(basis, outcome, { text, usedMessageIds }),
    notes: [notes, whyComposed(outcome), sessionNote(basis), limitNote(basis), explanation]
      .filter((part) => part !== '')
      .join(' '),
    ttlExhausted: reachedCycleLimit(basis),
    status: first?.code === 'cancelled' ? 'cancelled' : first === undefined ? 'completed' : 'degraded',
    reasons,
    grounding,
    sources: citations(material.messages, usedMessageIds),
    metadata: {
      degraded: first !== undefined,
      reason: first?.code ?? null,
      missingFields: missingFields(basis),
      synthesis: {
        writtenBy: outcome.type === 'written' || outcome.type === 'drafted' ? 'model' : 'engine',
        fallback: outcome.type === 'failed' ? outcome.fallback : null,
        error: outcome.type === 'failed' ? outcome.error : null,
      },
      decision: basis.decision,
      cycles: material.cycles,
      refinements: material.corrections,
      usage,
      budget: budgetOf(basis, spent, stated === null ? 1 : 2),
      cost: costOf(basis, usage, { synthesis: outcome.usage, value: stated?.usage ?? NO_USAGE }),
      failures: [...basis.failures, ...basis.failedRuns],
      ...(basis.correlationId !== null && { correlationId: basis.correlationId }),
    },
  };
}

interface Text extends Judged {
  readonly usedMessageIds: readonly string[];
  readonly notes: string;
}

/** Returns the text and its checks. Its confidence is capped if it only says that nothing was found, or lacks support. */
function judgedText(basis: AnswerBasis, outcome: SynthesisOutcome): Text {
  const reply = outcome.type === 'written' ? outcome.reply : null;
  const draft = reply === null ? bestDraft(basis.material) : { ...reply, text: reply.answerText };
  const { text, usedMessageIds, notes } = draft;
  const isText = hasVisibleText(text);
  const isEmpty = isText && saysNothingFound(basis, outcome);
  const isChecked = isText && !isEmpty && (reply !== null || text === basis.answer);
  const check = isChecked ? checkAgainstContext(runOf(basis), basis.material.messages, text) : null;
  const graded = isChecked && text === basis.answer ? basis.graded : undefined;
  const grounding = groundingOf(check, graded, basis.thresholds.grounding);
  const contradictedBy = graded == null ? (check?.contradictedBy ?? []) : [];
  const conflicts = graded == null ? (check?.conflicts ?? []) : [];
  const isSound = !isEmpty && contradictedBy.length + conflicts.length === 0;
  const { ungroundedConfidence } = basis.thresholds;
  const stated = Math.min(draft.confidence, highestConfidence(basis, text));
  const confidence = isSound
    ? groundedConfidence(basis, stated, grounding?.score ?? null)
    : Math.min(stated, ungroundedConfidence);
  const known = { text, grounding, contradictedBy, conflicts, isEmpty };
  return isText
    ? { ...known, usedMessageIds, notes, confidence }
    : { ...known, usedMessageIds, notes: '', confidence: 0 };
}

/** A text that only repeats an answer in which the engine reduced the confidence earns no more than that. */
function highestConfidence({ answer, reducedConfidence, thresholds }: AnswerBasis, text: string): number {
  const isRepeated = answer != null && changeBetween(answer, text) < thresholds.change;
  return isRepeated ? (reducedConfidence ?? 1) : 1;
}

/** Returns the grounding by the user's grader, or else by the check; a grader that accepts an answer accepts all of its sentences. */
function groundingOf(
  check: TextCheck | null,
  graded: number | null | undefined,
  threshold: number,
): FinalAnswer['grounding'] {
  const score = graded === undefined ? (check?.support ?? null) : graded;
  if (score === null) return null;
  const isAccepted = graded !== undefined && score >= threshold;
  return { score, threshold, unsupported: isAccepted ? [] : (check?.unsupported ?? []) };
}

/**
 * Returns the ids of the steps that contributed to a text: those that the model cites and that exist, and those that the used messages
 * come from; if there are none, those whose content supports the text.
 */
function usedSteps(
  { material: { request, steps }, thresholds, stepOfMessage }: AnswerBasis,
  outcome: SynthesisOutcome,
  { text, usedMessageIds }: Pick<Text, 'text' | 'usedMessageIds'>,
): readonly string[] {
  const cited = new Set(outcome.type === 'written' ? outcome.reply.usedStepIds : []);
  for (const id of usedMessageIds) cited.add(stepOfMessage.get(id) ?? '');
  const ids = [...new Set(steps.map(({ stepId }) => stepId))];
  const known = ids.filter((id) => cited.has(id));
  if (known.length > 0) return known;
  const compare = checkAnswer(request, text);
  const supporting = steps.filter(({ stepId: id, content }) => {
    if (content.includes(text)) return true;
    const support = hasVisibleText(content) ? compare([{ id, content }]).support : null;
    return support !== null && support >= thresholds.grounding;
  });
  return ids.filter((id) => supporting.some(({ stepId }) => stepId === id));
}

const runOf = ({ material: { request }, hasDocuments, thresholds }: AnswerBasis) => ({
  request,
  hasDocuments,
  thresholds,
});

const whyComposed = (outcome: SynthesisOutcome): string => (outcome.type === 'composed' ? outcome.why : '');

const sessionNote = ({ sessionProblem }: AnswerBasis): string =>
  sessionProblem ? `Part of the session was not recalled: ${sessionProblem.replace(/\.$/, '')}.` : '';

/** Returns the limits of the run and their usage; `spent` is the usage of synthesis, which has this many reserves: for the text, and for a value. */
function budgetOf(
  { material: { cycles }, cyclesLeft: left, limits, usage, currency, elapsedMs }: AnswerBasis,
  spent: Usage,
  reserves: number,
): Budget {
  return {
    tokens: counted(limits.maxTokens, tokensOf(usage)),
    modelCalls: counted(limits.maxModelCalls, usage.modelCalls),
    cost: currency === null ? null : costLeft(limits.maxCost, addUsage(usage, spent)),
    totalMs: { limit: limits.totalMs, used: elapsedMs === null ? null : Math.round(elapsedMs) },
    ttl: { limit: limits.maxCycles ?? cycles + left, used: cycles, left },
    synthesisReserveTokens: {
      limit: limits.synthesisReserveTokens && limits.synthesisReserveTokens * reserves,
      used: tokensOf(spent),
    },
  };
}

/** Returns the limit of cost, and how much of it was used; null if the cost is unknown. */
function costLeft(limit: number | null, { cost }: Usage): Budget['cost'] {
  if (cost === null) return null;
  return { limit, used: rounded(cost), left: limit === null ? null : rounded(Math.max(0, limit - cost)) };
}

/** Returns the cost in the currency of the prices, and what it consists of; null if either is unknown. `spent` is the usage of synthesis by task. */
function costOf(
  { currency, costs }: AnswerBasis,
  { cost, savedByCache = 0 }: Usage,
  spent: Readonly<Record<string, Usage>>,
) {
  if (cost === null || currency === null) return null;
  const all = Object.entries(spent).reduce((sum, [task, usage]) => addCost(sum, task, usage), costs);
  const byTask = Object.entries(all).map(([task, amount]) => [task, rounded(amount)]);
  return { amount: rounded(cost), currency, byTask: Object.fromEntries(byTask), savedByCache: rounded(savedByCache) };
}

const rounded = (amount: number): number => Number(amount.toPrecision(12));

function counted(limit: number | null, used: number): Budget['tokens'] {
  return { limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}

const tokensOf = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens;

/** Returns the sources of the used messages, each once, in the order of use. */
function citations(messages: readonly Message[], used: readonly string[]): readonly Citation[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  return [...new Set(used)].flatMap((id) => {
    const message = byId.get(id);
    return message?.source ? [{ ...message.source, messageId: id, quote: preview(message.content, 160) }] : [];
  });
}

/** Returns what is missing from a complete run: the phases without a result, and `answer`. */
export function missingFields({ answer, phases, material }: AnswerBasis): readonly string[] {
  const done = new Set(material.steps.map(({ phase }) => phase));
  const missing = phases.filter((phase) => !done.has(phase));
  const text = answer === undefined ? bestDraft(material).text : answer;
  return text !== null && hasVisibleText(text) ? missing : [...missing, 'answer'];
}

/** Whether the final text, which the model wrote or the run drafted, only says that nothing was found. */
function saysNothingFound(basis: AnswerBasis, outcome: SynthesisOutcome): boolean {
  if (outcome.type === 'written') return lacksEvidence(basis, outcome.reply);
  const { text } = bestDraft(basis.material);
  return hasVisibleText(text) && (basis.noEvidence || isNoAnswer(text));
}

/**
 * Whether a written text only says that nothing was found. Yield's report is about its own answer, so it does not count if the search
 * results that the text cites support it.
 */
function lacksEvidence(basis: AnswerBasis, { answerText, usedMessageIds }: SynthesisReply): boolean {
  if (isNoAnswer(answerText)) return true;
  const cited = basis.material.messages.filter(({ id }) => usedMessageIds.includes(id));
  return basis.noEvidence && !isSupported(basis, groundingIn(runOf(basis), cited, answerText));
}

export function outcomeOf(attempted: AttemptOutcome): SynthesisOutcome {
  const { usage } = attempted.execution;
  if (!attempted.ok) return failedOutcome(fallbackOf(attempted.failure), attempted.failure.message, usage);
  const read = synthesisReplySchema.safeParse(attempted.value);
  if (read.success) return { type: 'written', reply: read.data, usage, prose: attempted.prose };
  const [issue] = read.error.issues;
  return failedOutcome('validation', `${issue?.path.join('.') || 'the reply'}: ${issue?.message}`, usage);
}

export function failedSynthesis(error: unknown, usage: Usage = NO_USAGE): SynthesisOutcome {
  return failedOutcome('other', unexpectedFailure(error).message, usage);
}

export function lateOutcome(usage: Usage): SynthesisOutcome {
  return failedOutcome('model', 'it timed out', usage);
}

export const draftedOutcome: SynthesisOutcome = { type: 'drafted', usage: NO_USAGE };

/** Returns the outcome without a finished model call. `why` is shown to the user unless it is empty. */
export function composedOutcome(why: string, usage: Usage = NO_USAGE): SynthesisOutcome {
  return { type: 'composed', why, usage };
}

export function failedOutcome(fallback: Fallback, error: string, usage: Usage = NO_USAGE): SynthesisOutcome {
  return { type: 'failed', fallback, error, usage };
}

const PROMPT: ReadonlySet<string> = new Set(['prompt_failed', 'prompt_too_long']);
const MODEL: ReadonlySet<string> = new Set(['model_threw', 'filtered']);

function fallbackOf({ stage, code }: Failure): Fallback {
  if (PROMPT.has(code)) return 'prompt';
  if (MODEL.has(code) || stage === 'transport' || stage === 'deadline') return 'model';
  return stage === 'unexpected' ? 'other' : 'validation';
}
