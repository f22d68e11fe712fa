import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { createMachine as createMachine5, fromPromise } from 'xstate';
import { createActor, createAsyncLogic, createMachine } from 'xstate6';
import { chartOf } from '../../src/durable/charts/chart.ts';
import { checkDeploy } from '../../src/durable/check-deploy.ts';
import { createDurableMachine } from '../../src/durable/durable-machine.ts';
import { memoryJournals } from '../../src/durable/journals/memory-journals.ts';
import { hostXState6 } from '../../src/entries/xstate6.ts';
import { setXState6Port } from '../../src/xstate/ports.ts';
import { TestClock } from '../support/simulated-clock.ts';

const quiet = { logger: () => {} };

const six = (config: object): AnyStateMachine => createMachine(config as never) as unknown as AnyStateMachine;

const waiting = () => six({ id: 'order', initial: 'open', states: { open: { after: { 60000: 'late' } }, late: {} } });

it('refuses a machine of XState 6 until hostXState6 is called', () => {
  setXState6Port(null);
  expect(() => createDurableMachine(waiting(), { journals: memoryJournals() })).toThrow(
    'machine "order": expected an XState 5 machine; received an XState 6 machine. Call hostXState6() of postchain/xstate6 first.',
  );
  hostXState6({ createActor });
  expect(() => createDurableMachine(waiting(), { journals: memoryJournals() })).not.toThrow();
});

describe('a durable machine of XState 6', () => {
  beforeAll(() => hostXState6({ createActor }));

  it('continues in another process when its delay is due', async () => {
    const [journals, clock] = [memoryJournals(), new TestClock()];
    await (await createDurableMachine(waiting(), { journals, clock, ...quiet }).open('o-1')).park({ wait: true });
    clock.increment(60_000);
    const later = createDurableMachine(waiting(), { journals, clock, ...quiet });
    expect(await later.wake()).toEqual(['o-1']);
    expect((await later.query('o-1')).snapshot.value).toBe('late');
  });

  it('is refused if it names an implementation that it lacks', () => {
    const machine = six({ id: 'm', invoke: { src: 'unknown' } });
    expect(() => createDurableMachine(machine, { journals: memoryJournals() })).toThrow(
      'actor "unknown" is not provided',
    );
  });

  it('executes a custom action once, also if it is replayed', async () => {
    const mail = vi.fn();
    const machine = six({ id: 'm', on: { go: (_: object, enqueue: (act: () => void) => void) => enqueue(mail) } });
    const host = createDurableMachine(machine, { journals: memoryJournals(), ...quiet });
    const actor = await host.open('a');
    await actor.send({ type: 'go' });
    await actor.park({ wait: true });
    expect((await host.replay('a')).divergence).toBeNull();
    expect(mail).toHaveBeenCalledTimes(1);
  });

  it('continues an actor that an equal machine of XState 5 has started', async () => {
    const journals = memoryJournals();
    const states = { a: { on: { go: 'b' } }, b: { on: { go: 'c' } }, c: { type: 'final' } };
    const five = createMachine5({ id: 'm', initial: 'a', states } as never);
    const actor = await createDurableMachine(five, { journals, ...quiet }).open('a');
    await actor.send({ type: 'go' });
    await actor.park({ wait: true });
    const host = createDurableMachine(six({ id: 'm', initial: 'a', states }), { journals, ...quiet });
    await host.send('a', { type: 'go' });
    expect((await host.query('a')).snapshot.status).toBe('done');
  });

  it('takes over actors of a machine of XState 5 with migrate, and starts their calls and delays', async () => {
    const [journals, clock] = [memoryJournals(), new TestClock()];
    const pay = fromPromise(() => new Promise(() => {}));
    const before = createMachine5({
      id: 'order',
      version: '1',
      context: { paid: 1 },
      initial: 'open',
      states: { open: { on: { pay: 'paying' } }, paying: { invoke: { id: 'pay', src: pay } } },
    } as never);
    await (await createDurableMachine(before, { journals, clock, ...quiet }).open('a')).park({ wait: true });
    const calls: unknown[] = [];
    const ask = createAsyncLogic({
      run: async ({ input }: { input: unknown }) => {
        calls.push(input);
      },
    } as never);
    const after = six({
      id: 'order',
      version: '2',
      context: { paid: 0 },
      initial: 'open',
      states: {
        open: {
          entry: () => {
            throw new Error('must not be entered again');
          },
          invoke: { id: 'ask', src: ask, input: ({ context }: { context: { paid: number } }) => context.paid },
          after: { patience: 'late' },
        },
        late: { type: 'final' },
      },
      delays: { patience: ({ context }: { context: { paid: number } }) => context.paid * 5_000 },
    });
    const options = { journals, clock, versions: { '1': before }, migrate: { '1': {} }, ...quiet };
    const host = createDurableMachine(after, options as never);
    expect((await checkDeploy(host)).map(({ problem }) => problem)).toEqual([null]);
    const actor = await host.open('a');
    await vi.waitFor(() => expect(calls).toEqual([1]));
    expect(actor.getSnapshot().value).toBe('open');
    await actor.park({ wait: true });
    clock.increment(5_000);
    await host.wake();
    expect((await host.query('a')).snapshot.value).toBe('late');
    expect((await host.replay('a')).divergence).toBeNull();
  });

  it('has a chart', () => {
    expect(chartOf(waiting()).transitions.map(({ event }) => event)).toEqual(['after 60000']);
  });
});
