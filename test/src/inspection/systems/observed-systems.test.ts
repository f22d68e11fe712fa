import { describe, expect, it, onTestFinished } from 'vitest';
import { assign, createActor, createMachine, emit, fromPromise, setup } from 'xstate';
import { chartsOfActors } from '../../../../inspector/fold/actor-charts.ts';
import type { ActorEntry } from '../../../../inspector/fold/actor-entries.ts';
import { systemWaits } from '../../../../inspector/fold/system-waits.ts';
import { chartOf } from '../../../../src/durable/charts/chart.ts';
import { createDurableMachine, memoryJournals } from '../../../../src/entries/durable.ts';
import type { InspectionServer } from '../../../../src/inspection/inspection-server.ts';
import { type InspectTo, inspectTo } from '../../../../src/inspection/systems/inspect-to.ts';
import { type Inspect, observeForInspector } from '../../../../src/inspection/systems/observe-for-inspector.ts';
import { activeNodes } from '../../../../src/xstate/actors.ts';
import { playerMachine } from '../../../support/example-machines.ts';
import { openPage, startInspector, type TestPage } from '../../../support/inspection-server.ts';
import { foldedSystem } from '../../../support/inspector/inspected-runs.ts';

/** The two ways to show actors. */
const ways = {
  'of this process': (server: InspectionServer): Inspect => server.inspect,
  'of another process': (server: InspectionServer): Inspect => connected(server),
};

function connected({ inspectUrl }: InspectionServer): InspectTo {
  const inspect = inspectTo(inspectUrl);
  onTestFinished(inspect.close);
  return inspect;
}

type Entry<Type> = Extract<ActorEntry, { type: Type }>;

/** Returns what a page shows of a system so far. */
function systemOf(page: TestPage, runId: string) {
  const { log, fold } = foldedSystem(page.lines(runId), page.frames(runId));
  const entries = Array.from({ length: log.count }, (_, seq) => log.entry(seq) as unknown as ActorEntry);
  const of = <Type extends ActorEntry['type']>(type: Type) =>
    entries.filter((entry): entry is Entry<Type> => entry.type === type);
  const known = page.all('charts').findLast((one) => one.runId === runId) ?? { charts: [], invoked: {} };
  return { fold, entries, of, charts: chartsOfActors(known, fold.charts) };
}

/** Returns everything that a page gets of the system with this title, after its end. */
async function shown(server: InspectionServer, title: string) {
  const page = await openPage(server.url);
  const { runs } = await page.runs((list) => list.runs.some((run) => run.title === title && !run.live));
  const run = runs.find((one) => one.title === title);
  if (run === undefined) throw new Error('it is listed');
  page.say({ type: 'open', runId: run.runId, from: 0 });
  await page.end(run.runId);
  return { run, ...systemOf(page, run.runId) };
}

