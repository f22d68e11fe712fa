import type { Message } from '../../contracts/message.ts';
import {
  type Budget,
  type Citation,
  type Degradation,
  type Fallback,
  type FinalAnswer,
  hasVisibleText,
  type SynthesisOutcome,
  type SynthesisReply,
} from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { answerSupport } from '../../heuristics/default-grader.ts';
import { isNoAnswer } from '../../heuristics/no-answer.ts';
import { preview } from '../../text/summary.ts';
import { groundedConfidence, groundingIn, isSupported } from '../evidence.ts';
import { PROSE_REMEDY } from '../model-status.ts';
import { addCost, addUsage } from '../usage.ts';
import { type AnswerBasis, bestDraft } from './basis.ts';

/**
 * Composes the final answer: the text that the model wrote, or else the best text of the run. Flags and reasons are computed here, so
 * no model can set them.
 */
export function composeAnswer(basis: AnswerBasis, outcome: SynthesisOutcome): FinalAnswer {
  const { material } = basis;
  const shortfalls = shortfallsOf(basis, outcome);
  const [first] = shortfalls;
  const explanation = shortfalls.map(({ text }) => text).join(' ');
  const { text, confidence, usedMessageIds, notes } = textOf(basis, outcome, explanation);
  const usage = addUsage(basis.usage, outcome.usage);
  return {
    answerText: text,
    confidence,
    usedStepIds: usedSteps(basis, outcome, { text, usedMessageIds }),
    notes: [notes, whyComposed(outcome), capabilityNote(basis), sessionNote(basis), limitNote(basis), explanation]
      .filter((part) => part !== '')
      .join(' '),
    ttlExhausted: ttlExhausted(basis),
    status: first?.reason === 'cancelled' ? 'cancelled' : first === undefined ? 'completed' : 'degraded',
    sources: citations(material.messages, usedMessageIds),
    metadata: {
      degraded: first !== undefined,
      reason: first?.reason ?? null,
      explanation,
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
      budget: budgetOf(basis, outcome.usage),
      cost: costOf(basis, usage, outcome.usage),
      failures: [...basis.failures, ...basis.failedRuns],
      ...(basis.correlationId !== null && { correlationId: basis.correlationId }),
    },
  };
}

interface Text {
  readonly text: string;
  readonly confidence: number;
  readonly usedMessageIds: readonly string[];
  readonly notes: string;
}

function textOf(basis: AnswerBasis, outcome: SynthesisOutcome, explanation: string): Text {
  if (outcome.type === 'written') {
    const { answerText, usedMessageIds, notes } = outcome.reply;
    return { text: answerText, confidence: writtenConfidence(basis, outcome.reply), usedMessageIds, notes };
  }
  const draft = bestDraft(basis.material);
  if (hasVisibleText(draft.text)) return draft;
  return { ...draft, text: `No answer was reached. ${explanation}`.trim(), confidence: 0, notes: '' };
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
  const supportBy = answerSupport(request, text);
  const supporting = steps.filter(({ stepId: id, content }) => {
    if (content.includes(text)) return true;
    const support = hasVisibleText(content) ? supportBy([{ id, content }]) : null;
    return support !== null && support >= thresholds.grounding;
  });
  return ids.filter((id) => supporting.some(({ stepId }) => stepId === id));
}

/** Returns the model's confidence in the text it wrote, capped if the evidence does not support the text. */
function writtenConfidence(basis: AnswerBasis, reply: SynthesisReply): number {
  if (lacksEvidence(basis, reply)) return Math.min(reply.confidence, basis.thresholds.ungroundedConfidence);
  return groundedConfidence(basis, reply.confidence, supportOf(basis, basis.material.messages, reply.answerText));
}

const supportOf = ({ material: { request }, hasDocuments }: AnswerBasis, messages: readonly Message[], text: string) =>
  groundingIn({ request, hasDocuments }, messages, text);

const whyComposed = (outcome: SynthesisOutcome): string => (outcome.type === 'composed' ? outcome.why : '');

/** Each reason is clipped, because a capability may throw any text. */
const capabilityNote = ({ failedCapabilities }: AnswerBasis): string =>
  failedCapabilities
    .slice(0, NOTED_CAPABILITIES)
    .map(({ name, error }) => sentence(`The capability "${name}" failed: ${preview(error, 200)}`))
    .join(' ');

const NOTED_CAPABILITIES = 3;

