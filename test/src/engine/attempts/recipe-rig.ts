import { SimulatedClock } from 'xstate';
import { z } from 'zod';
import {
  createStructuredOutput,
  type StructuredOutputOptions,
} from '../../../../src/engine/attempts/structured-output.ts';
import type { StructuredUpdate } from '../../../../src/engine/attempts/updates.ts';
import { type CallScript, partModel } from '../../../support/part-model.ts';

export const Recipe = z.object({ title: z.string(), minutes: z.int(), steps: z.array(z.string()) });
export const pancakes = { title: 'Pancakes', minutes: 25, steps: ['Mix', 'Wait', 'Fry'] };
export const wrong = { ...pancakes, minutes: 'soon' };

type More = Partial<StructuredOutputOptions<typeof Recipe>>;

/** A recipe from a model that plays these scripts, on a clock that stands still. */
export function recipeFrom(scripts: readonly CallScript[], more: More = {}) {
  const model = partModel(...scripts);
  const clock = new SimulatedClock();
  const output = createStructuredOutput({ model, schema: Recipe, prompt: 'How?', clock, newId: () => 'o1', ...more });
  return { model, clock, output };
}

/** Everything that one reader sees: partial values as they were when they came. */
export async function read(updates: AsyncIterable<StructuredUpdate>): Promise<StructuredUpdate[]> {
  const seen: StructuredUpdate[] = [];
  for await (const update of updates) seen.push(structuredClone(update));
  return seen;
}
