import { Command, END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';

const Plan = z.object({ steps: z.array(z.string()).max(5) });
const Result = z.object({ ok: z.boolean(), result: z.string() });
const State = new StateSchema({
  goal: z.string(),
  plans: z.number().default(0),
  steps: z.array(z.string()).default([]),
  results: z.array(Result).default([]),
  failed: z.boolean().default(false),
});
const prompt = ({ goal, results, steps: [next = 'Plan the steps that are left.'] }) =>
  `The goal: ${goal}\nResults so far: ${JSON.stringify(results)}\nDo this now: ${next}`;
const planner = model.withStructuredOutput(Plan, { name: 'plan' });
const executor = model.withStructuredOutput(Result, { name: 'step' });
const choose = ({ steps, plans, results }) => {
  if (steps.length > 0) return 'execute';
  return plans < 3 && results.at(-1)?.ok !== true ? 'plan' : END;
};

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({
      retryPolicy: { maxAttempts: 3 },
      errorHandler: () => new Command({ update: { failed: true }, goto: END }),
    })
    .addNode('plan', async (task) => ({ ...(await planner.invoke(prompt(task))), plans: task.plans + 1 }))
    .addNode('execute', async (task) => {
      const result = await executor.invoke(prompt(task));
      return { steps: result.ok ? task.steps.slice(1) : [], results: [...task.results, result] };
    })
    .addConditionalEdges(START, choose, ['plan', 'execute', END])
    .addConditionalEdges('plan', choose, ['plan', 'execute', END])
    .addConditionalEdges('execute', choose, ['plan', 'execute', END])
    .compile({ checkpointer });
export const stateOf = (goal) => ({ goal });
