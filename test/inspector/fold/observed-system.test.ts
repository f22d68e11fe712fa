import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, createActor, createMachine, emit, sendTo } from 'xstate';
import { activeStatesAt } from '../../../inspector/fold/active-states.ts';
import { chartsOfActors } from '../../../inspector/fold/actor-charts.ts';
import { chartIndexOf } from '../../../inspector/fold/chart-index.ts';
import { marksAt, visitedStates } from '../../../inspector/fold/marks.ts';
import { stepTitle } from '../../../inspector/fold/step-title.ts';
import { systemTrace } from '../../../inspector/fold/system-trace.ts';
import { systemWaits } from '../../../inspector/fold/system-waits.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { observeForInspector } from '../../../src/inspection/systems/observe-for-inspector.ts';
import { observedSystem } from '../../../src/inspection/systems/system-log.ts';
import { activeNodes } from '../../../src/xstate/actors.ts';
import { playerMachine } from '../../support/example-machines.ts';
import { foldedSystem } from '../../support/inspector/inspected-runs.ts';

/** Runs a machine with these events. `active`: the innermost active states after each. */
async function observedRun(machine: AnyStateMachine, events: readonly string[]) {
  let system: ReturnType<typeof observedSystem> | undefined;
  const inspect = observeForInspector((message) => {
    system ??= observedSystem('p/x', message.system, () => {});
    system.take(message);
  });
  const actor = createActor(machine, { inspect });
  actor.subscribe({ error: () => {} });
  actor.start();
  const leaves = (): string[] => {
    const nodes = activeNodes(actor.getSnapshot());
    return nodes.filter((node) => nodes.every(({ parent }) => parent !== node)).map(({ id }) => id);
  };
  const active = events.map((type) => {
    actor.send({ type });
    return leaves();
  });
  await Promise.resolve();
  if (system === undefined) throw new Error('nothing was observed');
  const { follow, charts, close } = system;
  close();
  const all: string[] = [];
  const frames: string[] = [];
  await new Promise((end) => {
    const lines = async (read: readonly string[]): Promise<void> => void all.push(...read);
    const states = async (_: number, read: readonly string[]): Promise<void> => void frames.push(...read);
    follow(0, { lines, states, charts: () => {}, end });
  });
  const { log, fold } = foldedSystem(all, frames);
  expect(log.problem).toBeNull();
  const entries = all.map((_, seq): JournalEntry => log.entry(seq));
  const shown = chartsOfActors(charts(), fold.charts);
  const view = { run: { kind: 'system', live: false }, log, fold, charts: shown, end: {} } as const;
  const deliveries = entries.filter(({ type }) => type === 'delivery').map(({ seq }) => seq);
  return { entries, view, deliveries, active };
}

const isNever = (): boolean => false;

const counter = createMachine({
  context: { count: 0 },
  initial: 'on',
  states: {
    on: {
      on: {
        COUNT: {
          guard: function isFew({ context }) {
            return context.count < 1;
          },
          actions: assign({ count: ({ context }) => context.count + 1 }),
        },
        PING: { guard: () => true, actions: emit({ type: 'pong' }) },
        SELF: { guard: () => true, target: 'on', reenter: true },
        BREAK: {
          actions: () => {
            throw new Error('no wire');
          },
        },
      },
    },
  },
});