describe.each(Object.entries(ways))('a system of actors %s', (_, way) => {
  it('is shown with transitions that change no state, and with the results of their guards', async () => {
    const server = await startInspector();
    const machine = createMachine({
      id: 'counter',
      context: { count: 0 },
      initial: 'on',
      states: {
        on: {
          on: {
            COUNT: {
              guard: ({ context }) => context.count < 2,
              actions: assign({ count: ({ context }) => context.count + 1 }),
            },
            PING: { guard: () => true, actions: emit({ type: 'pong' }) },
            SELF: { guard: () => true, target: 'on', reenter: true },
          },
        },
      },
    });
    const actor = createActor(machine, { inspect: way(server) }).start();
    for (const type of ['COUNT', 'PING', 'SELF', 'COUNT', 'COUNT', 'OTHER']) actor.send({ type });
    actor.stop();
    const { entries, fold, of, run, charts } = await shown(server, 'counter');
    expect(of('transition').map(({ event, target, candidates }) => [event, target, candidates])).toEqual(
      ['COUNT', 'PING', 'SELF', 'COUNT'].map((event) => {
        const target = event === 'SELF' ? ['counter.on'] : [];
        return [event, target, [{ guard: 'inline', target, result: 'taken', inputs: null }]];
      }),
    );
    expect(fold.transitions.positionsOf('counter').every(({ targets }) => targets.join() === 'counter.on')).toBe(true);
    expect(of('ignored').map(({ event, candidates }) => [event, ...candidates.map(({ guard }) => guard)])).toEqual([
      ['COUNT', 'inline'],
      ['OTHER'],
    ]);
    expect(fold.actors[0]?.notes.map(({ title }) => title)).toEqual(['Emitted pong', 'Stopped']);
    const counts = entries.map(({ seq }) => Object(fold.states.at(seq))['']?.context.count);
    expect([...new Set(counts)]).toEqual([0, 1, 2]);
    expect(of('end')).toMatchObject([{ status: 'stopped' }]);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
    expect(run).toMatchObject({ kind: 'system', status: 'cancelled', fidelity: [] });
    expect(charts?.charts).toEqual([chartOf(machine)]);
  });

  it('is shown in every state that it visits, in all regions', async () => {
    const server = await startInspector();
    const machine = playerMachine.provide({
      guards: { isOpen: () => true, isGood: () => false, isNight: () => false },
      actions: { beep: () => {}, log: () => {} },
      delays: { FADE: 60_000 },
    });
    const actor = createActor(machine, { inspect: way(server) }).start();
    const visited = new Set<string>();
    const visit = (): void => {
      const nodes = activeNodes(actor.getSnapshot());
      const ids = nodes.filter((node) => nodes.every(({ parent }) => parent !== node)).map(({ id }) => id);
      visited.add(ids.sort().join(' '));
    };
    visit();
    for (const type of ['PLAY', 'MUTE', 'PAUSE', 'PLAY', 'button.eject', 'STOP', 'LOAD']) {
      actor.send({ type } as never);
      visit();
    }
    actor.stop();
    const { fold, of } = await shown(server, 'player');
    const shownStates = fold.transitions.positionsOf('player').map(({ targets }) => targets.toSorted().join(' '));
    expect(shownStates).toEqual(expect.arrayContaining([...visited]));
    expect(visited.size).toBeGreaterThan(5);
    expect(of('transition').find(({ event }) => event === 'LOAD')?.candidates).toEqual([
      { guard: 'isGood', target: expect.anything(), result: 'false', inputs: null },
      { guard: null, target: expect.anything(), result: 'taken', inputs: null },
    ]);
  });

  it('is shown with the events that a durable actor receives after its start', async () => {
    const server = await startInspector();
    const states = { shut: { on: { OPEN: 'open' } }, open: { type: 'final' } } as const;
    const door = createMachine({ id: 'door', version: '1', initial: 'shut', states });
    const actor = await createDurableMachine(door, { journals: memoryJournals() }).open('d-1');
    actor.ref.system.inspect(way(server));
    await actor.send({ type: 'OPEN' });
    const { of } = await shown(server, 'd-1');
    expect(of('delivery').map((entry) => [entry.actor, entry.event.type])).toEqual([['', 'OPEN']]);
  });

  it('is a row at once if it is already running, with its children and pending timers', async () => {
    const server = await startInspector();
    const inner = createMachine({ id: 'inner', initial: 'idle', states: { idle: {} } });
    const outer = setup({ actors: { inner }, delays: { patience: 86_400_000 } }).createMachine({
      id: 'outer',
      version: '1',
      invoke: { src: 'inner', id: 'kid' },
      initial: 'waiting',
      context: { count: 7 },
      states: { waiting: { after: { patience: 'over' } }, over: {} },
    });
    const before = Date.now();
    const plain = createActor(outer).start();
    onTestFinished(() => void plain.stop());
    way(server).watch(plain.getSnapshot().children['kid'] ?? plain);
    const durable = await createDurableMachine(outer, { journals: memoryJournals() }).open('d-1');
    onTestFinished(() => durable.close());
    way(server).watch(durable);
    const page = await openPage(server.url);
    const { runs } = await page.runs((list) => list.runs.length === 2);
    expect(runs.map(({ title, status, isIdle }) => [title, status, isIdle]).toSorted()).toEqual([
      ['d-1', 'running', true],
      ['outer', 'running', true],
    ]);
    for (const { runId, startedAt } of runs) {
      page.say({ type: 'open', runId, from: 0 });
      await expect.poll(() => systemOf(page, runId).fold.actors.map(({ path }) => path)).toContain('/kid');
      const { fold, charts, entries, of } = systemOf(page, runId);
      const [timer] = of('timer-start');
      expect(timer?.event).toBe('xstate.after.patience.outer.waiting');
      const dueMs = Date.parse(startedAt) + (timer?.dueMs ?? 0);
      expect(dueMs).toBeGreaterThanOrEqual(before + 86_400_000);
      expect(dueMs).toBeLessThanOrEqual(Date.now() + 86_400_000);
      const [{ timers = [] } = {}] = systemWaits(fold, charts, entries.length);
      expect(timers).toEqual([{ delay: 'patience', leadsTo: 'over', dueMs: timer?.dueMs }]);
    }
  });

  it('is idle while only machines run', async () => {
    const server = await startInspector();
    const page = await openPage(server.url);
    let end = (): void => {};
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    const machine = setup({ actors: { work: fromPromise(() => work) } }).createMachine({
      id: 'worker',
      initial: 'ready',
      states: { ready: { on: { START: 'busy' } }, busy: { invoke: { src: 'work', onDone: 'ready' } } },
    });
    const actor = createActor(machine, { inspect: way(server) }).start();
    const isIdle = (value: boolean | undefined) =>
      page.runs(({ runs }) => runs.some((run) => run.title === 'worker' && run.isIdle === value));
    await isIdle(true);
    actor.send({ type: 'START' });
    await isIdle(undefined);
    end();
    await isIdle(true);
    actor.stop();
    await isIdle(undefined);
  });

  it('is shown with children, senders, results, errors, and one chart for each running machine', async () => {
    const server = await startInspector();
    const child = createMachine({
      id: 'child',
      context: ({ input }) => ({ n: input as number }),
      initial: 'a',
      states: { a: { on: { END: 'b' } }, b: { type: 'final' } },
    });
    const machine = setup({
      actors: {
        child,
        fail: fromPromise(async () => {
          throw new RangeError('too far');
        }),
      },
    }).createMachine({
      id: 'parent',
      context: ({ spawn }) => ({ second: spawn('child', { id: 'second', input: 2 }) }),
      initial: 'a',
      states: {
        a: {
          invoke: { src: 'child', id: 'first', input: 1, onDone: 'b' },
          on: {
            END: {
              actions: ({ self }) => self.getSnapshot().children['first']?.send({ type: 'END' }),
            },
          },
        },
        b: { invoke: { src: 'fail', id: 'fail' } },
      },
    });
    const actor = createActor(machine, { inspect: way(server) });
    actor.subscribe({ error: () => {} });
    actor.start().send({ type: 'END' });
    const { of, fold, charts, run } = await shown(server, 'parent');
    expect(charts.charts.map(({ id }) => id).sort()).toEqual(['child', 'child /second', 'parent']);
    expect(charts.invoked).toEqual({ child: expect.stringContaining('child') });
    expect(of('delivery').map(({ actor, event, sender }) => [actor, event.type, sender])).toEqual([
      ['', 'END', null],
      ['/first', 'END', null],
      ['', 'xstate.done.actor.first', '/first'],
      ['', 'xstate.error.actor.fail', '/fail'],
    ]);
    expect(fold.actors.map(({ path, end }) => [path, end?.status, end?.error])).toEqual([
      ['', 'error', { name: 'RangeError', message: 'too far' }],
      ['/second', 'stopped', undefined],
      ['/first', 'done', undefined],
      ['/fail', 'error', { name: 'RangeError', message: 'too far' }],
    ]);
    expect(run.status).toBe('degraded');
    expect(fold.states.at(1)).toMatchObject({
      '/first': { context: { n: 1 } },
      '/second': { context: { n: 2 } },
      '': { context: { second: { id: 'second' } } },
    });
  });

  it('has a new log for every root actor, and keeps a limited number of ended ones', async () => {
    const server = await startInspector();
    const inspect = way(server);
    const machine = createMachine({ id: 'm', initial: 'a', states: { a: { type: 'final' } } });
    for (let number = 0; number < 60; number += 1) createActor(machine, { id: `m${number}`, inspect }).start();
    const { of } = await shown(server, 'm59');
    expect(of('end')).toHaveLength(1);
    const { runs } = await (await openPage(server.url)).runs();
    expect(runs).toHaveLength(32);
  });
});

