import { createAttempt } from 'postchain';
import { evaluate, evaluationText, scriptedModel } from 'postchain/testing';
import { assign, setup } from 'xstate';
import * as z from 'zod';

/** Sorts mail with a model, here one with these replies. */
function sorter(replies: readonly boolean[]) {
  const model = scriptedModel({ mail: replies.map((isUrgent) => ({ reply: { isUrgent } })) });
  const triage = createAttempt({ model, schema: z.object({ isUrgent: z.boolean() }), name: 'mail' });
  return setup({
    types: { input: {} as { mail: string }, context: {} as { mail: string; isUrgent: boolean }, output: {} as boolean },
    actors: { triage: triage.machine },
  }).createMachine({
    id: 'sorter',
    context: ({ input }) => ({ ...input, isUrgent: false }),
    initial: 'reading',
    states: {
      reading: {
        invoke: {
          src: 'triage',
          input: ({ context }) => triage.input(context.mail),
          onDone: {
            target: 'sorted',
            actions: assign({ isUrgent: ({ event }) => event.output.ok && event.output.value.isUrgent }),
          },
        },
      },
      sorted: { type: 'final' },
    },
    output: ({ context }) => context.isUrgent,
  });
}

const cases = [
  { name: 'outage', input: { mail: 'The shop is down.' }, expected: true },
  { name: 'thanks', input: { mail: 'Thank you!' }, expected: false },
];

const evaluation = await evaluate(cases, {
  systems: { careful: sorter([true, false]), hasty: sorter([true, true]) },
  scorers: { correct: (isUrgent, { expected }) => isUrgent === expected },
});
console.log(evaluationText(evaluation));
console.log(evaluation.systems['hasty']?.scores['correct']); // 0.5