const sessionNote = ({ sessionProblem }: AnswerBasis): string =>
  sessionProblem ? `Part of the session was not recalled: ${sessionProblem.replace(/\.$/, '')}.` : '';

/** Returns the limits of the run and their usage; `spent` is the usage of synthesis. */
function budgetOf(
  { material: { cycles }, cyclesLeft: left, limits, usage, currency, elapsedMs }: AnswerBasis,
  spent: Usage,
): Budget {
  return {
    tokens: counted(limits.maxTokens, tokensOf(usage)),
    modelCalls: counted(limits.maxModelCalls, usage.modelCalls),
    cost: currency === null ? null : costLeft(limits.maxCost, addUsage(usage, spent)),
    totalMs: { limit: limits.totalMs, used: elapsedMs === null ? null : Math.round(elapsedMs) },
    ttl: { limit: limits.maxCycles ?? cycles + left, used: cycles, left },
    synthesisReserveTokens: { limit: limits.synthesisReserveTokens, used: tokensOf(spent) },
  };
}

/** Returns the limit of cost, and how much of it was used; null if the cost is unknown. */
function costLeft(limit: number | null, { cost }: Usage): Budget['cost'] {
  if (cost === null) return null;
  return { limit, used: rounded(cost), left: limit === null ? null : rounded(Math.max(0, limit - cost)) };
}

