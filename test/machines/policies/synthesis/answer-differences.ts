import { isDeepStrictEqual } from 'node:util';
import type { FinalAnswer } from '../../../../machines/contracts/synthesis.ts';
import type { DrawnInput } from './draw-input.ts';
import type { Told, Wanted } from './oracle.ts';

/** What of an answer is not as the requirements want it, in words. */
export function answerDifferences(answer: FinalAnswer, wanted: Wanted, drawn: DrawnInput, told: Told): string[] {
  const found: string[] = [];
  const same = (what: string, got: unknown, want: unknown): void => {
    if (!isDeepStrictEqual(got, want)) found.push(`${what}: got ${spell(got)}, wanted ${spell(want)}`);
  };
  const { metadata } = answer;
  const { run, steps } = drawn.facts;
  same('degraded', metadata.degraded, wanted.reason !== null);
  same('reason', metadata.reason, wanted.reason);
  same('status', answer.status, statusOf(wanted));
  same('ttlExhausted', answer.ttlExhausted, wanted.ttlExhausted);
  same('explained', metadata.explanation === '', wanted.reason === null);
  same('noted', answer.notes.includes(metadata.explanation), true);
  same('session', answer.notes.includes('Part of the session'), run.sessionProblem !== null);
  same('synthesis', [metadata.synthesis.writtenBy, metadata.synthesis.fallback], [writer(told), told.fallback]);
  same('error', metadata.synthesis.error === null, told.fallback === null);
  if (!answer.notes.includes(metadata.synthesis.error ?? '')) found.push('the error is not in the notes');
  same('steps', answer.usedStepIds, [...new Set(steps.map(({ stepId }) => stepId))]);
  same('budget', metadata.budget, wanted.budget);
  same('decision', metadata.decision, run.decision);
  same('cycles', metadata.cycles, drawn.facts.passes ?? 0);
  if (answer.answerText.trim() === '') found.push('the text is empty');
  if (wanted.text === null) same('no answer', answer.answerText.startsWith('No answer was reached. '), true);
  else same('text', answer.answerText, wanted.text);
  found.push(...confidenceDifferences(answer.confidence, wanted, drawn, told));
  for (const { messageId, path } of answer.sources)
    if (!run.messages.some(({ id, source }) => id === messageId && source?.path === path))
      found.push(`cites ${messageId}`);
  for (const path of drawn.bad)
    if (!metadata.missingFields.some((field) => field === path || field.startsWith(`${path}.`)))
      found.push(`${path} is not named`);
  return found;
}

/** What a model says counts as far as it stands in what was gathered; what the engine took over counts as it was. */
function confidenceDifferences(got: number, wanted: Wanted, { facts }: DrawnInput, told: Told): string[] {
  const most = wanted.confidence;
  const gathered = facts.run.hasDocuments || facts.run.messages.some(({ role }) => role === 'search');
  const isRight = told.wrote !== null && gathered ? got === most || got === Math.min(most, 0.5) : got === most;
  return isRight ? [] : [`confidence: got ${got}, wanted ${most}`];
}

function statusOf({ reason }: Wanted): FinalAnswer['status'] {
  if (reason === null) return 'completed';
  return reason === 'cancelled' ? 'cancelled' : 'degraded';
}

const writer = (told: Told): string => (told.wrote === null ? 'engine' : 'model');

const spell = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? 'nothing';
