import { generate } from 'postchain/agents';
import { scriptedModel } from 'postchain/testing';
import { assign, createActor, setup, toPromise } from 'xstate';
import * as z from 'zod';

const Verdict = z.object({ winner: z.enum(['pro', 'contra']), reason: z.string() });
type Topic = { readonly topic: string; readonly rounds: number };
type Debate = Topic & { readonly speeches: readonly string[]; readonly verdict: z.infer<typeof Verdict> | null };
const lines = (task: string) => (debate: Debate) => [`${task}: ${debate.topic}`, ...debate.speeches].join('\n');
const verdict = { winner: 'pro', reason: 'It gave an example.' };
// With a real model: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel(({ task }) => (task === 'judge' ? verdict : { text: `A ${task} argument.` }));
const whole = ({ context }: { readonly context: Debate }): Debate => context;
const keep = { type: 'keep', params: ({ event }: { readonly event: { output: string } }) => event.output } as const;

export const machine = setup({
  types: { input: {} as Topic, context: {} as Debate },
  actors: {
    pro: generate({ model, name: 'pro', prompt: lines('Argue for this') }),
    contra: generate({ model, name: 'contra', prompt: lines('Argue against this') }),
    judge: generate({ model, name: 'judge', schema: Verdict, prompt: lines('Who argues better?') }),
  },
  guards: { hasRoundsLeft: ({ context: { speeches, rounds } }) => speeches.length < 2 * rounds },
  actions: { keep: assign({ speeches: ({ context }, speech: string) => [...context.speeches, speech] }) },
}).createMachine({
  id: 'debate',
  context: ({ input }) => ({ ...input, speeches: [], verdict: null }),
  output: ({ context: { speeches, verdict } }) => ({ speeches, verdict }),
  initial: 'arguing',
  states: {
    arguing: {
      description: 'The first speaker argues for the topic. A speaker who fails ends the debate.',
      invoke: { src: 'pro', input: whole, onDone: { target: 'countering', actions: keep }, onError: 'judging' },
    },
    countering: {
      description: 'The second speaker argues against it.',
      invoke: { src: 'contra', input: whole, onDone: { target: 'turning', actions: keep }, onError: 'judging' },
    },
    turning: {
      description: 'Is a round left?',
      always: [{ guard: 'hasRoundsLeft', target: 'arguing' }, { target: 'judging' }],
    },
    judging: {
      description: 'The judge decides by what was said.',
      invoke: {
        src: 'judge',
        input: whole,
        onDone: { target: 'decided', actions: assign({ verdict: ({ event }) => event.output }) },
        onError: 'undecided',
      },
    },
    decided: { description: 'A verdict with its reason.', type: 'final' },
    undecided: { description: 'The judge gave no valid verdict.', type: 'final' },
  },
});

const actor = createActor(machine, { input: { topic: 'Tests are docs.', rounds: 2 } });
if (process.argv[1] === import.meta.filename) console.log(await toPromise(actor.start()));
