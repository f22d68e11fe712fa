import type { ChainState } from '../contracts/chain-state.ts';
import { PHASES } from '../contracts/phase.ts';
import type { Degradation } from '../contracts/synthesis.ts';
import { settled } from './completion.ts';

/** One reason for an answer to be less than hoped for, in words. */
export interface Shortfall {
  readonly reason: Degradation;
  readonly says: string;
}

/**
 * Everything that keeps the answer from being complete, the weightiest first [E5]: incomplete state > TTL (cycles) > zero passes
 * > not converged, with the run's own ends before them. Computed from the state alone: no model has a say.
 */
export function shortfalls(state: ChainState): readonly Shortfall[] {
  const { interruption, decision, recursion, limits, assessment } = state;
  const lost = lostPhases(state);
  const found: Shortfall[] = [];
  const note = (reason: Degradation, says: string): void => {
    found.push({ reason, says: sentence(says) });
  };
  if (interruption?.kind === 'cancelled') note('cancelled', `The run was cancelled${because(interruption.reason)}.`);
  if (interruption?.kind === 'interrupted')
    note('interrupted', `The run was interrupted${because(interruption.reason)}.`);
  if (interruption?.kind === 'model_unavailable')
    note('model_unavailable', `The model could not be used: ${lastFailure(state)}`);
  if (interruption?.kind === 'phase_failed') note('incomplete_state', `A phase failed: ${lastFailure(state)}`);
  else if (lost.length > 0 && interruption?.kind !== 'model_unavailable')
    note('incomplete_state', `Done without ${listed(lost)}: ${lastFailure(state)}`);
  else if (assessment !== null && assessment.answer.trim() === '') note('incomplete_state', 'Yield gave no answer.');
  if (interruption?.kind === 'deadline') note('deadline_passed', `The run reached its limit of ${limits.totalMs} ms.`);
  if (interruption?.kind === 'budget' || decision?.rule === 'budgetExhausted')
    note('budget_exhausted', 'The budget of tokens or model calls was used up.');
  if (ttlExhausted(state))
    note('ttl_exhausted', `The limit of ${cycles(limits.maxCycles)} was reached (TTL exhausted).`);
  if (recursion.completedCycles === 0) note('zero_passes', 'No cycle was completed.');
  if (decision?.rule === 'loopDetected') note('loop_broken', 'The run began to repeat itself and was stopped.');
  if (unsettled(state)) note('not_converged', 'The answer had not settled.');
  const excess = excessOf(state);
  if (excess !== '')
    note(
      'context_over_limit',
      `The context is ${excess} over its limit: what is left must stay, or is yours to let go.`,
    );
  if (state.synthesisFailure !== null)
    note('synthesis_failed', `The final answer could not be written: ${state.synthesisFailure}`);
  return found;
}

/** What must stay in the context may be more than fits: the rest gave way to it [U10]. */
function excessOf({ results: { understanding } }: ChainState): string {
  const { tokensOver = 0, messagesOver = 0 } = understanding?.statistics ?? {};
  if (tokensOver > 0) return `${tokensOver} tokens`;
  return messagesOver > 0 ? `${messagesOver} ${messagesOver === 1 ? 'message' : 'messages'}` : '';
}

export function ttlExhausted({ decision }: ChainState): boolean {
  return decision?.rule === 'cycleLimitReached';
}

/** Phases that failed and were never made up for. */
function lostPhases({ failures, results }: ChainState): readonly string[] {
  return PHASES.filter((phase) => results[phase] === null && failures.some((failure) => failure.phase === phase));
}

/** Ended before any rule found the answer good; in manual mode it is the user who says when it is. */
function unsettled({ interruption, decision, assessment, recursion }: ChainState): boolean {
  if (assessment === null || settled(decision)) return false;
  return !(interruption?.kind === 'finished_by_user' && recursion.mode === 'manual');
}

/** What a complete run would have and this one has not. */
export function missingFields({ results, assessment }: ChainState): readonly string[] {
  const missing: string[] = PHASES.filter((phase) => results[phase] === null);
  if (assessment === null || assessment.answer.trim() === '') missing.push('answer');
  return missing;
}

const cycles = (count: number): string => `${count} ${count === 1 ? 'cycle' : 'cycles'}`;

/** With a full stop at its end, so that sentences can follow each other. */
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const because = (reason: string): string => (reason === '' ? '' : ` (${reason})`);

function lastFailure({ failures }: ChainState): string {
  const last = failures.at(-1);
  return last === undefined ? 'no failure was recorded.' : `${last.phase}: ${last.failure.message}`;
}
