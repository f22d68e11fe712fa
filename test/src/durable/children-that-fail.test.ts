import { expect, it } from 'vitest';
import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  createActor,
  createMachine,
  enqueueActions,
  fromCallback,
  fromPromise,
  fromTransition,
  sendTo,
  spawnChild,
} from 'xstate';
import { createDurableMachine } from '../../../src/durable/durable-machine.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { throwing } from '../../support/errors.ts';

const fail = throwing('this child cannot be created');
const base = createMachine({ id: 'child' });

/** Children that cannot be created or started, with options that all ways of starting one take. */
const children: Record<string, { readonly logic: unknown; readonly options?: object }> = {
  'a machine, with a systemId in use': { logic: base, options: { systemId: 'taken' } },
  'a promise, with a systemId in use': {
    logic: fromPromise(() => new Promise(() => {})),
    options: { systemId: 'taken' },
  },
  'a callback, with a systemId in use': { logic: fromCallback(() => {}), options: { systemId: 'taken' } },
  'a transition, with a systemId in use': {
    logic: fromTransition((state) => state, {}),
    options: { systemId: 'taken' },
  },
  'a machine whose context throws': { logic: createMachine({ context: fail }) },
  'a machine whose entry action throws': { logic: createMachine({ context: {}, entry: assign(fail) }) },
  'a machine that spawns two actors with one systemId in its context': {
    logic: createMachine({
      context: ({ spawn }) => ({ one: spawn(base, { systemId: 'own' }), other: spawn(base, { systemId: 'own' }) }),
    }),
  },
  'a transition whose initial state throws': { logic: fromTransition((state) => state, fail) },
  'a callback that throws': { logic: fromCallback(fail) },
  'a child whose input throws': { logic: base, options: { input: fail } },
  'an object that is not actor logic': { logic: {} },
};

const ways: Record<string, (logic: AnyActorLogic, options: object) => object> = {
  invoke: (src, options) => ({ invoke: { src, id: 'child', ...options } }),
  'invoke with onError': (src, options) => ({ invoke: { src, id: 'child', onError: 'caught', ...options } }),
  spawnChild: (src, options) => ({ entry: spawnChild(src, { id: 'child', ...options }) }),
  'spawn in assign': (src, options) => ({
    entry: assign({ child: ({ spawn }) => spawn(src, { id: 'child', ...options }) }),
  }),
  enqueueActions: (src, options) => ({
    entry: enqueueActions(({ enqueue }) => void enqueue.spawnChild(src, { id: 'child', ...options })),
  }),
};

function machineWith(failing: object): AnyStateMachine {
  return createMachine({
    id: 'parent',
    context: {},
    initial: 'idle',
    invoke: { src: base, id: 'first', systemId: 'taken' },
    states: { idle: { on: { go: 'failing' } }, failing: failing as { entry: [] }, caught: {} },
  });
}

const nested = (inner: AnyStateMachine): AnyStateMachine =>
  createMachine({
    id: 'outer',
    initial: 'run',
    states: {
      run: {
        invoke: { src: inner, id: 'inner', onError: 'handled' },
        on: { go: { actions: sendTo('inner', { type: 'go' }) } },
      },
      handled: {},
    },
  });

/** The status, the state and the error of a machine and of its children. */
function outlineOf({ status, value, error, children: below = {} }: AnyMachineSnapshot): object {
  const inner = Object.entries(below as Readonly<Record<string, AnyActorRef | undefined>>).map(([id, child]) => [
    id,
    child && outlineOf(child.getSnapshot()),
  ]);
  return { status, value, error: (error as Error | undefined)?.message, children: Object.fromEntries(inner) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function ofXState(machine: AnyStateMachine): Promise<object> {
  const actor = createActor(machine);
  actor.subscribe({ error: () => {} });
  actor.start();
  actor.send({ type: 'go' });
  await turn();
  return outlineOf(actor.getSnapshot());
}

const cases = Object.entries(children).flatMap(([child, { logic, options = {} }]) =>
  Object.entries(ways).flatMap(([way, failing]) => {
    const machine = machineWith(failing(logic as AnyActorLogic, options));
    return [[child, way, machine] as const, [child, `${way}, in a child machine`, nested(machine)] as const];
  }),
);

it.each(cases)('%s (%s): the actor ends as in XState, live, opened again and in a replay', async (_, __, machine) => {
  const expected = await ofXState(machine);
  const journals = memoryJournals();
  const host = () => createDurableMachine(machine, { journals, logger: () => {} });
  const actor = await host().open('a');
  await actor.send({ type: 'go' });
  await turn();
  expect(outlineOf(actor.getSnapshot())).toEqual(expected);
  await actor.close();
  const opened = await host().open('a');
  await turn();
  expect(outlineOf(opened.getSnapshot())).toEqual(expected);
  await opened.close();
  expect((await host().replay('a')).divergence).toBeNull();
});
