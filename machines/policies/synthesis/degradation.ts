import type { InputProblem } from '../../contracts/read-fields.ts';
import {
  type Degradation,
  type Fallback,
  type SynthesisInput,
  type SynthesisOutcome,
  says,
} from '../../contracts/synthesis.ts';
import { bestDraft } from './draft.ts';
import { problemText, type ReadSynthesisInput } from './read-input.ts';

/** One reason for an answer to be less than hoped for, in words. */
export interface Shortfall {
  readonly reason: Degradation;
  readonly says: string;
}

/**
 * Everything that keeps the answer from being complete, the weightiest first [E5]: incomplete state > TTL (cycles) > zero passes
 * > not converged, with the run's own ends before them. Computed from the input alone: no model has a say, and a field that is missing
 * or wrong claims nothing but that.
 */
export function shortfalls(read: ReadSynthesisInput, written: SynthesisOutcome): readonly Shortfall[] {
  const { input } = read;
  const { interruption, decision, limits } = input.run;
  const found: Shortfall[] = [];
  const note = (reason: Degradation, text: string): void => {
    if (text !== '') found.push({ reason, says: sentence(text) });
  };
  if (interruption?.kind === 'cancelled') note('cancelled', `The run was cancelled${because(interruption.reason)}.`);
  if (interruption?.kind === 'interrupted')
    note('interrupted', `The run was interrupted${because(interruption.reason)}.`);
  if (interruption?.kind === 'model_unavailable')
    note('model_unavailable', `The model could not be used: ${lastFailure(input)}`);
  note('incomplete_state', incompleteInput(read.problems));
  note('incomplete_state', incompleteRun(read));
  if (interruption?.kind === 'deadline')
    note(
      'deadline_passed',
      `The run reached its limit of ${limits.totalMs === null ? 'time' : `${limits.totalMs} ms`}.`,
    );
  if (interruption?.kind === 'budget' || decision?.rule === 'budgetExhausted')
    note('budget_exhausted', 'The budget of tokens or model calls was used up.');
  if (ttlExhausted(read)) note('ttl_exhausted', `${ttlText(limits.maxCycles)} (TTL exhausted).`);
  if (input.totalPasses === 0 && isKnown(read, 'totalPasses')) note('zero_passes', 'No cycle was completed.');
  if (decision?.rule === 'loopDetected') note('loop_broken', 'The run began to repeat itself and was stopped.');
  if (unsettled(read)) note('not_converged', 'The answer had not settled.');
  if (input.run.sourceFailure) note('source_failed', `The documents could not be searched: ${input.run.sourceFailure}`);
  const excess = excessOf(input);
  if (excess !== '')
    note(
      'context_over_limit',
      `The context is ${excess} over its limit: what is left must stay, or is yours to let go.`,
    );
  if (written.type === 'failed') note('synthesis_failed', `${UNWRITTEN[written.fallback]}: ${written.error}`);
  return found;
}

const UNWRITTEN: Readonly<Record<Fallback, string>> = {
  prompt: 'The final answer could not be written, its prompt could not be used',
  model: 'The final answer could not be written, the model failed',
  validation: 'The final answer could not be written, the reply cannot be used',
  other: 'The final answer could not be written',
};

/** Whether a field of the contract was there, so that it may claim something. */
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

/** A phase that failed, or no answer to give, or nothing to make one from. */
function incompleteRun(read: ReadSynthesisInput): string {
  const { input } = read;
  const { interruption, answer } = input.run;
  const lost = lostPhases(input);
  if (interruption?.kind === 'phase_failed') return `A phase failed: ${lastFailure(input)}`;
  if (lost.length > 0 && interruption?.kind !== 'model_unavailable')
    return `Done without ${listed(lost)}: ${lastFailure(input)}`;
  if (typeof answer === 'string' && !says(answer)) return 'Yield gave no answer.';
  const passed = input.totalPasses > 0 || !isKnown(read, 'totalPasses');
  return passed && !says(bestDraft(input).text) ? 'There are no results to answer from.' : '';
}

/** Phases that failed and were never made up for. */
function lostPhases({ run, executionResults, semanticValidation }: SynthesisInput): readonly string[] {
  const failed = new Set(semanticValidation?.failures.map(({ phase }) => phase));
  for (const { phase } of executionResults) failed.delete(phase);
  const known = run.phases.filter((phase) => failed.delete(phase));
  return [...known, ...failed];
}

/** Ended before any rule found the answer good; in manual mode it is the user who says when it is. */
function unsettled(read: ReadSynthesisInput): boolean {
  const { convergenceStatus, run } = read.input;
  if (convergenceStatus || !isKnown(read, 'convergenceStatus') || run.answer === null) return false;
  return !(run.interruption?.kind === 'finished_by_user' && run.mode === 'manual');
}

/** What must stay in the context may be more than fits: the rest gave way to it [U10]. */
function excessOf({ run: { excess } }: SynthesisInput): string {
  if (excess.tokens > 0) return `${excess.tokens} tokens`;
  return excess.messages > 0 ? `${excess.messages} ${excess.messages === 1 ? 'message' : 'messages'}` : '';
}

/** What a complete run would have and this one has not: fields of the input, phases, and the answer. */
export function missingFields({ input, problems }: ReadSynthesisInput): readonly string[] {
  const { run, executionResults } = input;
  const done = new Set(executionResults.map(({ phase }) => phase));
  const missing = [...problems.map(({ field }) => field), ...run.phases.filter((phase) => !done.has(phase))];
  const answer = run.answer === undefined ? bestDraft(input).text : run.answer;
  return answer !== null && says(answer) ? missing : [...missing, 'answer'];
}

function ttlText(maxCycles: number | null): string {
  if (maxCycles === null) return 'All cycles were used up';
  return `The limit of ${maxCycles} ${maxCycles === 1 ? 'cycle' : 'cycles'} was reached`;
}

/** With a full stop at its end, so that sentences can follow each other. */
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const because = (reason: string): string => (reason === '' ? '' : ` (${reason})`);

function lastFailure({ semanticValidation }: SynthesisInput): string {
  const last = semanticValidation?.failures.at(-1);
  return last === undefined ? 'no failure was recorded.' : `${last.phase}: ${last.failure.message}`;
}
