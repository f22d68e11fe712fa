import { expect } from 'vitest';
import { type AnyActorLogic, type AnyStateMachine, assign, createActor, setup, waitFor } from 'xstate';
import { budget } from '../../src/agents/budget.ts';
import { entriesOf } from '../../src/durable/journals/journal-store.ts';
import { createDurableMachine, memoryJournals } from '../../src/entries/durable.ts';

/** How a chart ended. */
export interface AgentEnd {
  readonly value: unknown;
  readonly output: unknown;
  /** The code of the error that the actor failed with. */
  readonly code: unknown;
  readonly message: string;
}

/** A chart that invokes one actor and ends in `done` or `failed`. With `limits`, its actor system has a budget. */
export const chartAround = (actor: AnyActorLogic, limits?: object): AnyStateMachine =>
  setup({
    types: { context: {} as { given: unknown; output: unknown; error: unknown }, input: {} as unknown },
    actors: { agent: actor, budget },
  }).createMachine({
    id: 'around',
    version: '1',
    context: ({ input }) => ({ given: input, output: null, error: null }),
    initial: 'working',
    ...(limits && { invoke: { src: 'budget' as const, systemId: 'budget', input: limits } }),
    states: {
      working: {
        invoke: {
          src: 'agent',
          input: ({ context }: { readonly context: { readonly given: unknown } }) => context.given,
          onDone: { target: 'done', actions: assign({ output: ({ event }) => event.output }) },
          onError: { target: 'failed', actions: assign({ error: ({ event }) => event.error }) },
        },
        on: { LEAVE: 'left' },
      },
      done: { type: 'final' },
      failed: { type: 'final' },
      left: { type: 'final' },
    },
  });

const endOf = ({ value, context }: { readonly value: unknown; readonly context: unknown }): AgentEnd => {
  const { output, error } = context as {
    readonly output: unknown;
    readonly error: { code?: unknown; message?: string } | null;
  };
  return { value, output, code: error?.code ?? null, message: error?.message ?? '' };
};

/** Runs a chart as a plain XState actor, and as a durable one whose journal must replay identically. Both must end alike. */
export async function endsOf(machineOf: () => AnyStateMachine, input?: unknown): Promise<AgentEnd> {
  const plain = createActor(machineOf(), { input });
  plain.start();
  const end = endOf(await waitFor(plain, ({ status }) => status !== 'active'));
  const journals = memoryJournals();
  const host = createDurableMachine(machineOf(), { journals, logger: () => {} });
  const actor = host.start('a', { input: input as never });
  await waitFor(actor.ref, ({ status }) => status !== 'active');
  await actor.park({ wait: true });
  expect(endOf(actor.ref.getSnapshot())).toEqual(end);
  expect((await host.replay('a')).divergence).toBeNull();
  expect((await entriesOf(journals.read('a'))).at(-1)).toMatchObject({ type: 'end' });
  return end;
}
