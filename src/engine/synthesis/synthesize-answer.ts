import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { SynthesisInput } from '../../../machines/contracts/synthesis-input.ts';
import { isKnown } from '../../../machines/policies/degradation.ts';
import { composeAnswer, composeFrom } from '../../../machines/policies/synthesis/compose.ts';
import { brokenOutcome, composedOutcome } from '../../../machines/policies/synthesis/outcome.ts';
import { type ReadSynthesisInput, readSynthesisInput } from '../../../machines/policies/synthesis/read-input.ts';
import { planWriting, writingPolicy } from '../../../machines/policies/synthesis/writing.ts';
import { readSynthesizeOptions, type SynthesisParts, type SynthesizeOptions } from './synthesize-options.ts';
import { type Writing, writeAnswer } from './write-answer.ts';

export type { SynthesizeOptions };

/**
 * The final answer of a run by itself, whoever made the run: its input is checked field by field, a model writes the text where one is
 * given, and the engine composes the rest. The promise never rejects, whatever the input is and the model does: what is wrong is told
 * in the answer.
 *
 * @param input As `SynthesisInput`; `run` may be left out, or any of its fields.
 * @throws PostChainError `invalid_option`, before anything starts, for options that make no sense.
 * @example
 * const { answerText, metadata } = await synthesizeAnswer(input, { model, signal });
 */
export function synthesizeAnswer(input: unknown, options: SynthesizeOptions = {}): Promise<FinalAnswer> {
  return synthesized(input, readSynthesizeOptions(options));
}

async function synthesized(given: unknown, parts: SynthesisParts): Promise<FinalAnswer> {
  try {
    const begunAtMs = parts.clock.now();
    const read = withReserve(readSynthesisInput(given), parts);
    const { outcome, aborted } = await written(read.input, parts);
    const elapsedMs = elapsed(read, begunAtMs, parts.clock.now());
    const interruption = aborted ? CANCELLED : read.input.run.interruption;
    return composeFrom(withRun(read, { elapsedMs, interruption }), outcome);
  } catch (error) {
    return composeAnswer(given, brokenOutcome(error));
  }
}

const CANCELLED = { kind: 'cancelled', reason: 'the signal was aborted' } as const;

async function written(input: SynthesisInput, parts: SynthesisParts): Promise<Writing> {
  const { model, limits, signal } = parts;
  if (signal?.aborted) return { outcome: composedOutcome(''), aborted: true };
  if (model === null) return { outcome: composedOutcome(''), aborted: false };
  const plan = planWriting(input, model.contextWindowTokens);
  if (!plan.asks) return { outcome: plan.outcome, aborted: false };
  const { synthesisReserveTokens } = input.run.limits;
  const bounds = {
    ...limits,
    synthesisReserveTokens: synthesisReserveTokens ?? limits.synthesisReserveTokens,
    totalMs: Math.min(limits.totalMs, limits.synthesisMs),
  };
  const id = `${input.correlationId}.synthesis`;
  return writeAnswer(
    model,
    {
      id,
      task: 'synthesis',
      input: plan.input,
      policy: writingPolicy({ limits: bounds, prices: [], fallbackModels: 0 }, plan),
    },
    parts,
  );
}

/** The reserve that the options ask for, else the run's own, else the default. */
function withReserve(read: ReadSynthesisInput, { reserveTokens, limits }: SynthesisParts): ReadSynthesisInput {
  const known = read.input.run.limits;
  const synthesisReserveTokens = reserveTokens ?? known.synthesisReserveTokens ?? limits.synthesisReserveTokens;
  return withRun(read, { limits: { ...known, synthesisReserveTokens } });
}

function withRun({ input, problems }: ReadSynthesisInput, run: Partial<SynthesisInput['run']>): ReadSynthesisInput {
  return { input: { ...input, run: { ...input.run, ...run } }, problems };
}

/** Of the run with its synthesis; by its start, where the run does not say how long it took; null where the clock is another one. */
function elapsed(read: ReadSynthesisInput, begunAtMs: number, endedAtMs: number): number | null {
  const { run, executionStartTimestamp } = read.input;
  const startedAtMs = isKnown(read, 'executionStartTimestamp') ? Date.parse(executionStartTimestamp) : Number.NaN;
  const tookMs = run.elapsedMs === null ? endedAtMs - startedAtMs : run.elapsedMs + (endedAtMs - begunAtMs);
  return Number.isFinite(tookMs) && tookMs >= 0 ? tookMs : null;
}
