import { createCapabilityLoop, defineCapability } from 'postchain';
import { scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const stock = defineCapability({
  name: 'stock',
  description: 'Returns how many units of an article are in stock.',
  arguments: z.object({ article: z.string() }),
  execute: ({ article }) => (article === 'umbrella' ? '3' : '0'),
});
const reserve = defineCapability({
  name: 'reserve',
  description: 'Reserves units of an article.',
  arguments: z.object({ article: z.string(), count: z.int().positive() }),
  execute: ({ article, count }) => `reserved ${count} of ${article}`,
});

// These replies are scripted. A real model decides for itself: openaiModel({ model: 'gpt-4.1-mini' }).
const step = (capability: string, args: object) => ({ capability, arguments: JSON.stringify(args) });
const model = scriptedModel({
  action: [{ response: '', confidence: 0.2, calls: [step('stock', { article: 'umbrella' })] }],
  continuation: [
    { done: false, finalOutput: null, next: [step('reserve', { article: 'umbrella', count: 1 })] },
    { done: true, finalOutput: 'One umbrella is reserved. Two are left.', next: [] },
  ],
});

const loop = createCapabilityLoop({ model, capabilities: [stock, reserve], continuation: 'model' });
const { result, results, stopReason } = await loop.run({ request: 'Reserve an umbrella for me.' }).outcome;
console.log(results.map(({ capability }) => capability).join(' → '), stopReason);
console.log(result?.output);
