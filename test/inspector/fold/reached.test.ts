import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createMachine, fromPromise } from 'xstate';
import { marksAt } from '../../../inspector/fold/marks.ts';
import { reachedStates } from '../../../inspector/fold/reached.ts';
import { systemTrace } from '../../../inspector/fold/system-trace.ts';
import { systemWaits } from '../../../inspector/fold/system-waits.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { foldedActor } from '../../support/inspector/inspected-runs.ts';

const machine = createMachine({
  id: 'job',
  version: '1',
  initial: 'work',
  states: {
    work: {
      type: 'parallel',
      on: { PAUSE: 'held' },
      states: {
        left: {
          initial: 'one',
          states: { one: { on: { NEXT: 'two', BACK: 'past' } }, two: { id: 'second' }, past: { type: 'history' } },
        },
        right: { initial: 'one', states: { one: { on: { STEP: 'two' } }, two: {} } },
        past: { type: 'history', history: 'deep' },
      },
    },
    held: { on: { RESUME: 'work.past', JUMP: '#second' } },
  },
});

/** What the page shows of a job after these events. */
async function jobAfter(events: readonly string[], logic: AnyStateMachine = machine) {
  const journals = memoryJournals();
  const jobs = createDurableMachine(logic, { journals, logger: () => {} });
  const job = await jobs.open('j-1');
  for (const type of events) await job.send({ type });
  await job.park();
  return foldedActor(await entriesOf(journals.read('j-1')), jobs);
}

/** Why the innermost states are active after these events, by their paths. */
async function reachedAfter(events: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const view = await jobAfter(events);
  return Object.fromEntries(
    reachedStates(view, 'job', view.log.count - 1).map(({ path, seq, because }) => [
      path,
      seq === null ? 'began' : because,
    ]),
  );
}

describe('why an actor is in its states', () => {
  it('names the last transition into each region', async () => {
    expect(await reachedAfter(['NEXT'])).toEqual({
      'work › left › two': 'entered on NEXT, from one',
      'work › right › one': 'began',
    });
  });

  it('names the transition to a history, and the one that entered another region with its target', async () => {
    expect(await reachedAfter(['NEXT', 'STEP', 'PAUSE', 'RESUME'])).toEqual({
      'work › left › two': 'entered on RESUME, from held',
      'work › right › two': 'entered on RESUME, from held',
    });
    expect(await reachedAfter(['STEP', 'PAUSE', 'JUMP'])).toEqual({
      'work › left › two': 'entered on JUMP, from held',
      'work › right › one': 'entered on JUMP, from held',
    });
  });

  it('leaves out transitions within another region', async () => {
    expect(await reachedAfter(['STEP', 'BACK'])).toEqual({
      'work › left › one': 'entered on BACK, from one',
      'work › right › two': 'entered on STEP, from one',
    });
  });
});

it('names what a history state enters: the state that was left, or the one around several', async () => {
  const leadsTo = async (events: readonly string[], logic?: AnyStateMachine) => {
    const { fold, charts, log } = await jobAfter(events, logic);
    return systemWaits(fold, charts, log.count - 1)[0]?.leadsTo;
  };
  expect(await leadsTo(['NEXT', 'PAUSE'])).toEqual({ RESUME: 'work, as it was left', JUMP: 'left › two' });
  const on = {
    initial: 'idle',
    on: { STOP: 'off' },
    states: { idle: { on: { GO: 'driving' } }, driving: {}, back: { type: 'history' } },
  } as const;
  const van = createMachine({
    id: 'job',
    version: '1',
    initial: 'on',
    states: { on, off: { on: { START: 'on.back' } } },
  });
  expect(await leadsTo(['GO', 'STOP'], van)).toEqual({ START: 'driving, as it was left' });
  expect(await leadsTo(['STOP'], van)).toEqual({ START: 'idle, as it was left' });
  expect(await leadsTo(['GO', 'STOP', 'START', 'STOP'], van)).toEqual({ START: 'driving, as it was left' });
});

it('names the outer states of a move only once', async () => {
  const off = { on: { START: 'on' } };
  const on = { initial: 'idle', on: { STOP: 'off' }, states: { idle: { on: { DRIVE: 'moving' } }, moving: {} } };
  const region = { initial: 'off', states: { off, on } };
  const van = createMachine({ id: 'job', version: '1', type: 'parallel', states: { front: region, back: region } });
  const view = await jobAfter(['START', 'DRIVE', 'STOP'], van);
  const rows = systemTrace({ ...view, count: view.log.count, isOver: false });
  expect(rows.flatMap(({ moves = '' }) => (moves.includes('→') ? (moves.split('; ')[0] ?? '') : []))).toEqual([
    'front › off → on › idle',
    'front › on › idle → moving',
    'front › on › moving → off',
  ]);
});

it('marks a state as failed until it is entered again', async () => {
  const calling = { invoke: { src: fromPromise(() => Promise.reject(new Error('503'))), onError: 'waiting' } };
  const calls = createDurableMachine(
    createMachine({ id: 'sync', initial: 'calling', states: { calling, waiting: { on: { RETRY: 'calling' } } } }),
    { journals: memoryJournals(), logger: () => {} },
  );
  const call = await calls.open('c-1');
  const failed = () => {
    const { fold, charts, log } = foldedActor(call.entries, calls);
    return [...(marksAt(fold.transitions, charts, log.count - 1).failed['sync'] ?? [])];
  };
  await expect.poll(failed).toEqual(['sync.calling']);
  const retried = call.send({ type: 'RETRY' });
  expect(failed()).toEqual([]);
  await retried;
  await call.stop();
});
