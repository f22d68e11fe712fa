import { generate } from 'postchain/agents';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { scriptedModel } from 'postchain/testing';
import { assign, setup } from 'xstate';
import * as z from 'zod';

const Plan = z.object({ steps: z.array(z.string()).max(5) });
const Result = z.object({ ok: z.boolean(), result: z.string() });
type Result = z.infer<typeof Result>;
type Task = { goal: string; plans: number; steps: readonly string[]; results: readonly Result[] };
const ended = (result: string, ok = true) => ({ result, ok });
// With a real model: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel({
  plan: [{ steps: ['Book the hall', 'Invite 40 guests'] }, { steps: ['Book the garden', 'Invite 40 guests'] }],
  step: [ended('The hall is taken.', false), ended('The garden is booked.'), ended('40 guests are invited.')],
});
const prompt = ({ goal, results, steps: [next = 'Plan the steps that are left.'] }: Task) =>
  `The goal: ${goal}\nResults so far: ${JSON.stringify(results)}\nDo this now: ${next}`;
const plan = generate({ model, name: 'plan', schema: Plan, prompt });
const step = generate({ model, name: 'step', schema: Result, prompt });
const task = ({ context }: { context: Task }) => context;
const hasStep = ({ context }: { context: Task }) => context.steps.length > 0;
const mayPlan = ({ context }: { context: Task }) => context.plans < 3 && context.results.at(-1)?.ok !== true;
const after = (old: Task, r: Result) => ({ steps: r.ok ? old.steps.slice(1) : [], results: [...old.results, r] });

export const machine = setup({
  types: {} as { input: string; context: Task; output: Task },
  actors: { plan, step },
  guards: { hasStep, mayPlan },
  actions: {
    keepPlan: assign({ steps: ({ event }) => Object(event).output.steps, plans: ({ context }) => context.plans + 1 }),
    keepResult: assign(({ context, event }) => after(context, Object(event).output)),
  },
}).createMachine({
  id: 'planAndExecute',
  context: ({ input }) => ({ goal: input, plans: 0, steps: [], results: [] }),
  output: task,
  initial: 'choosing',
  states: {
    choosing: {
      description: 'Does a step of the plan remain? If a step failed, the model plans again, three times at most.',
      always: [{ guard: 'hasStep', target: 'executing' }, { guard: 'mayPlan', target: 'planning' }, 'ended'],
    },
    planning: {
      description: 'The model plans the steps that are left, given the results so far.',
      invoke: { src: 'plan', input: task, onDone: { target: 'choosing', actions: 'keepPlan' }, onError: 'failed' },
    },
    executing: {
      description: 'The model does the next step of the plan.',
      invoke: { src: 'step', input: task, onDone: { target: 'choosing', actions: 'keepResult' }, onError: 'failed' },
    },
    ended: { description: 'All steps of the last plan succeeded, or the third plan failed.', type: 'final' },
    failed: { description: 'The model gave no valid reply.', type: 'final' },
  },
});

if (process.argv[1] === import.meta.filename) {
  const tasks = createDurableMachine(machine, { journals: memoryJournals() });
  console.log((await (await tasks.open('t-1', { input: 'A party' })).output).results.length); // 3
}
