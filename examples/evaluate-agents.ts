import { generate } from 'postchain/agents';
import { evaluate, evaluationText, scriptedModel } from 'postchain/testing';
import { assign, setup } from 'xstate';

// These replies are scripted. A real model decides for itself: openaiModel({ model: 'gpt-4.1-mini' }).
const first: Readonly<Record<string, string>> = { '7 * 8': '56', '12 * 12': '124' };
const right: Readonly<Record<string, string>> = { '7 * 8': '56', '12 * 12': '144' };
const model = scriptedModel(
  ({ task, input }) => ({ text: (task === 'solve' ? first : right)[(input as Sum).question] ?? '' }),
  { usage: { inputTokens: 200, outputTokens: 10, estimated: false } },
);
const prices = { currency: 'EUR', models: { scripted: { inputPerMillion: 2, outputPerMillion: 8 } } };

type Sum = { readonly question: string; readonly answer: string };
const base = setup({
  types: {} as { input: { question: string }; context: Sum; output: string },
  actors: {
    solve: generate({ model, prices, name: 'solve', prompt: ({ question }: Sum) => `Compute: ${question}` }),
    check: generate({ model, prices, name: 'check', prompt: (sum: Sum) => `Correct this: ${JSON.stringify(sum)}` }),
  },
  actions: { keep: assign((_, answer: string) => ({ answer })) },
});
const keep = { type: 'keep', params: ({ event }: { event: { output: string } }) => event.output } as const;
const sum = ({ context }: { context: Sum }) => context;

/** Two versions of one chart: the answer is the first one, or is checked by another call. */
const solver = (next: 'checking' | 'ended') =>
  base.createMachine({
    id: 'solver',
    context: ({ input }) => ({ ...input, answer: '' }),
    output: ({ context }) => context.answer,
    initial: 'solving',
    states: {
      solving: { invoke: { src: 'solve', input: sum, onDone: { target: next, actions: keep }, onError: 'ended' } },
      checking: { invoke: { src: 'check', input: sum, onDone: { target: 'ended', actions: keep }, onError: 'ended' } },
      ended: { type: 'final' },
    },
  });

const cases = Object.entries(right).map(([question, expected]) => ({ name: question, input: { question }, expected }));
const evaluation = await evaluate(cases, {
  systems: { once: solver('ended'), checked: solver('checking') },
  scorers: { correct: (answer, { expected }) => answer === expected },
});
console.log(evaluationText(evaluation));
const { once, checked } = evaluation.systems;
console.log(once?.scores, once?.cost, checked?.scores, checked?.cost); // { correct: 0.5 } 0.00096 { correct: 1 } 0.00192
