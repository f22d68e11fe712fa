import { expect, it } from 'vitest';
import { type AnyMachineSnapshot, fromPromise, setup } from 'xstate';
import { approval } from '../../../../src/durable/approval.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, type Occurrence } from '../../../../src/testing/exploration/occurrences.ts';
import { neverAfter, neverBefore } from '../../../../src/testing/properties/event-order.ts';
import { describeFinding, findingsOf } from '../../../../src/testing/properties/properties.ts';

/** A machine that pays after an approval. `denied` and `paid` are where it goes then, and `skip` whether it can pay without asking. */
function payer({ denied = 'over', paid = 'over', skip = 'over' }) {
  return setup({
    actors: { approval, pay: fromPromise(async () => {}) },
    guards: { isApproved: (_, { decision }: { readonly decision: string }) => decision === 'approve' },
  }).createMachine({
    id: 'payer',
    initial: 'idle',
    states: {
      idle: { on: { ask: 'asking', skip } },
      asking: {
        invoke: {
          src: 'approval',
          input: { question: 40 },
          onDone: [
            { guard: { type: 'isApproved', params: ({ event }) => event.output }, target: 'paying' },
            { target: denied },
          ],
        },
      },
      again: { on: { repeat: 'paying', ask: 'asking' } },
      paying: { invoke: { src: 'pay', onDone: paid } },
      over: { type: 'final' },
    },
  });
}

const paying = (snapshot: AnyMachineSnapshot): boolean => snapshot.matches('paying');
const approved = ({ name }: Occurrence): boolean => name === 'approval: approved';
const denied = ({ name }: Occurrence): boolean => name === 'approval: denied';

const found = (options: Parameters<typeof payer>[0]): readonly string[] =>
  findingsOf(explore(payer(options), { outcomes: { pay: [done()] } }), [
    neverBefore('paid before an approval', paying, approved),
    neverAfter('paid after a denial', paying, denied),
  ]).map(describeFinding);

const HOLDS = ['holds: never paid before an approval', 'holds: never paid after a denial'];

it('neverBefore and neverAfter hold if each path keeps the order', () => {
  expect(found({})).toEqual(HOLDS);
});

it('neverBefore shows the shortest path without the event', () => {
  expect(found({ skip: 'paying' })).toEqual([
    'FAILS: never paid before an approval: reached in "paying", after start → skip',
    HOLDS[1],
  ]);
});

it('neverBefore requires another event each time', () => {
  expect(found({ paid: 'idle' })).toEqual(HOLDS);
  expect(found({ paid: 'again' })[0]).toBe(
    'FAILS: never paid before an approval: reached in "paying", after start → ask → approval: approved → pay: done → repeat',
  );
});

it('neverAfter shows the shortest path with the event, however long ago it occurred', () => {
  expect(found({ denied: 'idle' })).toEqual([
    HOLDS[0],
    'FAILS: never paid after a denial: reached in "paying", after start → ask → approval: denied → ask → approval: approved',
  ]);
});
