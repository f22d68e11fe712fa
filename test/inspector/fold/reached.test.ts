import { describe, expect, it } from 'vitest';
import { createMachine, fromPromise } from 'xstate';
import { marksAt } from '../../../inspector/fold/marks.ts';
import { reachedStates } from '../../../inspector/fold/reached.ts';
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

/** Why the innermost states are active after these events, by their paths. */
async function reachedAfter(events: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const journals = memoryJournals();
  const jobs = createDurableMachine(machine, { journals, logger: () => {} });
  const job = await jobs.open('j-1');
  for (const type of events) await job.send({ type });
  await job.park();
  const view = foldedActor(await entriesOf(journals.read('j-1')), jobs);
  return Object.fromEntries(
    reachedStates(view, 'job', view.log.count - 1).map(({ path, seq, because }) => [
      path,
      seq === null ? 'began' : (because.split(',')[0] ?? ''),
    ]),
  );
}

describe('why an actor is in its states', () => {
  it('names the last transition into each region', async () => {
    expect(await reachedAfter(['NEXT'])).toEqual({
      'work › left › two': 'entered from one on NEXT',
      'work › right › one': 'began',
    });
  });

  it('names the transition to a history, and the one that entered another region with its target', async () => {
    expect(await reachedAfter(['NEXT', 'STEP', 'PAUSE', 'RESUME'])).toEqual({
      'work › left › two': 'entered from held on RESUME',
      'work › right › two': 'entered from held on RESUME',
    });
    expect(await reachedAfter(['STEP', 'PAUSE', 'JUMP'])).toEqual({
      'work › left › two': 'entered from held on JUMP',
      'work › right › one': 'entered from held on JUMP',
    });
  });

  it('leaves out transitions within another region', async () => {
    expect(await reachedAfter(['STEP', 'BACK'])).toEqual({
      'work › left › one': 'entered from one on BACK',
      'work › right › two': 'entered from one on STEP',
    });
  });
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
