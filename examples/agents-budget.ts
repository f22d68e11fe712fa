import { budget, generate } from 'postchain/agents';
import { scriptedModel } from 'postchain/testing';
import { createActor, setup, waitFor } from 'xstate';

const model = scriptedModel({ output: [{ text: 'Yes.' }, { text: 'Yes.' }, { text: 'Yes.' }] });
const endless = setup({ actors: { budget, ask: generate({ model }) } }).createMachine({
  invoke: { src: 'budget', systemId: 'budget', input: { calls: 2, tokens: 50_000, ms: 600_000 } },
  on: { 'budget.reached': '.outOfBudget' },
  initial: 'asking',
  states: {
    asking: {
      invoke: { src: 'ask', input: 'Is it done?', onDone: { target: 'asking', reenter: true }, onError: 'failed' },
    },
    outOfBudget: { type: 'final' },
    failed: { type: 'final' },
  },
});

const actor = createActor(endless).start();
console.log((await waitFor(actor, ({ status }) => status === 'done')).value, model.calls.length); // outOfBudget 2
