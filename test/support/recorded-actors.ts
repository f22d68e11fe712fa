import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import { approval, createDurableMachine, defineGuard, fileJournals } from '../../src/entries/durable.ts';
import { createAttempt } from '../../src/llm/attempts/create-attempt.ts';
import { scriptedChain } from './run-chain.ts';
import { chunkedReply, partModel } from './scripted-models.ts';

const DAY_MS = 86_400_000;

const courier = createMachine({
  id: 'courier',
  initial: 'driving',
  states: { driving: { on: { ARRIVED: 'there' } }, there: { type: 'final' } },
});

/** An order that can wait for events and a delay, make calls, ask for approval, run a child machine, and end in every way. */
export const order = setup({
  types: {
    input: {} as { amount: number },
    context: {} as { amount: number; receipt: string | null },
    events: {} as { type: 'approve' } | { type: 'reject' } | { type: 'ask' } | { type: 'deliver' } | { type: 'hang' },
  },
  actors: {
    approval,
    courier,
    pay: fromPromise<string, number>(async ({ input }) => {
      if (input === 13) throw new Error('card declined');
      return `receipt for ${input}`;
    }),
    hang: fromPromise(() => new Promise<never>(() => {})),
  },
  actions: { remind: () => {} },
  guards: {
    isAffordable: defineGuard(({ context }) => ({
      holds: context['amount'] <= 100,
      inputs: { amount: context['amount'], limit: 100 },
    })),
  },
  delays: { patience: DAY_MS },
}).createMachine({
  id: 'order',
  version: '1',
  context: ({ input }) => ({ amount: input.amount, receipt: null }),
  initial: 'waiting',
  states: {
    waiting: {
      on: {
        approve: { guard: 'isAffordable', target: 'paying', actions: 'remind' },
        reject: 'rejected',
        ask: 'asking',
        deliver: 'delivering',
        hang: 'hanging',
      },
      after: { patience: { target: 'waiting', reenter: true, actions: 'remind' } },
    },
    paying: {
      invoke: {
        src: 'pay',
        input: ({ context }) => context.amount,
        onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
      },
    },
    asking: { invoke: { src: 'approval', input: { question: 'A7' }, onDone: 'paid' } },
    delivering: { invoke: { src: 'courier', id: 'courier', onDone: 'paid' }, on: { reject: 'rejected' } },
    hanging: { invoke: { src: 'hang' } },
    paid: { type: 'final' },
    rejected: { type: 'final' },
  },
  output: ({ context }) => context.receipt,
});

export const ordersIn = (folder: string, clock?: object) =>
  createDurableMachine(order, {
    journals: fileJournals(folder),
    logger: () => {},
    ...(clock && { clock: clock as never }),
  });

/** A clock that is two days behind, and whose timers never fire. */
export const past = { now: () => Date.now() - 2 * DAY_MS, setTimeout: () => 0, clearTimeout: () => {} };

/** Stores seven actors of a machine, one in each status, and two runs of a chain. */
export async function storeActors(folder: string) {
  const orders = ordersIn(folder);
  const amount = { input: { amount: 40 } };

  await (await orders.open('o-waiting', amount)).close();
  const before = createDurableMachine(order, { journals: fileJournals(folder), clock: past as never });
  await (await before.open('o-due', amount)).close();
  const running = await ordersIn(folder).open('o-running', amount);
  onTestFinished(() => running.close());
  const interrupted = await orders.open('o-interrupted', amount);
  await interrupted.send({ type: 'hang' });
  await interrupted.close();
  const done = await orders.open('o-done', amount);
  await done.send({ type: 'approve' });
  await done.output;
  const failed = await orders.open('o-failed', { input: { amount: 13 } });
  await failed.send({ type: 'approve' });
  await failed.output.catch(() => {});
  const damaged = await orders.open('o-damaged', amount);
  await damaged.send({ type: 'deliver' });
  await damaged.send({ type: 'reject' });
  await damaged.close();
  damage(join(folder, 'o-damaged.jsonl'));

  const journals = fileJournals(folder);
  for (const runId of ['run-1', 'run-2'])
    await scriptedChain({}, { journals, newId: () => runId }).chain.run({ request: `Is it ${runId}?` }).answer;
  return { orders, journals, running };
}

/** A machine that checks two texts at the same time. The first reply to each prompt is invalid, and the second is corrected. */
export function checkingMachine() {
  const model = partModel(...['?', '?', true, true].map((ok) => chunkedReply({ ok })));
  const check = createAttempt({
    model,
    schema: z.object({ ok: z.boolean() }),
    name: 'check',
    system: 'You check texts.',
  });
  const checking = (text: string) =>
    ({
      initial: 'calling',
      states: {
        calling: { invoke: { src: 'check', input: () => check.input(text), onDone: 'checked' } },
        checked: { type: 'final' },
      },
    }) as const;
  return setup({ actors: { check: check.machine } }).createMachine({
    id: 'checker',
    initial: 'working',
    states: {
      working: { type: 'parallel', states: { a: checking('First text'), b: checking('Second text') }, onDone: 'done' },
      done: { type: 'final' },
    },
  });
}

/** Changes the second line of a journal file. */
function damage(file: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  lines[1] = (lines[1] ?? '').replace(/.(?="?,"sum")/u, (last) => (last === 'a' ? 'b' : 'a'));
  writeFileSync(file, lines.join('\n'));
}
