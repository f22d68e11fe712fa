import { Command, END, ReducedValue, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';

const Task = z.object({ worker: z.enum(['researcher', 'writer']), task: z.string() });
const State = new StateSchema({
  goal: z.string(),
  limits: z.object({ calls: z.number() }),
  calls: new ReducedValue(z.number().default(0), { reducer: (calls, more) => calls + more }),
  task: Task.nullable().default(null),
  results: z.record(z.string(), z.string()).default({}),
});
const prompt = ({ goal, task, results }) => JSON.stringify({ goal, task, results });
const next = z.object({ next: Task.nullable().describe('The next task, or null if the text meets the goal.') });
const chooser = model.withStructuredOutput(next, { name: 'choose' });
const system = { role: 'system', content: 'You are the worker that does the task.' };

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({ retryPolicy: { maxAttempts: 3 } })
    .addNode('supervise', async (job) => ({ task: (await chooser.invoke(prompt(job))).next, calls: 1 }), {
      errorHandler: () => new Command({ goto: END }),
    })
    .addNode(
      'work',
      async (job) => {
        const { text } = await model.invoke([system, { role: 'user', content: prompt(job) }]);
        return { results: { ...job.results, [job.task.worker]: text }, calls: 1 };
      },
      { errorHandler: () => new Command({ goto: 'supervise' }) },
    )
    .addEdge(START, 'supervise')
    .addConditionalEdges('supervise', ({ task, results, calls, limits }) => {
      if (calls >= limits.calls) return END;
      if (task !== null) return 'work';
      return results.writer === undefined ? 'supervise' : END;
    })
    .addConditionalEdges('work', ({ calls, limits }) => (calls >= limits.calls ? END : 'supervise'))
    .compile({ checkpointer });
export const stateOf = (input) => input;