/** Collects the warnings of this process. */
function watchWarnings(): readonly Error[] {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  return warnings;
}

describe('a failing inspector', () => {
  it('does not stop the actors: it warns once and observes nothing more', async () => {
    const warnings = watchWarnings();
    let calls = 0;
    const inspect = observeForInspector(() => {
      calls += 1;
      throw new Error('full');
    });
    const actor = createActor(createMachine({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } }), { inspect });
    actor.start().send({ type: 'GO' });
    expect(actor.getSnapshot().value).toBe('b');
    await expect.poll(() => warnings.map(({ message }) => message)).toEqual([expect.stringContaining('full')]);
    expect(calls).toBe(1);
  });
});

describe('inspectTo', () => {
  it('ends the systems of a program that disconnects', async () => {
    const server = await startInspector();
    const inspect = connected(server);
    const actor = createActor(createMachine({ id: 'm', on: { GO: {} } }), { inspect }).start();
    const page = await openPage(server.url);
    await page.runs((list) => list.runs.some(({ live }) => live));
    inspect.close();
    actor.send({ type: 'GO' });
    await page.runs((list) => list.runs.some(({ status }) => status === 'disconnected'));
  });

  it('warns once without the token if there is no inspector, and the actors continue', async () => {
    const warnings = watchWarnings();
    const actor = createActor(createMachine({ on: { GO: {} } }), {
      inspect: inspectTo('ws://127.0.0.1:1/secret/systems'),
    });
    actor.start();
    await expect.poll(() => warnings.length).toBe(1);
    expect(warnings[0]?.message).toContain('Cannot show the actors in the inspector at 127.0.0.1:1: ');
    expect(warnings[0]?.message).not.toContain('secret');
    actor.send({ type: 'GO' });
    expect(actor.getSnapshot().status).toBe('active');
  });
});