describe('an observed system', () => {
  it('has only those events among the ignored ones whose guards were false, or that have no transition', async () => {
    const { view } = await observedRun(counter, ['COUNT', 'PING', 'SELF', 'COUNT', 'OTHER']);
    expect(view.fold.actors[0]?.events.filter(({ ignored }) => ignored !== null)).toMatchObject([
      { type: 'COUNT', ignored: ['isFew'] },
      { type: 'OTHER', ignored: [] },
    ]);
  });

  it('reports that an actor failed while processing an event', async () => {
    const { view } = await observedRun(counter, ['BREAK']);
    expect(view.fold.actors[0]?.end).toMatchObject({ status: 'error', error: { message: 'no wire' } });
  });

  it('lists the events that a machine handles, its timers, and the states and actors whose end it waits for', async () => {
    const child = createMachine({ id: 'child', on: { CALL: { actions: () => {} } } });
    const machine = createMachine({
      id: 'm',
      initial: 'on',
      states: {
        on: {
          invoke: { id: 'helper', src: child, onDone: 'over' },
          after: { 60000: [{ guard: isNever, target: 'over' }, { target: 'on' }], pause: 'over' },
          on: { GO: 'over', FORBIDDEN: undefined, OUTER: undefined },
          onDone: 'over',
          initial: 'inner',
          states: { inner: {} },
        },
        over: {},
      },
      on: { OUTER: '.over', STOP: { actions: () => {} }, 'xstate.done.actor.search': '.over' },
    }).provide({ delays: { pause: 90_000 } });
    const { view, entries } = await observedRun(machine, []);
    const at = entries.length - 1;
    const [waits, helper, ...others] = systemWaits(view.fold, view.charts, at);
    expect(waits).toMatchObject({ machine: 'm', states: ['on › inner'], events: ['GO', 'STOP'] });
    expect(waits?.timers.map(({ delay }) => delay)).toEqual(['60000', 'pause']);
    expect(waits?.ends).toEqual(['on', 'search']);
    expect(helper).toMatchObject({ machine: 'child', events: ['CALL'] });
    expect(others).toEqual([]);
    const { view: left, entries: all } = await observedRun(machine, ['GO']);
    expect(systemWaits(left.fold, left.charts, all.length - 1)).toMatchObject([{ machine: 'm', states: ['over'] }]);
  });

  it('counts every transition of one event in parallel regions and events handled without moving, and has visited the states entered with others', async () => {
    const order = createMachine({
      id: 'order',
      initial: 'cart',
      states: {
        cart: { on: { ADDRESS: { actions: () => {} }, CHECKOUT: 'checkout' } },
        checkout: {
          type: 'parallel',
          states: {
            payment: { initial: 'entering', states: { entering: { on: { CONFIRM: 'paid' } }, paid: {} } },
            approval: { initial: 'asking', states: { asking: { on: { CONFIRM: 'given' } }, given: {} } },
          },
        },
      },
    });
    const { view, entries } = await observedRun(order, ['ADDRESS', 'ADDRESS', 'CHECKOUT', 'CONFIRM']);
    const [chart] = view.charts.charts;
    if (chart === undefined) throw new Error('no chart');
    const { taken, active } = marksAt(view.fold.transitions, view.charts, entries.length - 1);
    const times = chart.transitions.map(({ event }, index) => [event, taken['order']?.get(index)]);
    expect(times.sort()).toEqual([
      ['ADDRESS', 2],
      ['CHECKOUT', 1],
      ['CONFIRM', 1],
      ['CONFIRM', 1],
    ]);
    const visited = visitedStates(chart, taken['order'] ?? new Map(), active['order'] ?? new Set());
    expect(chart.states.filter(({ id }) => !visited.has(id)).map(({ name }) => name)).toEqual([]);
    const before = marksAt(view.fold.transitions, view.charts, 0);
    const first = visitedStates(chart, new Map(), before.active['order'] ?? new Set());
    expect([...first]).toEqual(['order', 'order.cart']);
  });

  it('names events, unnamed actors and awaited ends in its trace, without the events that the machine raises and ignores itself', async () => {
    const region = { initial: 'off', states: { off: { on: { GO: 'on' } }, on: { type: 'final' } } } as const;
    const other = { initial: 'off', states: { off: { on: { END: 'on' } }, on: { type: 'final' } } } as const;
    const child = createMachine({ entry: sendTo(({ self }) => self._parent as never, { type: 'GO' } as never) });
    const both = { type: 'parallel', states: { a: region, b: other }, onDone: 'over', invoke: { src: child } } as const;
    const machine = createMachine({ id: 'm', initial: 'both', states: { both, over: {} } });
    const { view, entries } = await observedRun(machine, ['NONE']);
    const run = { kind: 'system', live: false, status: 'running' } as const;
    const titles = entries.flatMap(({ type, seq: at }) => {
      const selection = { kind: 'entry', from: at, to: at } as const;
      const { name, status } = stepTitle({ ...view, run, at, selection });
      return type === 'ignored' ? [[name, status?.word]] : [];
    });
    expect(titles).toEqual([
      ['a reached its final state', undefined],
      ['NONE', 'ignored'],
    ]);
    const rows = systemTrace({
      log: view.log,
      fold: view.fold,
      charts: view.charts,
      count: entries.length,
      isOver: false,
    });
    const words = rows.map(({ title, moves, note, text }) => [title, moves, note, text].filter(Boolean).join(', '));
    expect(words).toEqual([
      'Started, in a › off, b › off',
      'both, machine',
      'GO, a › off → on, from both',
      'NONE, ignored: the current states have no transition for it',
      'Closed by its process',
    ]);
    // As if it had been observed after its start.
    const [chart] = view.charts.charts;
    const charts = {
      ...view.charts,
      charts:
        chart === undefined
          ? []
          : [
              {
                ...chart,
                states: chart.states.map((state) => (state.id === 'm' ? { ...state, initial: 'm.over' } : state)),
              },
            ],
    };
    const [late] = systemTrace({ log: view.log, fold: view.fold, charts, count: entries.length, isOver: false });
    expect(late?.moves).toBe('first recorded in a › off, b › off');
  });

  it('is always in its real states, also with history, regions and states with ids of their own', async () => {
    const events = fc.array(fc.constantFrom('PLAY', 'MUTE', 'PAUSE', 'STOP', 'LOAD', 'EJECT', 'button.eject', 'BACK'));
    const machine = playerMachine.provide({
      guards: { isOpen: () => true, isGood: () => true, isNight: () => false },
      actions: { beep: () => {}, log: () => {} },
      delays: { FADE: 60_000 },
    });
    await fc.assert(
      fc.asyncProperty(events, async (types) => {
        const { view, deliveries, active, entries } = await observedRun(machine, types);
        const ends = [...deliveries, entries.length].map((seq) => seq - 1).slice(1);
        const shown = ends.map((at) => activeStatesAt(view.fold.transitions, view.charts, at).leaf['player']);
        expect(shown.map((leaves) => leaves?.toSorted())).toEqual(active.map((leaves) => leaves.toSorted()));
        expect(chartIndexOf(view.charts).first?.id).toBe('player');
      }),
      { numRuns: 40 },
    );
  });
});
