import type { ChainState } from '../contracts/chain-state.ts';
import type { ConsentChoice, ConsentRequest } from '../contracts/context.ts';
import type { Decision, GuardResult } from '../contracts/decision.ts';
import type { AnswerRefusal, ChainEvent, EmittedEvent, RefusedAnswer } from '../contracts/events.ts';
import type { JournalEntry } from '../contracts/journal.ts';
import { PHASES } from '../contracts/phase.ts';
import { isLoss } from './context.ts';
import { isPhase, skipsAhead } from './progress.ts';

/** An event that answers a question. Without the id of a question, a direction or a finish is a command. */
export type UserAnswer = Extract<
  ChainEvent,
  { type: 'consent.given' | 'approval.given' | 'run.directed' | 'run.finished' }
>;

export type Direction = Extract<UserAnswer, { type: 'run.directed' }>;

type QuestionKind = 'consent' | 'direction';

const kindOf = ({ type }: Exclude<UserAnswer, { type: 'approval.given' }>): QuestionKind =>
  type === 'consent.given' ? 'consent' : 'direction';

/** Returns the id of the question that a run asks in its current step: at most one of each kind. */
export function questionId({ recursion }: Pick<ChainState, 'recursion'>, kind: QuestionKind): string {
  return `s${recursion.step}.${kind}`;
}

/**
 * Returns why an answer has no effect; null if it answers the pending question. A direction that names no question is a command, except
 * while the user is asked for one: it could be a late answer to an earlier question. Finishing a run needs no question.
 */
function refusalOf(state: ChainState, answer: UserAnswer): AnswerRefusal | null {
  const { question } = state;
  const named = answer.questionId ?? '';
  // The capability loop decides about approvals of its calls.
  const isPending = answer.type !== 'approval.given' && question === questionId(state, kindOf(answer));
  if (named === '') {
    if (answer.type === 'run.finished' || (answer.type === 'run.directed' && !isPending)) return null;
    return question === null ? 'no_question' : 'unnamed_question';
  }
  if (question === null) return 'no_question';
  if (named !== question) return 'other_question';
  if (!isPending) return 'other_kind';
  return answer.type === 'consent.given' && isAboutOthers(state, answer.items) ? 'unknown_message' : null;
}

/** Whether an answer names messages, but none that an operation would shorten or remove. */
function isAboutOthers({ evaluation }: ChainState, items: Readonly<Record<string, string>> = {}): boolean {
  const planned = new Set((evaluation?.operations ?? []).filter(isLoss).map(({ target }) => target));
  const named = Object.keys(items);
  return named.length > 0 && !named.some((messageId) => planned.has(messageId));
}

/** Adds the id of the pending question to a direction or consent if it answers that kind of question; returns any other event unchanged. */
export function answering(state: ChainState, event: ChainEvent): ChainEvent {
  const { question } = state;
  if (question === null || (event.type !== 'consent.given' && event.type !== 'run.directed')) return event;
  return question === questionId(state, kindOf(event)) ? { ...event, questionId: question } : event;
}

/** Whether the event answers the pending question or is a command. */
export function answerFits(state: ChainState, answer: UserAnswer): GuardResult {
  const refusal = refusalOf(state, answer);
  const { question } = state;
  return { holds: refusal === null, inputs: { questionId: answer.questionId ?? null, question, refusal } };
}

/** Whether the event names a phase, and answers the pending question or is a command. */
export function directionFits(state: ChainState, direction: Direction): GuardResult {
  const { holds, inputs } = answerFits(state, direction);
  return { holds: holds && isPhase(direction.phase), inputs: { phase: direction.phase, ...inputs } };
}

/** Whether the user may direct a run to a phase now: the direction fits, and if it begins another cycle, one is left. */
export function directionPossible(state: ChainState, direction: Direction): GuardResult {
  const { holds, inputs } = directionFits(state, direction);
  const { phase } = direction;
  const { cycle } = state.recursion;
  const { maxCycles } = state.limits;
  return {
    holds: holds && isPhase(phase) && (cycle < maxCycles || skipsAhead(state, phase)),
    inputs: { ...inputs, phases: PHASES.join(' '), cycle, maxCycles },
  };
}

/** Returns the event that explains why an answer, or a command that came after the phases, changed nothing. */
export function refusedAnswer(state: ChainState, answer: UserAnswer): RefusedAnswer {
  const { question } = state;
  const reason = refusalOf(state, answer) ?? 'too_late';
  return { type: 'answer-refused', event: answer.type, questionId: answer.questionId || null, question, reason };
}

/** Returns the event that explains why a direction changed nothing: its answer is refused, or its phase is impossible. */
export function refusedDirection(state: ChainState, direction: Direction): EmittedEvent {
  if (refusalOf(state, direction) !== null) return refusedAnswer(state, direction);
  const { phase: received } = direction;
  return { type: 'direction-refused', received, reason: isPhase(received) ? 'cycle_limit' : 'unknown_phase' };
}

/** Returns what the operation that asks would do: summarize if there is a summary, otherwise remove. */
export const recommendedChoice = ({ summary }: ConsentRequest['items'][number]): ConsentChoice =>
  summary === '' ? 'remove' : 'summarize';

/** Returns what a user who is asked for a direction is recommended: "finish" if a rule recommends it, or else the proposed phase. */
export const recommendedDirection = (asked: {
  readonly proposal: string;
  readonly recommendation: Decision | null;
}): string => (asked.recommendation === null ? asked.proposal : 'finish');

export type ApprovalAsked = Extract<EmittedEvent, { type: 'approval-asked' }>;

/** Returns the approval questions that are open after one more entry. */
export function foldApprovals(pending: readonly ApprovalAsked[], entry: JournalEntry): readonly ApprovalAsked[] {
  switch (entry.type) {
    case 'approval-asked':
      return [...pending, entry];
    case 'approval-resolved':
      return pending.filter(({ questionId }) => questionId !== entry.questionId);
    // An aborted loop leaves its questions unanswered.
    case 'capability-stop':
    case 'end':
      return pending.length === 0 ? pending : [];
    default:
      return pending;
  }
}

/** Returns the approval questions that are open at the end of these entries, each with its id, its digest and the call. */
export function pendingApprovals(entries: readonly JournalEntry[]): readonly ApprovalAsked[] {
  return entries.reduce(foldApprovals, []);
}
