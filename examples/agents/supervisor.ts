import { type BudgetLimits, type BudgetReached, budget, decide, generate } from 'postchain/agents';
import { scriptedModel } from 'postchain/testing'; // A real model: openaiModel({ model: 'gpt-4.1-mini' }).
import { assign, createActor, raise, setup, toPromise } from 'xstate';
import * as z from 'zod';

const Task = z.object({ worker: z.enum(['researcher', 'writer']), task: z.string() });
const events = { 'work.asked': Task, 'work.accepted': z.object({}) };
type Decision = ({ type: 'work.asked' } & z.infer<typeof Task>) | { type: 'work.accepted' };
type Job = { goal: string; limits: BudgetLimits; task: z.infer<typeof Task> | null; results: Record<string, string> };
const prompt = ({ goal, task, results }: Job) => JSON.stringify({ goal, task, results });
const withResult = ({ task, results }: Job, text: string) => ({ results: { ...results, [task?.worker ?? '']: text } });
const job = ({ context }: { readonly context: Job }): Job => context;
const ask = (worker: string) => ({ type: 'work.asked', worker, task: 'Do your part.' });
const plan = [ask('researcher'), ask('writer'), { type: 'work.accepted' }];
export const model = scriptedModel(({ task }, call) => (task === 'work' ? { text: `Part ${call}.` } : plan[call - 1]));

export const machine = setup({
  types: { input: {} as Pick<Job, 'goal' | 'limits'>, context: {} as Job, events: {} as Decision | BudgetReached },
  actors: {
    choose: decide({ model, name: 'choose', events, prompt }),
    work: generate({ model, name: 'work', system: 'You are the worker that does the task.', prompt }),
    budget,
  },
  guards: { hasText: ({ context }) => context.results['writer'] !== undefined },
}).createMachine({
  id: 'supervisor',
  context: ({ input }) => ({ ...input, task: null, results: {} }),
  output: ({ context }) => context.results,
  invoke: { src: 'budget', systemId: 'budget', input: ({ context }) => context.limits, onError: '.stopped' },
  on: { 'budget.reached': '.stopped' },
  initial: 'supervising',
  states: {
    supervising: {
      description: 'The model decides which worker runs next.',
      invoke: { src: 'choose', input: job, onDone: { actions: raise(({ event: e }) => e.output) }, onError: 'stopped' },
      on: {
        'work.asked': {
          target: 'working',
          actions: assign({ task: ({ event: e }) => e }),
          description: 'Does a part.',
        },
        'work.accepted': { target: 'finished', guard: 'hasText', description: 'The text meets the goal.' },
      },
    },
    working: {
      description: 'A worker, one call of the model, does its task.',
      invoke: {
        src: 'work',
        input: job,
        onDone: { target: 'supervising', actions: assign(({ context, event }) => withResult(context, event.output)) },
        onError: 'supervising',
      },
    },
    finished: { description: 'A text that the supervisor accepted.', type: 'final' },
    stopped: { description: 'The budget is used up, or no decision was valid: the results so far.', type: 'final' },
  },
});

const input = { goal: 'Explain the dance of bees.', limits: { calls: 20 } };
if (process.argv[1] === import.meta.filename) console.log(await toPromise(createActor(machine, { input }).start()));
