import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type FinalAnswer, finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { synthesizeAnswer } from '../../../../src/chain/synthesize-answer.ts';
import { deepFreeze } from '../../../support/contract-samples.ts';
import { createRandom } from '../../../support/random.ts';
import { sampleSize } from '../../../support/soak.ts';
import { type RandomInput, randomSynthesisInput } from '../../../support/synthesis-inputs.ts';
import {
  answerDifferences,
  expectedAnswer,
  type RandomModel,
  randomModel,
  runToCompletion,
  type WritingResult,
} from '../../../support/synthesis-oracle.ts';

const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
const INPUTS = sampleSize('inputs and models of synthesis', 2_000, 100_000);
const AT_ONCE = 50;
const SHOWN = 3;
const DEFAULT_RESERVE = 32_000;

describe('standalone synthesis', () => {
  it(`[E1] [E2] [E3] [E4] [E5] [E6] [E9] answers ${INPUTS} random inputs for any model behavior and cleans up`, async () => {
    const found: string[] = [];
    const seen = new Set<string>();
    for (let seed = 1; seed <= INPUTS && found.length < SHOWN; seed += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, (_, at) => check(seed + at, seen));
      found.push(...(await Promise.all(batch)).filter((wrong) => wrong !== null));
    }
    expect(found.slice(0, SHOWN)).toEqual([]);
    expect(seen).toContain('silent: model');
    expect(seen).toContain('prompt throws: prompt');
    expect(seen).toContain('misfit: validation');
    expect(seen).toContain('corrected: written');
    expect(seen).toContain('aborted under way: cancelled');
  });
});

async function check(seed: number, seen: Set<string>): Promise<string | null> {
  const draw = createRandom(seed);
  const drawn = randomSynthesisInput(draw);
  const drawnModel = randomModel(draw);
  const { model, prompt } = drawnModel;
  const clock = new SimulatedClock();
  const timers = watchTimers(clock);
  const abort = new AbortController();
  if (drawnModel.abort === 'before') abort.abort();
  const before = jsonOf(drawn.input);
  const answer = await runToCompletion(
    synthesizeAnswer(deepFreeze(drawn.input), { model, prompts: { synthesis: prompt }, clock, signal: abort.signal }),
    clock,
    () => drawnModel.abort === 'under way' && abort.abort(),
  );
  const { told, played } = expected(drawn, drawnModel, answer, clock.now());
  const wrong = answerDifferences(answer, expectedAnswer(played, told), played, told);
  if (!finalAnswerSchema.safeParse(answer).success) wrong.push('it does not fit its contract');
  if (jsonOf(drawn.input) !== before) wrong.push('the input was changed');
  if (timers.size > 0) wrong.push(`${timers.size} timers are left`);
  const calls = model.calls.length;
  if (calls > 3) wrong.push(`the model was called ${calls} times`);
  if (answer.metadata.budget.synthesisReserveTokens.used > 0 !== calls > 0 && told.fallback !== 'prompt')
    wrong.push('its calls are not counted');
  seen.add(`${drawnModel.behavior}: ${told.written ? 'written' : (told.fallback ?? answer.status)}`);
  return wrong.length === 0 ? null : `seed ${seed} (${drawnModel.behavior}): ${wrong.join('; ')}`;
}

/** What the requirements expect: whether the model is called, and the state known by then. */
function expected(
  { input: given, facts, invalidPaths: bad }: RandomInput,
  model: RandomModel,
  answer: FinalAnswer,
  endedAtMs: number,
) {
  const { run, request } = facts;
  const reserve = run.limits.synthesisReserveTokens ?? DEFAULT_RESERVE;
  const kind = run.interruption?.kind ?? '';
  const left = ['cancelled', 'interrupted', 'model_unavailable'].includes(kind) || reserve === 0;
  const isAsked = !left && request !== null && /[^\s\p{Cc}\p{Cf}]/u.test(request);
  const isAborted = model.abort === 'before' || (model.abort === 'under way' && isAsked);
  const notAsked = { written: null, fallback: left || isAborted ? null : ('prompt' as const) };
  const tokens = answer.metadata.budget.synthesisReserveTokens.used;
  const told: WritingResult = { ...(isAsked ? model.writing : notAsked), tokens };
  const interruption = isAborted ? ({ kind: 'cancelled', reason: '' } as const) : run.interruption;
  const elapsedMs = run.elapsedMs === null ? null : run.elapsedMs + endedAtMs;
  const limits = { ...run.limits, synthesisReserveTokens: reserve };
  const played: RandomInput = {
    input: given,
    invalidPaths: bad,
    facts: { ...facts, run: { ...run, interruption, elapsedMs, limits } },
  };
  return { told, played };
}

/** Timers that neither fired nor were cleared. */
function watchTimers(clock: SimulatedClock): ReadonlySet<number> {
  const open = new Set<number>();
  const set = clock.setTimeout.bind(clock);
  const clear = clock.clearTimeout.bind(clock);
  clock.setTimeout = (fn, ms) => {
    const id = set((...given: unknown[]) => {
      open.delete(id);
      fn(...given);
    }, ms);
    open.add(id);
    return id;
  };
  clock.clearTimeout = (id) => {
    open.delete(id as number);
    clear(id as number);
  };
  return open;
}
