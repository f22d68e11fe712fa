import type { Message } from '../../contracts/message.ts';
import {
  type Budget,
  type Citation,
  type Degradation,
  type Draft,
  type Fallback,
  type FinalAnswer,
  hasVisibleText,
  type SynthesisInput,
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
import { readOutcome } from './outcome.ts';
import { type InputProblem, NO_DRAFT, problemText, type ReadSynthesisInput, readSynthesisInput } from './read-input.ts';

/**
 * Composes the final answer: the text that the model wrote, or else the best text of the run. Pure; returns an answer
 * for any input. Flags and reasons are computed here, so no model can set them.
 */
export function composeAnswer(given: unknown, written: SynthesisOutcome): FinalAnswer {
  return composeFrom(readSynthesisInput(given), readOutcome(written));
}

/** Composes the answer from an input that is already read. */
export function composeFrom(read: ReadSynthesisInput, outcome: SynthesisOutcome): FinalAnswer {
  const { input } = read;
  const shortfalls = shortfallsOf(read, outcome);
  const [first] = shortfalls;
  const explanation = shortfalls.map(({ text }) => text).join(' ');
  const { run } = input;
  const { text, confidence, usedMessageIds, notes } = textOf(input, outcome, explanation);
  const usage = totalUsage(input, outcome.usage);
  return {
    answerText: text,
    confidence,
    usedStepIds: usedSteps(input, outcome, { text, usedMessageIds }),
    notes: [notes, whyComposed(outcome), sessionNote(run), limitNote(read), explanation]
      .filter((part) => part !== '')
      .join(' '),
    ttlExhausted: ttlExhausted(read),
    status: first?.reason === 'cancelled' ? 'cancelled' : first === undefined ? 'completed' : 'degraded',
    sources: citations(run.messages, usedMessageIds),
    metadata: {
      degraded: first !== undefined,
      reason: first?.reason ?? null,
      explanation,
      missingFields: missingFields(read),
      synthesis: {
        writtenBy: outcome.type === 'written' || outcome.type === 'drafted' ? 'model' : 'engine',
        fallback: outcome.type === 'failed' ? outcome.fallback : null,
        error: outcome.type === 'failed' ? outcome.error : null,
      },
      decision: run.decision,
      cycles: input.totalPasses,
      refinements: input.totalRefinements,
      usage,
      budget: budgetOf(read, outcome.usage),
      cost: costOf(input, usage, outcome.usage),
      failures: input.run.failures,
    },
  };
}

interface Text {
  readonly text: string;
  readonly confidence: number;
  readonly usedMessageIds: readonly string[];
  readonly notes: string;
}

function textOf(input: SynthesisInput, outcome: SynthesisOutcome, explanation: string): Text {
  if (outcome.type === 'written') {
    const { answerText, usedMessageIds, notes } = outcome.reply;
    return { text: answerText, confidence: writtenConfidence(input, outcome.reply), usedMessageIds, notes };
  }
  const draft = bestDraft(input);
  if (hasVisibleText(draft.text)) return draft;
  return { ...draft, text: `No answer was reached. ${explanation}`.trim(), confidence: 0, notes: '' };
}

/**
 * Returns the ids of the steps that contributed to a text: those that the model cites and that exist, and those that the used messages
 * come from; if there are none, those whose content supports the text.
 */
function usedSteps(
  { request, executionResults, run }: SynthesisInput,
  outcome: SynthesisOutcome,
  { text, usedMessageIds }: Pick<Text, 'text' | 'usedMessageIds'>,
): readonly string[] {
  const cited = new Set(outcome.type === 'written' ? outcome.reply.usedStepIds : []);
  for (const id of usedMessageIds) cited.add(id.slice(0, Math.max(0, id.lastIndexOf('.'))));
  const ids = [...new Set(executionResults.map(({ stepId }) => stepId))];
  const known = ids.filter((id) => cited.has(id));
  if (known.length > 0) return known;
  const supportBy = answerSupport(request, text);
  const supporting = executionResults.filter(({ stepId: id, content }) => {
    if (content.includes(text)) return true;
    const support = hasVisibleText(content) ? supportBy([{ id, content }]) : null;
    return support !== null && support >= run.thresholds.grounding;
  });
  return ids.filter((id) => supporting.some(({ stepId }) => stepId === id));
}

/** Returns the model's confidence in the text it wrote, capped if the evidence does not support the text. */
function writtenConfidence(input: SynthesisInput, reply: SynthesisReply): number {
  const { run } = input;
  if (lacksEvidence(input, reply)) return Math.min(reply.confidence, run.thresholds.ungroundedConfidence);
  return groundedConfidence(run, reply.confidence, supportOf(input, run.messages, reply.answerText));
}

const supportOf = ({ request, run: { hasDocuments } }: SynthesisInput, messages: readonly Message[], text: string) =>
  groundingIn({ request, hasDocuments }, messages, text);

const whyComposed = (outcome: SynthesisOutcome): string => (outcome.type === 'composed' ? outcome.why : '');

const sessionNote = ({ sessionProblem }: SynthesisInput['run']): string =>
  sessionProblem ? `Part of the session was not recalled: ${sessionProblem.replace(/\.$/, '')}.` : '';

/** Returns the limits of the run and their usage; `spent` is the usage of synthesis. */
function budgetOf(read: ReadSynthesisInput, spent: Usage): Budget {
  const { run, totalPasses, ttlRemaining } = read.input;
  const { limits, usage, elapsedMs } = run;
  const left = isKnown(read, 'ttlRemaining') ? ttlRemaining : null;
  const known = left === null || !isKnown(read, 'totalPasses') ? null : capped(totalPasses + left);
  return {
    tokens: counted(limits.maxTokens, tokensOf(usage)),
    modelCalls: counted(limits.maxModelCalls, usage.modelCalls),
    totalMs: { limit: limits.totalMs, used: elapsedMs === null ? null : Math.round(elapsedMs) },
    ttl: { limit: limits.maxCycles ?? known, used: totalPasses, left },
    synthesisReserveTokens: { limit: limits.synthesisReserveTokens, used: tokensOf(spent) },
  };
}

/** Usage of the run and its synthesis. */
function totalUsage({ run }: SynthesisInput, spent: Usage): Usage {
  const usage = addUsage(run.usage, spent);
  const { modelCalls, inputTokens, outputTokens, cachedInputTokens, reasoningTokens, cost } = usage;
  return {
    ...usage,
    modelCalls: capped(modelCalls),
    inputTokens: capped(inputTokens),
    outputTokens: capped(outputTokens),
    ...(cachedInputTokens !== undefined && { cachedInputTokens: capped(cachedInputTokens) }),
    ...(reasoningTokens !== undefined && { reasoningTokens: capped(reasoningTokens) }),
    cost: cost === null ? null : Math.min(cost, Number.MAX_VALUE),
  };
}

/** Returns the cost in the currency of the prices, and what it consists of; null if either is unknown. `spent` is the usage of synthesis. */
function costOf({ run: { currency, costs } }: SynthesisInput, { cost, savedByCache = 0 }: Usage, spent: Usage) {
  if (cost === null || currency === null) return null;
  const byTask = Object.entries(addCost(costs, 'synthesis', spent)).map(([task, amount]) => [task, rounded(amount)]);
  return { amount: rounded(cost), currency, byTask: Object.fromEntries(byTask), savedByCache: rounded(savedByCache) };
}

/** Returns an amount without the error of floating-point sums. */
const rounded = (amount: number): number => Number(Math.min(amount, Number.MAX_VALUE).toPrecision(12));

function counted(limit: number | null, used: number): Budget['tokens'] {
  return { limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}

const tokensOf = ({ inputTokens, outputTokens }: Usage): number => capped(inputTokens + outputTokens);

/** Keeps a sum within the safe integers. */
const capped = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER);

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
export interface Shortfall {
  readonly reason: Degradation;
  readonly text: string;
}

/**
 * Every reason why the answer is incomplete, the most important first: how the run ended, then incomplete state,
 * exhausted TTL (cycles), no completed cycle, not converged. Computed from the input alone, so no model can influence
 * it; a missing or invalid field only counts as incomplete state.
 */
export function shortfallsOf(read: ReadSynthesisInput, written: SynthesisOutcome): readonly Shortfall[] {
  const { input } = read;
  const { interruption, decision, limits } = input.run;
  const found: Shortfall[] = [];
  const note = (reason: Degradation, text: string): void => {
    if (text !== '') found.push({ reason, text: sentence(text) });
  };
  if (interruption?.kind === 'cancelled' || interruption?.kind === 'interrupted')
    note(interruption.kind, `The run was ${STOPPED[interruption.kind]}${because(interruption.reason)}.`);
  if (interruption?.kind === 'model_unavailable')
    note('model_unavailable', `The model was unavailable: ${lastFailure(input)}`);
  note('incomplete_state', incompleteInput(read.problems));
  note('incomplete_state', incompleteRun(read));
  if (interruption?.kind === 'deadline') note('deadline_passed', deadlineText(limits));
  if (interruption?.kind === 'budget' || decision?.rule === 'budgetExhausted')
    note('budget_exhausted', 'The budget of tokens or model calls was used up.');
  note('prose_replies', proseReplies(input, written));
  if (input.run.deciderProblem)
    note('decider_failed', `Capabilities may be missing: the continuation decider failed: ${input.run.deciderProblem}`);
  if (saysNothingFound(input, written)) note('no_evidence', 'Nothing was found that answers the request.');
  if (ttlExhausted(read) && !settledAtLimit(read)) note('ttl_exhausted', ttlText(limits.maxCycles));
  if (input.totalPasses === 0 && isKnown(read, 'totalPasses')) note('zero_passes', 'No cycle was completed.');
  if (decision?.rule === 'loopDetected')
    note('loop_detected', 'The run was stopped because it started to repeat itself.');
  if (isUnsettled(read)) note('not_converged', 'The run ended before the answer settled.');
  if (input.run.sourceFailure) note('source_failed', `The documents could not be searched: ${input.run.sourceFailure}`);
  const excess = excessOf(input);
  if (excess !== '')
    note(
      'context_over_limit',
      `The context is ${excess} over its limit: the remaining messages are protected or need your consent to remove.`,
    );
  if (written.type === 'failed') note('synthesis_failed', `${UNWRITTEN[written.fallback]}: ${written.error}`);
  return found;
}

function deadlineText({ totalMs, phasesMs }: SynthesisInput['run']['limits']): string {
  if (totalMs === null) return 'The run reached its limit of time.';
  if (phasesMs === null) return `The run reached its limit of ${totalMs} ms.`;
  return `The phases reached their limit of ${Math.round(phasesMs)} ms; the rest of the run’s ${totalMs} ms is reserved for the answer.`;
}

function proseReplies({ run }: SynthesisInput, written: SynthesisOutcome): string {
  const isProse = written.type === 'written' && written.prose;
  const tasks = [...run.prosePhases, ...(isProse ? ['synthesis'] : [])];
  if (tasks.length === 0) return '';
  return `The model answered in prose instead of JSON (${tasks.join(', ')}), so its text is used unchanged; ${PROSE_REMEDY}.`;
}

const UNWRITTEN: Readonly<Record<Fallback, string>> = {
  prompt: 'The model could not write the final answer because of its prompt',
  model: 'The model could not write the final answer because its call failed',
  validation: 'The model could not write the final answer because its reply was invalid',
  other: 'The model could not write the final answer',
};

/** Whether the field was valid in the input. */
export function isKnown({ problems }: ReadSynthesisInput, name: keyof SynthesisInput): boolean {
  return !problems.some(({ field }) => field === name || field.startsWith(`${name}.`));
}

export function ttlExhausted(read: ReadSynthesisInput): boolean {
  const { ttlRemaining, run } = read.input;
  return run.decision?.rule === 'cycleLimitReached' || (ttlRemaining === 0 && isKnown(read, 'ttlRemaining'));
}

const SHOWN_PROBLEMS = 3;

function incompleteInput(problems: readonly InputProblem[]): string {
  if (problems.length === 0) return '';
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(problemText).join('; ');
  const more = problems.length - SHOWN_PROBLEMS;
  return `The state of the run is incomplete: ${shown}${more > 0 ? `; and ${more} more` : ''}`;
}

/** A failed phase, a missing answer, or nothing to answer from. */
function incompleteRun(read: ReadSynthesisInput): string {
  const { input } = read;
  const { interruption, answer } = input.run;
  const lost = lostPhases(input);
  if (interruption?.kind === 'phase_failed') return `A phase failed: ${lastFailure(input)}`;
  if (lost.length > 0 && interruption?.kind !== 'model_unavailable')
    return `The run continued without ${listed(lost)}: ${lastFailure(input)}`;
  if (typeof answer === 'string' && !hasVisibleText(answer)) return 'Yield returned no answer.';
  const passed = input.totalPasses > 0 || !isKnown(read, 'totalPasses');
  return passed && !hasVisibleText(bestDraft(input).text) ? 'There are no results to answer from.' : '';
}

/** Returns the phases that failed and have no result. */
function lostPhases({ run, executionResults }: SynthesisInput): readonly string[] {
  const failed = new Set<string>(run.failures.map(({ phase }) => phase));
  for (const { phase } of executionResults) failed.delete(phase);
  const known = run.phases.filter((phase) => failed.delete(phase));
  return [...known, ...failed];
}

/** Whether the run ended before a rule found the answer good enough. In manual mode, the user decides that. */
function isUnsettled(read: ReadSynthesisInput): boolean {
  const { convergenceStatus, run } = read.input;
  if (convergenceStatus || !isKnown(read, 'convergenceStatus') || run.answer === null) return false;
  return !(run.interruption?.kind === 'finished_by_user' && run.mode === 'manual');
}

/** By how much the context exceeds its limits after eviction. */
function excessOf({ run: { excess } }: SynthesisInput): string {
  if (excess.tokens > 0) return `${excess.tokens} tokens`;
  return excess.messages > 0 ? `${excess.messages} ${excess.messages === 1 ? 'message' : 'messages'}` : '';
}

/** Returns what is missing from a complete run: fields of the input, phases, and the answer. */
export function missingFields({ input, problems }: ReadSynthesisInput): readonly string[] {
  const { run, executionResults } = input;
  const done = new Set(executionResults.map(({ phase }) => phase));
  const missing = [...problems.map(({ field }) => field), ...run.phases.filter((phase) => !done.has(phase))];
  const answer = run.answer === undefined ? bestDraft(input).text : run.answer;
  return answer !== null && hasVisibleText(answer) ? missing : [...missing, 'answer'];
}

/** Whether the final text, which the model wrote or the run drafted, only says that nothing was found. */
function saysNothingFound(input: SynthesisInput, outcome: SynthesisOutcome): boolean {
  if (outcome.type === 'written') return lacksEvidence(input, outcome.reply);
  const { text } = bestDraft(input);
  return hasVisibleText(text) && (input.run.noEvidence || isNoAnswer(text));
}

/**
 * Whether a written text only says that nothing was found. Yield's report is about its own answer, so it does not count if the search
 * results that the text cites support it.
 */
function lacksEvidence(input: SynthesisInput, { answerText, usedMessageIds }: SynthesisReply): boolean {
  if (isNoAnswer(answerText)) return true;
  const cited = input.run.messages.filter(({ id }) => usedMessageIds.includes(id));
  return input.run.noEvidence && !isSupported(input.run, supportOf(input, cited, answerText));
}

function ttlText(maxCycles: number | null): string {
  if (maxCycles === null) return 'All cycles were used up (TTL exhausted).';
  return `The limit of ${maxCycles} ${maxCycles === 1 ? 'cycle' : 'cycles'} was reached (TTL exhausted).`;
}

/** Whether the run reached its cycle limit with an answer that would have completed it anyway: the limit cut nothing off. */
function settledAtLimit(read: ReadSynthesisInput): boolean {
  const { run, convergenceStatus } = read.input;
  return run.decision?.rule === 'cycleLimitReached' && convergenceStatus && isKnown(read, 'convergenceStatus');
}

function limitNote(read: ReadSynthesisInput): string {
  return settledAtLimit(read) ? ttlText(read.input.run.limits.maxCycles) : '';
}

/** Returns the text with a period at its end, so that sentences can follow each other. */
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const because = (reason: string): string => (reason === '' ? '' : ` (${reason})`);

function lastFailure({ run }: SynthesisInput): string {
  const last = run.failures.at(-1);
  return last === undefined ? 'no failure was recorded.' : `${last.phase}: ${last.failure.message}`;
}

/** Returns the draft; if it is empty, Yield's answer, or else the step closest to an answer, or else the last step. */
export function bestDraft({ run, executionResults, convergenceAssessment }: SynthesisInput): Draft {
  if (run.draft !== null && hasVisibleText(run.draft.text)) return run.draft;
  const steps = executionResults.filter(({ phase, content }) => hasVisibleText(content) && !NON_ANSWERS.has(phase));
  const nearest = NEAREST.flatMap((phase) => steps.findLast((step) => step.phase === phase) ?? []);
  const texts = [run.answer ?? '', nearest[0]?.content ?? '', steps.at(-1)?.content ?? ''];
  const text = texts.find(hasVisibleText);
  if (text === undefined) return NO_DRAFT;
  const { confidence } = convergenceAssessment;
  const sure = run.draft === null && isShare(confidence) ? confidence : 0;
  return { ...NO_DRAFT, text, confidence: sure };
}

const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

/** Phases by how close their result is to an answer. */
const NEAREST = ['yield', 'understanding', 'experience', 'action'];

/** A goal or a list of insights is not an answer. */
const NON_ANSWERS: ReadonlySet<string> = new Set(['intention', 'observation']);
