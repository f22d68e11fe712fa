import { createStructuredOutput, exponentialBackoff, maxCorrections, retryPolicy } from 'postchain';
import { scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const Recipe = z.object({ title: z.string(), minutes: z.int().positive(), steps: z.array(z.string()) });

// The first reply ("soon") is invalid and gets corrected. For a real model: openaiModel({ model: 'gpt-4.1-mini' }).
const right = { title: 'Pancakes', minutes: 25, steps: ['Mix', 'Wait', 'Fry'] };
const model = scriptedModel({ recipe: [{ ...right, minutes: 'soon' }, right] });

const recipe = createStructuredOutput({
  model,
  schema: Recipe,
  name: 'recipe',
  prompt: 'How do I make pancakes?',
  policy: retryPolicy(maxCorrections(2), exponentialBackoff({ baseMs: 250, jitter: 0.5 })),
});

for await (const update of recipe) {
  if (update.type === 'partial') console.log(update.value.title, update.value.steps?.length ?? 0);
  if (update.type === 'reset') console.log('retrying:', update.failure.issues);
}
const { title, minutes } = await recipe.value;
console.log(`${title} in ${minutes} minutes, after ${recipe.execution.attempts.length} attempts`);
