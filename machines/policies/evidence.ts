import type { ChainState } from '../contracts/chain-state.ts';
import type { Assessment } from '../contracts/decision.ts';
import type { GradingInput, SomeGrades } from '../contracts/grading.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import type { YieldReply } from '../contracts/phase-io.ts';
import {
  type CheckedAnswer,
  checkAnswer,
  gradeByDefault,
  type SupportedSentence,
  type TextCheck,
} from '../heuristics/default-grader.ts';
import type { Compared } from '../heuristics/grounding.ts';
import { isNoAnswer } from '../heuristics/no-answer.ts';
import { FAILED_TAG, REQUEST } from './context.ts';
import { withLabels } from './message-parts.ts';
import { instructionsFor } from './usage.ts';

type Scores = Pick<Assessment, 'confidence' | 'informationSufficiency' | 'taskComplete' | 'evidence'>;

/** From this grade, the answer is believed to complete the task, and the user to be satisfied. */
const BELIEVED = 0.5;

/**
 * Combines the model's own scores with the grades of its answer.
 * - Its confidence counts only if the evidence supports the answer, something was found, and a claim that it completes the
 *   task is believed: otherwise it is capped, so that the confidence rule lets no disbelieved claim through.
 * - Its claim that the task is complete counts if it is believed and something was found; a satisfied user completes the task as well.
 * - Information sufficiency is the mean of the model's number and the grade.
 *
 * The model's own scores count if there are neither documents nor search results, or if the context contains images or
 * files. `given` are the grades of the user's own grader; the default grader provides those that it leaves out.
 */
export function checkAgainstEvidence(
  state: ChainState,
  messages: readonly Message[],
  reply: YieldReply,
  given: SomeGrades = {},
): Scores {
  const { hasDocuments, thresholds } = state;
  let graded: ReturnType<typeof gradeByDefault> | null = null;
  // Only what is not given: grading compares the answer with all of the evidence.
  const grades = (): ReturnType<typeof gradeByDefault> => {
    graded ??= gradeByDefault(gradingInput(state, messages, reply), comparedOf(evidenceIn(messages)));
    return graded;
  };
  const checks = isCheckable(state, messages);
  const grounding = given.grounding === undefined ? groundingIn(state, messages, reply.answer) : given.grounding;
  const sufficiency = given.sufficiency ?? (checks && hasDocuments ? grades().sufficiency : null);
  const claim = given.completion ?? (checks ? grades().completion : null);
  const satisfaction = given.satisfaction ?? grades().satisfaction;
  const isDisbelieved = reply.taskComplete && claim !== null && claim < BELIEVED;
  const isEmpty = reply.noEvidence || isNoAnswer(reply.answer);
  const isSound = !isDisbelieved && !isEmpty;
  return {
    confidence: isSound
      ? groundedConfidence(state, reply.confidence, grounding)
      : Math.min(reply.confidence, thresholds.ungroundedConfidence),
    informationSufficiency:
      sufficiency === null ? reply.informationSufficiency : (reply.informationSufficiency + sufficiency) / 2,
    // Another search may find something, if there is anything to search.
    taskComplete: (reply.taskComplete && !isDisbelieved && !(isEmpty && checks)) || satisfaction >= BELIEVED,
    evidence: {
      modelConfidence: reply.confidence,
      grounding,
      modelSufficiency: reply.informationSufficiency,
      sufficiency,
      claimsCompletion: reply.taskComplete,
      claim,
      satisfaction,
    },
  };
}

export function gradingInput(
  state: Pick<ChainState, 'request' | 'attachments' | 'instructions'>,
  messages: readonly Message[],
  { answer, rationale, taskComplete }: Pick<YieldReply, 'answer' | 'rationale' | 'taskComplete'>,
): GradingInput {
  return {
    request: withLabels(state.request, state.attachments),
    answer,
    rationale,
    claimsCompletion: taskComplete,
    evidence: evidenceIn(messages),
    dialogue: dialogueIn(messages),
    instructions: instructionsFor(state, 'grading'),
  };
}

