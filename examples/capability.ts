import { createPostChain, defineCapability } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const weather = defineCapability({
  name: 'weather',
  description: 'Returns the current weather in a city.',
  arguments: z.object({ city: z.string() }),
  execute: ({ city }) => `It is raining in ${city}.`,
});

const call = { capability: 'weather', arguments: '{"city":"Bergen"}' };
const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
const run = createPostChain({ model, capabilities: [weather] }).run({ request: 'Do I need an umbrella in Bergen?' });

for await (const event of run.events) {
  if (event.type === 'capability-end') console.log(event.result.output);
}
