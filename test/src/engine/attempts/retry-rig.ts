import { z } from 'zod';
import type { Failure } from '../../../../machines/contracts/failure.ts';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import type { AttemptLimits } from '../../../../src/engine/attempts/attempt-options.ts';
import type { RetryPolicy } from '../../../../src/engine/attempts/retry-policy.ts';
import {
  createStructuredOutput,
  type StructuredOutputOptions,
} from '../../../../src/engine/attempts/structured-output.ts';
import { type CallScript, type PartModel, partModel, said } from '../../../support/part-model.ts';
import { CountingClock } from './counting-clock.ts';
import { play } from './play.ts';

export const Answer = z.object({ yes: z.boolean() });
export const right: CallScript = said({ yes: true }, 1_000);
export const wrong: CallScript = said({ yes: 'perhaps' }, 1_000);
/** Wrong in another way than `wrong`. */
export const missing: CallScript = said({}, 1_000);

/** A call that fails in transport and may be tried again. */
export const down = (known: Partial<Failure> = {}): CallScript => [
  { type: 'failure', failure: { ...failureOf('transport', 'server_error', 'It is down.'), ...known } },
];
/** A call that fails without hope. */
export const refused: CallScript = down({ code: 'unauthorized', status: 401, retryable: false });

/** A model with a name of its own. */
export const named = (id: string, ...scripts: readonly CallScript[]): PartModel => ({ ...partModel(...scripts), id });

interface Given extends Pick<StructuredOutputOptions<typeof Answer>, 'signal' | 'newId'> {
  readonly limits?: AttemptLimits;
  readonly clock?: CountingClock;
}

/** Plays the scripts under a policy, from the first call to the value or its lack. */
export async function tried(scripts: readonly CallScript[], policy: RetryPolicy, given: Given = {}) {
  const model = partModel(...scripts);
  const clock = given.clock ?? new CountingClock();
  const output = createStructuredOutput({
    model,
    schema: Answer,
    prompt: 'Is it so?',
    policy,
    newId: () => 'o1',
    ...given,
    clock,
  });
  const played = await play(output, clock);
  const { attempts } = output.execution;
  return { ...played, model, clock, output, attempts, models: attempts.map(({ model: index }) => index) };
}

/** What the model was told beside the prompt, in one of its calls. */
export function toldIn(model: PartModel, call: number): readonly string[] {
  return (model.calls[call]?.turns ?? []).slice(2).map(({ content }) => content);
}

/** A part that shows that the model is alive. */
export const thinking: ModelPart = { type: 'reasoning-delta', text: 'hm' };
