import { expect, it } from 'vitest';
import { createMachine, fromPromise, raise } from 'xstate';
import { exploreModule } from '../../../src/cli/explore-module.ts';

const machine = createMachine({
  id: 'task',
  initial: 'open',
  states: {
    open: { entry: raise({ type: 'reminder' }, { delay: 9 }), on: { reminder: 'working' } },
    working: { invoke: { src: fromPromise(async () => 0), id: 'work', onDone: 'open', onError: 'open' } },
  },
});

it('lists what was assumed about actors and events', () => {
  expect(exploreModule({ machine, properties: [] }).assumed).toEqual([
    'done(undefined) and fails() as the outcomes of work; list the real ones in "outcomes"',
    'that only task itself sends reminder; if others do too, list all events in "events"',
  ]);
  const all = { outcomes: { work: [] }, events: [{ type: 'reminder' }] };
  expect(exploreModule({ machine, properties: [], ...all } as never).assumed).toEqual([]);
});
