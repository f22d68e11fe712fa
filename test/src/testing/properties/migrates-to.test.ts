import { expect, it } from 'vitest';
import { createMachine, fromPromise, setup } from 'xstate';
import { approval } from '../../../../src/durable/approval.ts';
import type { Migration } from '../../../../src/durable/migrate.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done } from '../../../../src/testing/exploration/occurrences.ts';
import { migratesTo } from '../../../../src/testing/properties/migrates-to.ts';
import { describeFinding, findingsOf } from '../../../../src/testing/properties/properties.ts';

const older = setup({
  types: { context: {} as { readonly cents: number } },
  actors: { approval, pay: fromPromise(async () => 'paid') },
}).createMachine({
  id: 'order',
  version: '1',
  context: { cents: 1200 },
  initial: 'waiting',
  states: {
    waiting: { on: { ASK: 'asking' }, after: { 1000: 'late' } },
    asking: { invoke: { src: 'approval', input: { question: 'pay?' }, onDone: 'paying' } },
    paying: { invoke: { src: 'pay', onDone: 'paid' } },
    late: { on: { ASK: 'asking' } },
    paid: { type: 'final' },
  },
});

const newer = createMachine({
  id: 'order',
  version: '2',
  context: { euros: 12 },
  initial: 'open',
  states: { open: { on: { PAY: 'paid' } }, paid: { type: 'final' }, unused: {} },
});

const exploration = explore(older, { outcomes: { pay: [done('paid')] } });

const found = (migration: Migration, holds?: Parameters<typeof migratesTo>[2]): string =>
  findingsOf(exploration, [migratesTo(explore(newer), migration, holds)])
    .map(describeFinding)
    .join();

const state = { waiting: 'open', asking: 'open', late: 'open' };
const context = ({ cents }: { readonly cents: number }) => ({ euros: cents / 100 });

it('holds if each state in which an actor only waits moves to another; a state with a call need not', () => {
  expect(found({ state, context })).toBe('holds: each state at rest migrates to version "2"');
  expect(found({ state, context }, (moved) => moved.context.euros === 12)).toMatch(/^holds/u);
});

it.each<[string, Migration, RegExp]>([
  [
    'does not exist in the current version',
    { state: { waiting: 'open', asking: 'open' }, context },
    /"late" cannot be migrated: state "late" maps to "late", which does not exist in version "2"; map it to another state, after /u,
  ],
  [
    'waits for an approval',
    { state: { waiting: 'open', late: 'open' }, context },
    /"asking" cannot be migrated: state "asking"/u,
  ],
  [
    'moves to a state that the current version never reaches',
    { state: { ...state, late: 'unused' }, context },
    /"late" leads to "unused", which the current version never reaches/u,
  ],
  [
    'has a context that cannot be moved',
    {
      state,
      context: () => {
        throw new Error('no price');
      },
    },
    /"waiting" cannot be migrated: no price/u,
  ],
])('names a state, with the shortest path to it, that %s', (_, migration, text) => {
  expect(found(migration)).toMatch(text);
});

it('names a state in which the condition does not hold', () => {
  expect(found({ state }, (moved) => moved.context.euros === 12)).toMatch(
    /"waiting" leads to "open", in which the condition does not hold/u,
  );
});
