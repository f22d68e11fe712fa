import { beforeAll, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { createActor, createMachine } from 'xstate6';
import { createDurableMachine } from '../../src/durable/durable-machine.ts';
import { fromDurable } from '../../src/durable/from-durable.ts';
import { entriesOf } from '../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../src/durable/journals/memory-journals.ts';
import { hostXState6 } from '../../src/entries/xstate6.ts';
import { fromEachKeyframe, runScenario } from '../support/durable-runs.ts';
import { withWriters } from '../support/journal-files.ts';
import { TestClock } from '../support/simulated-clock.ts';

beforeAll(() => hostXState6({ createActor }));

// biome-ignore lint/suspicious/noExplicitAny: XState 6 has no types for these arguments outside of a literal.
type Args = any;

const machineOf = (config: object) => createMachine(config as never) as unknown as AnyStateMachine;

const withInput = (version: string, name = 'b') =>
  machineOf({
    id: 'inputs',
    version,
    initial: 'a',
    context: { amount: 0 },
    states: {
      a: { on: { GO: { target: name, input: { amount: 3 } } } },
      [name]: { on: { READ: ({ input }: Args) => ({ context: input, target: 'c' }) } },
      c: {},
    },
  });

it('keyframes keep the inputs of states', async () => {
  const steps = [{ type: 'GO' }, { type: 'READ' }];
  const run = await runScenario({ machine: () => withInput('1'), steps, ends: 'c' }, { keyframes: true });
  const inputs = run.entries.flatMap((entry) => (entry.type === 'keyframe' ? [entry.state.snapshot.stateInputs] : []));
  expect(inputs).toContainEqual({ 'inputs.b': { amount: 3 } });
  for (const end of fromEachKeyframe(run)) expect(end).toEqual([null, '{"amount":3}']);
});

it('a migration keeps the input of a state, and refuses to rename it', async () => {
  const journals = memoryJournals();
  const clock = new TestClock();
  const one = createDurableMachine(withInput('1'), { journals, clock });
  const first = await one.open('a');
  await first.send({ type: 'GO' });
  await first.close();
  const logged: string[] = [];
  const openOn = (machine: AnyStateMachine, rule: object) =>
    createDurableMachine(machine, {
      journals,
      clock,
      versions: { 1: withInput('1') },
      migrate: { 1: rule },
      logger: (text) => void logged.push(String(text)),
    }).open('a');
  await (await openOn(withInput('2', 'renamed'), { state: { b: 'renamed' } })).close();
  expect(logged.join()).toContain('the state "inputs.b" has an input and cannot be renamed; keep its id');
  const moved = await openOn(withInput('2'), {});
  await moved.send({ type: 'READ' });
  expect(moved.entries.some(({ type }) => type === 'migrated')).toBe(true);
  expect(moved.getSnapshot().context).toEqual({ amount: 3 });
  await moved.close();
});

it('a child process that continues from a keyframe keeps its registry key', async () => {
  const journals = withWriters(memoryJournals(), (writer) => Object.assign(writer, { keyframeEvery: 1 }));
  const child = machineOf({ id: 'child', initial: 'a', states: { a: { on: { FINISH: 'b' } }, b: { type: 'final' } } });
  const children = createDurableMachine(child, { journals });
  const config = {
    initial: 'a',
    states: {
      a: {
        invoke: {
          id: 'kid',
          src: fromDurable(children),
          registryKey: 'kid',
          input: {},
          onDone: 'b',
        },
        on: {
          NEXT: {},
          TELL: ({ system }: Args, enqueue: Args) => enqueue.sendTo(system.get('kid'), { type: 'FINISH' }),
        },
      },
      b: { type: 'final' },
    },
  };
  const host = createDurableMachine(machineOf(config), { journals });
  const first = await host.open('a');
  await first.send({ type: 'NEXT' });
  await first.close();
  const actor = await host.open('a');
  await actor.send({ type: 'TELL' });
  await actor.park({ wait: true });
  await children.wake();
  await host.wake();
  expect(await host.query('a')).toMatchObject({ snapshot: { value: 'b' } });
  const entries = await entriesOf(journals.read('a'));
  expect(entries.find(({ type }) => type === 'keyframe')).toMatchObject({
    state: { children: { kid: { registryKey: 'kid' } } },
  });
  expect((await host.replay('a')).divergence).toBeNull();
});