/** Returns the cost in the currency of the prices, and what it consists of; null if either is unknown. `spent` is the usage of synthesis. */
function costOf({ currency, costs }: AnswerBasis, { cost, savedByCache = 0 }: Usage, spent: Usage) {
  if (cost === null || currency === null) return null;
  const byTask = Object.entries(addCost(costs, 'synthesis', spent)).map(([task, amount]) => [task, rounded(amount)]);
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

/** The kinds of interruption in American spelling. */
const STOPPED = { cancelled: 'canceled', interrupted: 'interrupted' } as const;

/** One reason why an answer is degraded. */
interface Shortfall {
  readonly reason: Degradation;
  readonly text: string;
}

/**
 * Every reason why the answer is incomplete, the most important first: how the run ended, then incomplete state,
 * exhausted TTL (cycles), no completed cycle, not converged.
 */
export function shortfallsOf(basis: AnswerBasis, written: SynthesisOutcome): readonly Shortfall[] {
  const { interruption, limits, material } = basis;
  const rule = ruleOf(basis);
  const found: Shortfall[] = [];
  const note = (reason: Degradation, text: string): void => {
    if (text !== '') found.push({ reason, text: sentence(text) });
  };
  if (interruption?.kind === 'cancelled' || interruption?.kind === 'interrupted')
    note(interruption.kind, `The run was ${STOPPED[interruption.kind]}${because(interruption.reason)}.`);
  if (interruption?.kind === 'model_unavailable')
    note('model_unavailable', `The model was unavailable: ${lastFailure(basis)}`);
  note('incomplete_state', incompleteRun(basis));
  if (interruption?.kind === 'deadline') note('deadline_passed', deadlineText(limits));
  if (interruption?.kind === 'budget' || rule === 'budgetExhausted') note('budget_exhausted', budgetText(basis));
  note('prose_replies', proseReplies(basis, written));
  if (basis.deciderProblem)
    note('decider_failed', `Capabilities may be missing: the continuation decider failed: ${basis.deciderProblem}`);
  if (saysNothingFound(basis, written)) note('no_evidence', 'Nothing was found that answers the request.');
  if (ttlExhausted(basis) && !settledAtLimit(basis)) note('cycle_limit_reached', ttlText(limits.maxCycles));
  if (material.cycles === 0) note('zero_passes', 'No cycle was completed.');
  if (rule === 'loopDetected') note('loop_detected', 'The run was stopped because it started to repeat itself.');
  if (isUnsettled(basis)) note('not_converged', 'The run ended before the answer settled.');
  if (basis.sourceFailure) note('source_failed', `The documents could not be searched: ${basis.sourceFailure}`);
  if (basis.excessTokens > 0)
    note(
      'context_over_limit',
      `The context is ${basis.excessTokens} tokens over its limit: the remaining messages are protected or need your consent to remove.`,
    );
  if (written.type === 'failed') note('synthesis_failed', `${UNWRITTEN[written.fallback]}: ${written.error}`);
  return found;
}

function budgetText({ usage, limits: { maxTokens, maxModelCalls, maxCost }, currency }: AnswerBasis): string {
  const isCost = maxCost !== null && tokensOf(usage) < (maxTokens ?? 0) && usage.modelCalls < (maxModelCalls ?? 0);
  if (!isCost) return 'The budget of tokens or model calls was used up.';
  return `Another model call could exceed the cost limit of ${maxCost} ${currency}.`;
}

function deadlineText({ totalMs, phasesMs }: AnswerBasis['limits']): string {
  if (totalMs === null) return 'The run reached its limit of time.';
  if (phasesMs === null) return `The run reached its limit of ${totalMs} ms.`;
  return `The phases reached their limit of ${Math.round(phasesMs)} ms; the rest of the run’s ${totalMs} ms is reserved for the answer.`;
}

function proseReplies({ prosePhases }: AnswerBasis, written: SynthesisOutcome): string {
  const isProse = written.type === 'written' && written.prose;
  const tasks = [...prosePhases, ...(isProse ? ['synthesis'] : [])];
  if (tasks.length === 0) return '';
  return `The model answered in prose instead of JSON (${tasks.join(', ')}), so its text is used unchanged; ${PROSE_REMEDY}.`;
}

const UNWRITTEN: Readonly<Record<Fallback, string>> = {
  prompt: 'The model could not write the final answer because of its prompt',
  model: 'The model could not write the final answer because its call failed',
  validation: 'The model could not write the final answer because its reply was invalid',
  other: 'The model could not write the final answer',
};

function ttlExhausted(basis: AnswerBasis): boolean {
  return ruleOf(basis) === 'cycleLimitReached' || basis.cyclesLeft === 0;
}

/** Returns the rule that completed the run; null if its guard was replaced, because the rule's condition may not hold. */
const ruleOf = ({ decision }: AnswerBasis): string | null =>
  decision === null || decision.inputs['guardReplaced'] ? null : decision.rule;

/** A failed phase, a missing answer, or nothing to answer from. */
function incompleteRun(basis: AnswerBasis): string {
  const { interruption, answer, material } = basis;
  const lost = lostPhases(basis);
  if (interruption?.kind === 'phase_failed') return `A phase failed: ${lastFailure(basis)}`;
  if (lost.length > 0 && interruption?.kind !== 'model_unavailable')
    return `The run continued without ${listed(lost)}: ${lastFailure(basis)}`;
  if (typeof answer === 'string' && !hasVisibleText(answer)) return 'Yield returned no answer.';
  const hasText = hasVisibleText(bestDraft(material).text);
  return material.cycles > 0 && !hasText ? 'There are no results to answer from.' : '';
}

function lostPhases({ phases, failures, material }: AnswerBasis): readonly string[] {
  const failed = new Set<string>(failures.map(({ phase }) => phase));
  for (const { phase } of material.steps) failed.delete(phase);
  const known = phases.filter((phase) => failed.delete(phase));
  return [...known, ...failed];
}

/** Whether the run ended before a rule found the answer good enough. In manual mode, the user decides that. */
function isUnsettled({ material, answer, interruption, mode }: AnswerBasis): boolean {
  if (material.converged || answer === null) return false;
  return !(interruption?.kind === 'finished_by_user' && mode === 'manual');
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
  return basis.noEvidence && !isSupported(basis, supportOf(basis, cited, answerText));
}

function ttlText(maxCycles: number | null): string {
  if (maxCycles === null) return 'All cycles were used up (TTL exhausted).';
  return `The limit of ${maxCycles} ${maxCycles === 1 ? 'cycle' : 'cycles'} was reached (TTL exhausted).`;
}

/** Whether the run reached its cycle limit with an answer that would have completed it anyway: the limit cut nothing off. */
const settledAtLimit = (basis: AnswerBasis): boolean =>
  ruleOf(basis) === 'cycleLimitReached' && basis.material.converged;

const limitNote = (basis: AnswerBasis): string => (settledAtLimit(basis) ? ttlText(basis.limits.maxCycles) : '');

/** Returns the text with a period at its end, so that sentences can follow each other. */
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const because = (reason: string): string => (reason === '' ? '' : ` (${reason})`);

function lastFailure({ failures }: AnswerBasis): string {
  const last = failures.at(-1);
  return last === undefined ? 'no failure was recorded.' : `${last.phase}: ${last.failure.message}`;
}
