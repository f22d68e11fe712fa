import { all, create } from 'mathjs';
import { createPostChain, defineCapability } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const math = create(all ?? {}, { number: 'BigNumber', precision: 64 });
const { evaluate } = math;
const disabled = () => {
  throw new Error('this function is disabled');
};
const unsafe = ['import', 'createUnit', 'reviver', 'evaluate', 'parse', 'simplify', 'derivative', 'resolve'];
math.import(Object.fromEntries(unsafe.map((name) => [name, disabled])), { override: true });

const calculator = defineCapability({
  name: 'calculator',
  description: 'Evaluates an arithmetic expression with 64 digits. Use it for every calculation.',
  arguments: z.object({ expression: z.string().max(1000).describe('for example (2 + 3) * 4 ^ 0.5') }),
  execute: ({ expression }) => math.format(evaluate(expression), { precision: 32 }),
});

const call = { capability: 'calculator', arguments: '{"expression":"0.1 + 0.2"}' };
const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
const run = createPostChain({ model, capabilities: [calculator] }).run({ request: 'What is 0.1 + 0.2?' });

for await (const event of run.events) {
  if (event.type === 'capability-end') console.log(event.result.output);
}
