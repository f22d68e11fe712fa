import { describe, expect, it } from 'vitest';
import { finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { composeAnswer } from '../../../../machines/policies/synthesis/compose.ts';
import { deepFreeze } from '../../../support/contract-samples.ts';
import { createRandom } from '../../../support/random.ts';
import { sampleSize } from '../../../support/soak.ts';
import { randomSynthesisInput } from '../../../support/synthesis-inputs.ts';
import { answerDifferences, expectedAnswer, randomOutcome } from '../../../support/synthesis-oracle.ts';

const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
const INPUTS = sampleSize('inputs of synthesis', 5_000, 100_000);
const SHOWN = 3;

describe('the answer for any input', () => {
  it(`[E1] [E2] [E3] [E4] [E5] [E6] [E9] is valid and complete for ${INPUTS} random inputs and does not mutate them`, () => {
    const found: string[] = [];
    const counts = new Map<string, number>();
    for (let seed = 1; seed <= INPUTS && found.length < SHOWN; seed += 1) {
      const draw = createRandom(seed);
      const drawn = randomSynthesisInput(draw);
      const { outcome, writing: told } = randomOutcome(draw);
      const before = jsonOf(drawn.input);
      const answer = composeAnswer(deepFreeze(drawn.input), outcome);
      const wanted = expectedAnswer(drawn, told);
      const wrong = answerDifferences(answer, wanted, drawn, told);
      if (!finalAnswerSchema.safeParse(answer).success) wrong.push('it does not fit its contract');
      if (jsonOf(drawn.input) !== before) wrong.push('the input was changed');
      if (wrong.length > 0) found.push(`seed ${seed}: ${wrong.join('; ')}`);
      counts.set(String(wanted.reason), (counts.get(String(wanted.reason)) ?? 0) + 1);
    }
    expect(found).toEqual([]);
    // Each reason ranks highest for some input.
    expect([...counts.keys()].sort()).toEqual(
      [...finalAnswerSchema.shape.metadata.shape.reason.def.innerType.options, 'null'].sort(),
    );
  });
});