type CheckedRun = Pick<ChainState, 'request' | 'hasDocuments'> & { readonly thresholds: Pick<Thresholds, 'grounding'> };

/** Returns how far the search results in the context support a text, 0..1; null if there is nothing to check. */
export const groundingIn = (run: CheckedRun, messages: readonly Message[], text: string): number | null =>
  compareWithContext(run, messages, text)?.support ?? null;

/** Compares a text, and each of its sentences, with the evidence in the context. Returns null if there is nothing to check. */
export const checkAgainstContext = (run: CheckedRun, messages: readonly Message[], text: string): TextCheck | null =>
  compareWithContext(run, messages, text)?.check(run.thresholds.grounding) ?? null;

/** Returns the support of each sentence of a text, with the messages that support it; empty if there is nothing to check. */
export const sentencesInContext = (
  run: CheckedRun,
  messages: readonly Message[],
  text: string,
): readonly SupportedSentence[] => compareWithContext(run, messages, text)?.sentences() ?? [];

function compareWithContext(run: CheckedRun, messages: readonly Message[], text: string): CheckedAnswer | null {
  if (!isCheckable(run, messages)) return null;
  const found = evidenceIn(messages);
  const compare = checkAnswer(run.request, text, comparedOf(found));
  const byFound = compare(found.length === 0 ? UNRELATED : found);
  // They support an answer, too, for example to "What is my name?", but not against what was found.
  const said = saidBefore(messages);
  const isSettled = byFound.support === null || isSupported(run, byFound.support) || said.length === 0;
  return isSettled || byFound.check(run.thresholds.grounding)?.contradictedBy.length !== 0
    ? byFound
    : compare([...found, ...said]);
}

/** Returns the earlier messages of the user. */
const saidBefore = (messages: readonly Message[]): readonly Message[] =>
  messages.filter(({ role, id }) => role === 'user' && id !== REQUEST);

/** The output of capabilities is seldom prose. */
const comparedOf = (evidence: readonly Message[]): Compared =>
  evidence.length > 0 && evidence.every(({ phase }) => phase === 'action') ? 'names' : 'words';

/** Returns the confidence, capped at `ungroundedConfidence` if the evidence does not support the answer. */
export function groundedConfidence(
  run: { readonly thresholds: Pick<Thresholds, 'grounding' | 'ungroundedConfidence'> },
  confidence: number,
  grounding: number | null,
): number {
  const isGrounded = grounding === null || isSupported(run, grounding);
  return isGrounded ? confidence : Math.min(confidence, run.thresholds.ungroundedConfidence);
}

/** Whether evidence was checked and supports a text. */
export function isSupported(
  { thresholds }: { readonly thresholds: Pick<Thresholds, 'grounding'> },
  grounding: number | null,
): boolean {
  return grounding !== null && grounding >= thresholds.grounding;
}

/** Stands in for the results of a search that found nothing: it supports no answer. */
const UNRELATED = [{ id: 'nothing', content: 'nothing' }];

const evidenceIn = (messages: readonly Message[]): readonly Message[] =>
  messages.filter(({ role, tags }) => role === 'search' && !tags.includes(FAILED_TAG));

/**
 * Whether there is evidence to check an answer against. With an image or a file in the context there is none: the answer may
 * come from it, and words cannot be compared with it.
 */
function isCheckable({ hasDocuments }: Pick<ChainState, 'hasDocuments'>, messages: readonly Message[]): boolean {
  if (messages.some(({ attachments = [] }) => attachments.length > 0)) return false;
  return hasDocuments || evidenceIn(messages).length > 0;
}

/** Returns the conversation between user and assistant, ending with the request, without messages from phases. */
function dialogueIn(messages: readonly Message[]) {
  return messages.flatMap(({ role, phase, content }) =>
    role === 'search' || phase !== null ? [] : [{ role, content }],
  );
}
