import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, createMachine, fromPromise, setup, spawnChild, stopChild } from 'xstate';
import type { ActorEntry } from '../../../../inspector/fold/actor-entries.ts';
import { replyAt } from '../../../../inspector/fold/output.ts';
import type { RunFold } from '../../../../inspector/fold/run-fold.ts';
import { actorText, stateOf, statusWords } from '../../../../inspector/fold/run-list.ts';
import { promptSeq, stepCalls } from '../../../../inspector/fold/step.ts';
import { systemTrace } from '../../../../inspector/fold/system-trace.ts';
import { type DurableEntry, isExternal } from '../../../../src/durable/entries.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, fileJournals, memoryJournals } from '../../../../src/entries/durable.ts';
import { actorPage } from '../../../../src/inspection/systems/export-actor.ts';
import { leavesOf } from '../../../../src/inspection/systems/observe-for-inspector.ts';
import { actorStates, type ReplayHost } from '../../../../src/inspection/systems/recorded-states.ts';
import { plainJson } from '../../../../src/internal/plain-json.ts';
import { activeNodes } from '../../../../src/xstate/actors.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { scenarios } from '../../../support/durable-machines.ts';
import { runScenario } from '../../../support/durable-runs.ts';
import { openPage, startInspector, type TestPage } from '../../../support/inspection-server.ts';
import { foldedSystem } from '../../../support/inspector/inspected-runs.ts';
import { checkingMachine, order, ordersIn, past, storeActors } from '../../../support/recorded-actors.ts';

/** Opens an actor and returns what its page shows, once an entry has this type. */
async function opened(page: TestPage, runId: string, type: ActorEntry['type']) {
  page.say({ type: 'open', runId, from: 0 });
  const shown = () => foldedSystem(page.lines(runId), page.frames(runId));
  const entries = () =>
    Array.from({ length: shown().log.count }, (_, seq) => shown().log.entry(seq) as never as ActorEntry);
  await expect.poll(() => entries().some((entry) => entry.type === type)).toBe(true);
  const of = <Type extends ActorEntry['type']>(type: Type) =>
    entries().filter((entry): entry is Extract<ActorEntry, { type: Type }> => entry.type === type);
  const charts = () => page.all('charts').findLast((charts) => charts.runId === runId);
  return { entries, of, charts, fold: () => shown().fold };
}

const endsOf = ({ actors }: Pick<RunFold, 'actors'>) => actors.map(({ path, end }) => [path, end?.status]);

it('an actor whose start time was redacted is shown without it', async () => {
  const journals = memoryJournals({ redact: (text) => text.replaceAll(/\d/gu, '#') });
  await createDurableMachine(createMachine({ id: 'door' }), { journals }).open('d');
  const [head] = await actorPage('d', await entriesOf(journals.read('d')), []);
  expect(head).toMatchObject({ run: { startedAt: '' } });
});

describe('durable actors beside runs in one store', () => {
  it('are rows with their status and what they wait for, and the runs stay', async () => {
    const { journals } = await storeActors(temporaryFolder());
    const page = await openPage((await startInspector({ journals })).url);
    page.say({ type: 'open', runId: 'o-damaged', from: 0 });
    await page.end('o-damaged');
    const { runs } = await page.runs((list) => list.runs.some(({ problem }) => problem !== undefined));
    const rows = runs.map((run) => [run.runId, stateOf(run), statusWords(run).tone, actorText(run)]);
    const waits = 'waits for approve, reject, ask, deliver, hang · actor of order';
    expect(rows.toSorted()).toEqual([
      ['o-damaged', 'damaged', 'bad', 'actor of order'],
      ['o-done', 'completed', 'ok', 'actor of order'],
      ['o-due', 'waiting', 'plain', waits],
      ['o-failed', 'failed', 'bad', 'actor of order'],
      ['o-interrupted', 'interrupted', 'warn', 'actor of order'],
      ['o-running', 'running', 'plain', 'actor of order'],
      ['o-waiting', 'waiting', 'plain', waits],
      ['run-1', 'completed', 'ok', ''],
      ['run-2', 'completed', 'ok', ''],
    ]);
    expect(runs.find(({ runId }) => runId === 'o-failed')?.ending?.failure).toBe('o-failed failed: card declined');
    expect(runs.find(({ runId }) => runId === 'o-done')?.ending?.states).toBe('paid');
  });

  it.each([true, false])('have pages with everything in their journals (with their machine: %s)', async (isKnown) => {
    const folder = temporaryFolder();
    const { orders, journals } = await storeActors(folder);
    const server = await startInspector({ journals, hosts: isKnown ? [orders] : [] });
    const page = await openPage(server.url);
    const { of, charts, fold } = await opened(page, 'o-done', 'end');
    await page.end('o-done');
    const journal = await entriesOf(fileJournals(folder).read('o-done'));
    const recorded = <Type extends DurableEntry['type']>(type: Type) =>
      journal.filter((entry): entry is Extract<DurableEntry, { type: Type }> => entry.type === type);
    const moves = of('transition');
    expect(moves.map(({ event, source, target, candidates }) => ({ event, source, target, candidates }))).toEqual(
      recorded('transition').map(({ event, source, target, candidates }) => ({ event, source, target, candidates })),
    );
    expect(moves[0]?.candidates[0]?.inputs).toEqual({ amount: 40, limit: 100 });
    expect(of('timer-start').map(({ event }) => event)).toEqual(recorded('timer-start').map(({ event }) => event));
    const [timer] = of('timer-start');
    expect(timer?.dueMs).toBe(recorded('timer-start')[0]?.dueMs);
    const [root] = fold().actors;
    expect(root?.notes.map(({ title }) => title)).toEqual(['Started', 'Effect remind', 'Completed']);
    expect(of('delivery').map(({ event, sender }) => [event.type, sender])).toEqual([
      ['approve', null],
      ['xstate.done.actor.0.order.paying', '/0.order.paying'],
    ]);
    expect(root?.end).toMatchObject({ status: 'done', output: 'receipt for 40' });
    const { runs } = await page.runs();
    const fidelity = runs.find(({ runId }) => runId === 'o-done')?.fidelity;
    expect(charts()?.charts.map(({ id }) => id)).toEqual(isKnown ? ['order'] : []);
    const places = fold()
      .transitions.positionsOf('order')
      .map(({ targets }) => targets.join());
    expect(places).toEqual([...(isKnown ? ['order.waiting'] : []), 'order.paying', 'order.paid']);
    const state = Object(fold().states.at(journal.length));
    expect(state[''] ?? null).toEqual(
      isKnown ? expect.objectContaining({ context: { amount: 40, receipt: 'receipt for 40' } }) : null,
    );
    expect(fidelity).toEqual(
      isKnown ? [] : [expect.stringMatching(/no chart and no contexts\. .* "order": --module FILE/u)],
    );
  });

  it('are shown with child machines, even while another process writes their journals', async () => {
    const { orders, journals, running } = await storeActors(temporaryFolder());
    const server = await startInspector({ journals, hosts: [orders] });
    const page = await openPage(server.url);
    const { charts, fold } = await opened(page, 'o-running', 'timer-start');
    await running.send({ type: 'deliver' });
    await expect.poll(() => fold().actors.map(({ path }) => path)).toContain('/courier');
    expect(charts()).toMatchObject({ charts: [{ id: 'order' }, { id: 'courier' }], invoked: { courier: 'courier' } });
    running.getSnapshot().children['courier']?.send({ type: 'ARRIVED' });
    await page.end('o-running');
    expect(endsOf(fold())).toEqual([
      ['', 'done'],
      ['/courier', 'done'],
    ]);
    await page.runs(({ runs }) => runs.some((run) => run.runId === 'o-running' && stateOf(run) === 'completed'));
  });

  it('have the transitions of their child machines, also without the machine', async () => {
    const folder = temporaryFolder();
    const { running } = await storeActors(folder);
    await running.send({ type: 'deliver' });
    await running.send({ type: 'nonsense' } as never);
    running.getSnapshot().children['courier']?.send({ type: 'ARRIVED' });
    await running.output;
    const page = await openPage((await startInspector({ journals: fileJournals(folder) })).url);
    const { of, fold } = await opened(page, 'o-running', 'end');
    await page.end('o-running');
    expect(of('transition').map(({ machine, event }) => [machine, event])).toContainEqual(['courier', 'ARRIVED']);
    const ignored = fold().actors.flatMap(({ events }) => events.filter((event) => event.ignored !== null));
    expect(ignored.map(({ type }) => type)).toEqual(['nonsense']);
    expect(endsOf(fold())).toContainEqual(['/courier', 'done']);
  });

  it('have their whole journals if the replay diverges, and end with the reason if the journal is damaged', async () => {
    const { journals } = await storeActors(temporaryFolder());
    const changed = order.provide({ guards: { isAffordable: () => false } });
    const hosts = [createDurableMachine(changed, { journals: memoryJournals() })];
    const page = await openPage((await startInspector({ journals, hosts })).url);
    const { of } = await opened(page, 'o-done', 'end');
    expect((await page.end('o-done')).problem).toBeNull();
    expect(of('transition')).toHaveLength(2);
    const limit =
      /^The machine no longer does what the journal recorded in entry \d, so the states after it are unknown\./u;
    await page.runs(({ runs }) =>
      runs.some(({ runId, fidelity }) => runId === 'o-done' && limit.test(fidelity.join())),
    );
    page.say({ type: 'open', runId: 'o-damaged', from: 0 });
    expect((await page.end('o-damaged')).problem).toMatch(
      /^journal o-damaged: cannot read entry 1: checksum mismatch/u,
    );
  });
});

type Entries = readonly unknown[];
it.each<[string, (entries: Entries) => Entries]>([
  ['a wait without events', (entries) => [...entries, { seq: 7, atMs: 1, type: 'closed', waiting: { sinceMs: 1 } }]],
  ['a start without a machine', ([, ...rest]) => [{ seq: 0, atMs: 0, type: 'start', startedAt: '' }, ...rest]],
  [
    'a clock start that is not a valid date',
    ([start, ...rest]) => [{ ...Object(start), forkedFrom: { actorId: 'a', seq: 0, clockStartMs: 1e20 } }, ...rest],
  ],
])('a journal with %s is damaged, and the others are shown', async (_, change) => {
  const folder = temporaryFolder();
  const journals = fileJournals(folder);
  for (const id of ['a-good', 'm-bad', 'z-good'])
    await (await ordersIn(folder).open(id, { input: { amount: 1 } })).close();
  const entries = (await entriesOf(journals.read('m-bad'))).slice(0, 7);
  await journals.delete('m-bad');
  const writer = journals.create('m-bad');
  writer.write(change(entries) as readonly DurableEntry[]);
  await writer.close();
  const page = await openPage((await startInspector({ journals })).url);
  const { runs } = await page.runs((list) => list.runs.length === 3);
  expect(runs.map((run) => [run.runId, run.status]).toSorted()).toEqual([
    ['a-good', 'waiting'],
    ['m-bad', 'damaged'],
    ['z-good', 'waiting'],
  ]);
});

it('distinguishes machines with the same id by their stores', async () => {
  const [one, two] = [{ wait: {} }, { rest: { on: { GO: 'wait' } }, wait: {} }].map((states) =>
    createDurableMachine(createMachine({ initial: Object.keys(states)[0] ?? '', states }), {
      journals: memoryJournals(),
    }),
  );
  const actor = await two?.open('o-2');
  await actor?.send({ type: 'GO' });
  await actor?.close();
  const page = await openPage((await startInspector({ hosts: [one, two] as never })).url);
  const { fold } = await opened(page, 'o-2', 'transition');
  await expect.poll(() => fold().transitions.positionsOf('(machine)').at(-1)?.targets).toEqual(['(machine).wait']);
  expect(fold().transitions.positionsOf('(machine)')[0]?.targets).toEqual(['(machine).rest']);
});

function requiredMembers() {
  const { create, open, read, list } = memoryJournals();
  return { create, open, read, list };
}

describe('the store of a durable machine', () => {
  it.each([
    ['in files', () => fileJournals(temporaryFolder())],
    ['in memory', () => memoryJournals()],
    ['without optional members', requiredMembers],
  ])('%s is listed and shown, as the option "journals" and through "hosts"', async (_, make) => {
    const journals = make();
    const host = createDurableMachine(order, { journals });
    await (await host.open('o-1', { input: { amount: 1 } })).close();
    for (const options of [{ journals }, { hosts: [host] }, { journals, hosts: [host] }]) {
      const page = await openPage((await startInspector(options)).url);
      const { runs } = await page.runs((list) => list.runs.length === 1);
      expect(runs.map((run) => [run.runId, stateOf(run), run.machine])).toEqual([['o-1', 'waiting', 'order']]);
      const { fold } = await opened(page, 'o-1', 'timer-start');
      expect(fold().actors[0]?.notes[0]).toMatchObject({ title: 'Started', text: '{"amount":1}' });
    }
  });

  it('is replayed without side effects for a fork, whose clock starts with that of its original', async () => {
    const folder = temporaryFolder();
    const [orders, earlier] = [ordersIn(folder), ordersIn(folder, past)];
    const original = await earlier.open('o-1', { input: { amount: 40 } });
    await original.send({ type: 'deliver' });
    const fork = await orders.fork('o-1', { at: 1, id: 'o-2', event: { type: 'reject' } });
    await fork.output;
    await original.close();
    const page = await openPage((await startInspector({ hosts: [orders] })).url);
    const { of } = await opened(page, 'o-2', 'end');
    expect(of('transition').at(-1)).toMatchObject({ event: 'reject', target: ['order.rejected'] });
    const { runs } = await page.runs();
    const shown = runs.find(({ runId }) => runId === 'o-2');
    expect(shown?.forkedFrom?.runId).toBe('o-1');
    // The two days since its original are not its own.
    expect(shown?.ending?.durationMs).toBeLessThan(86_400_000);
  });
});

it('the duration of an actor does not include the time between its failure and its repair', async () => {
  const folder = temporaryFolder();
  const [orders, earlier] = [ordersIn(folder), ordersIn(folder, past)];
  const actor = await earlier.open('o-1', { input: { amount: 13 } });
  await actor.send({ type: 'approve' });
  await actor.output.catch(() => {});
  await orders.skip('o-1', { output: 'by hand' });
  const page = await openPage((await startInspector({ hosts: [orders] })).url);
  const { runs } = await page.runs(({ runs: [one] }) => (one?.ending?.durationMs ?? Infinity) < 86_400_000);
  expect(runs[0]).toMatchObject({ status: 'completed' });
});

it('the page of an actor is downloaded with its charts, and without what is redacted', async () => {
  const orders = ordersIn(temporaryFolder());
  await (await orders.open('o-1', { input: { amount: 40 } })).close();
  const page = await openPage((await startInspector({ hosts: [orders] })).url);
  await page.runs(({ runs }) => runs.length === 1);
  const whole = await page.request({ type: 'export', id: 1, runId: 'o-1', redact: [] });
  expect(whole.result?.html).toContain('"order.waiting"');
  const { result } = await page.request({ type: 'export', id: 2, runId: 'o-1', redact: ['waiting'] });
  expect(result?.html).not.toContain('"order.waiting"');
  expect(result?.notes[0]).toMatch(/^Redacted in \d+ texts\.$/u);
});

describe('an actor that invokes attempts', () => {
  it.each([true, false])('has its model calls in its trace (with its machine: %s)', async (isKnown) => {
    const journals = memoryJournals();
    const host = createDurableMachine(checkingMachine(), { journals });
    const actor = await host.open('c-1');
    await actor.output;
    const page = await openPage((await startInspector({ journals, hosts: isKnown ? [host] : [] })).url);
    page.say({ type: 'open', runId: 'c-1', from: 0 });
    await page.end('c-1');
    const { log, fold } = foldedSystem(page.lines('c-1'), page.frames('c-1'));
    expect(log.problem).toBeNull();
    const { transitions } = fold;
    const positions = transitions.machines.flatMap((machine) => transitions.positionsOf(machine));
    expect(positions.filter(({ targets }) => targets.length === 0)).toEqual([]);
    const rows = systemTrace({ log, fold, charts: null, count: log.count, isOver: true });
    const calling = rows.filter(({ usage }) => usage !== null);
    expect(calling.map(({ title, note, usage }) => [title, note, usage?.modelCalls])).toEqual([
      ['calling', 'machine, 2 model calls', 2],
      ['calling', 'machine, 2 model calls', 2],
    ]);
    const calls = calling.map((row) => row.children?.() ?? []);
    expect(calls.map((own) => own.map(({ kind, status }) => [kind, status]))).toEqual(
      Array.from({ length: 2 }, () => [
        ['call', 'failed'],
        ['call', 'done'],
      ]),
    );
    for (const [index, text] of ['First text', 'Second text'].entries()) {
      const selection = calls[index]?.at(-1)?.selection;
      const { selected } = (selection && stepCalls(fold, selection, log.count)) ?? {};
      if (selected === undefined) throw new Error('no call');
      const prompt = fold.prompts.at(promptSeq(log, fold, selected) ?? -1);
      expect(prompt).toMatchObject({ name: 'check', turns: { 1: { content: text }, length: 4 } });
      expect(JSON.parse(replyAt(log, selected.span, log.count).text())).toEqual({ ok: true });
    }
  });
});

/** What the page shows of a journal that arrives in pieces. */
function shownInPieces(host: ReplayHost, pieces: readonly (readonly DurableEntry[])[]) {
  const entries: DurableEntry[] = [];
  const steps = actorStates(entries, host, () => {});
  const frames: string[] = [];
  let problem: string | null = null;
  for (const [index, piece] of pieces.entries()) {
    entries.push(...piece);
    const isLast = index === pieces.length - 1;
    for (let count = entries.filter(isExternal).length - frames.length + 1; count > 0 || isLast; count -= 1) {
      const { done, value } = steps.next();
      if (done) {
        problem = value;
        break;
      }
      frames.push(...value.map((frame) => JSON.stringify(frame)));
    }
  }
  const lines = entries.map((entry) => JSON.stringify(entry));
  return { ...foldedSystem(lines, frames), early: foldedSystem(lines, frames, 'states first').fold.actors, problem };
}

it('shows no state of a queued actor until it has begun', async () => {
  const machine = createMachine({ id: 'order', initial: 'open', states: { open: { on: { PAY: 'paid' } }, paid: {} } });
  const host = createDurableMachine(machine, { journals: memoryJournals(), queue: {} });
  await host.enqueue('a', { priority: 5 });
  const entries = [...(await entriesOf(host.journals.read('a')))];
  const steps = actorStates(entries, host as unknown as ReplayHost, () => {});
  expect(steps.next()).toEqual({ done: false, value: [] });
  await (await host.open('a')).send({ type: 'PAY' });
  entries.push(...(await entriesOf(host.journals.read('a'))).slice(entries.length));
  const frames = [...steps].flat().map((frame) => JSON.stringify(frame));
  expect(frames).toEqual([expect.stringContaining('open'), expect.stringContaining('paid')]);
});

it('shows the end of a child at its step, also if the process closes the actor later', async () => {
  const asking = { invoke: { src: fromPromise(async () => 1), onDone: 'done' } };
  const child = createMachine({ initial: 'asking', states: { asking, done: { type: 'final' } } });
  const invoke = { src: child, id: 'child', onDone: 'waiting' };
  const states = { calling: { invoke }, waiting: { on: { GO: {} } } };
  const host = createDurableMachine(createMachine({ id: 'parent', initial: 'calling', states }), {
    journals: memoryJournals(),
  });
  const actor = await host.open('a');
  await expect.poll(() => actor.getSnapshot().value).toBe('waiting');
  await actor.close();
  const { fold } = shownInPieces(host as never, [actor.entries]);
  const end = fold.actors.find(({ path }) => path === '/child')?.end;
  expect(end?.seq).toBeLessThan(actor.entries.findIndex(({ type }) => type === 'closed'));
});

it('shows each of the actors that a machine starts one after another at the same path', async () => {
  const child = createMachine({ id: 'child', initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } });
  const machine = setup({ actors: { child } }).createMachine({
    id: 'parent',
    initial: 'on',
    states: { on: { invoke: { src: 'child', id: 'kid' }, on: { AGAIN: { target: 'on', reenter: true } } } },
  });
  const host = createDurableMachine(machine, { journals: memoryJournals() });
  const actor = await host.open('a');
  for (const round of [1, 2, 3]) {
    if (round > 1) actor.getSnapshot().children['kid']?.send({ type: 'GO' });
    await actor.send({ type: 'AGAIN' });
  }
  await actor.close();
  const { fold, problem } = shownInPieces(host as never, [actor.entries]);
  expect(problem).toBeNull();
  const kids = fold.actors.filter(({ path }) => path === '/kid');
  expect(kids.map(({ end, events }) => [end?.status, events.map(({ type }) => type)])).toEqual([
    ['stopped', []],
    ['stopped', ['GO']],
    ['stopped', ['GO']],
    [undefined, []],
  ]);
  expect(kids.map(({ machine: chart }) => chart)).toEqual(['child', 'child', 'child', 'child']);
});

it('tells an actor from one of another machine that follows at its path, also without its machine', async () => {
  const leaf = createMachine({ id: 'leaf', initial: 'x', states: { x: { on: { GO: 'y' } }, y: {} } });
  const other = createMachine({ id: 'other', initial: 'p', states: { p: { on: { GO: 'q' } }, q: {} } });
  const machine = setup({ actors: { leaf, other } }).createMachine({
    id: 'parent',
    initial: 'a',
    states: { a: { invoke: { src: 'leaf', id: 'in' }, on: { NEXT: 'b' } }, b: { invoke: { src: 'other', id: 'in' } } },
  });
  const host = createDurableMachine(machine, { journals: memoryJournals() });
  const actor = await host.open('a');
  const go = () => actor.getSnapshot().children['in']?.send({ type: 'GO' });
  go();
  await actor.send({ type: 'NEXT' });
  go();
  await actor.close();
  const lines = actor.entries.map((entry) => JSON.stringify(entry));
  for (const { fold } of [foldedSystem(lines), shownInPieces(host as never, [actor.entries])]) {
    const inner = fold.actors.filter(({ path }) => path === '/in');
    expect(inner.map(({ machine: chart, end }) => [chart, end?.status])).toEqual([
      ['leaf', 'stopped'],
      ['other', undefined],
    ]);
    expect(fold.transitions.positionsOf('other').at(-1)?.targets).toEqual(['other.q']);
  }
});

it('gives each running actor a chart of its own, also after another has reused one', async () => {
  const leaf = createMachine({ id: 'leaf', initial: 'x', states: { x: { on: { GO: 'y' } }, y: {} } });
  const machine = setup({
    types: { events: {} as { type: 'ADD' | 'STOP'; id: string } },
    actors: { leaf },
    actions: {
      add: spawnChild('leaf', { id: ({ event }) => (event as { id: string }).id }),
      drop: stopChild(({ event }) => (event as { id: string }).id),
    },
  }).createMachine({ id: 'parent', on: { ADD: { actions: 'add' }, STOP: { actions: 'drop' } } });
  const host = createDurableMachine(machine, { journals: memoryJournals() });
  const actor = await host.open('a');
  const steps = [...['ADD k0', 'ADD k1', 'STOP k1', 'ADD k3', 'ADD k1']].map((step) => step.split(' '));
  for (const [type = '', id = ''] of steps) await actor.send({ type, id } as never);
  actor.getSnapshot().children['k1']?.send({ type: 'GO' });
  await actor.close();
  const { fold } = shownInPieces(host as never, [actor.entries]);
  const running = fold.actors.filter(({ path, end }) => path !== '' && end === null);
  expect(running.map(({ path }) => path).sort()).toEqual(['/k0', '/k1', '/k3']);
  expect(new Set(running.map(({ machine: chart }) => chart)).size).toBe(3);
  const placed = running.map(({ path, machine: chart }) => [
    path,
    fold.transitions.positionsOf(chart ?? '').at(-1)?.targets,
  ]);
  expect(Object.fromEntries(placed)).toEqual({ '/k0': ['leaf.x'], '/k1': ['leaf.y'], '/k3': ['leaf.x'] });
});

describe.each(Object.entries(scenarios))('a recorded actor: %s', (_, scenario) => {
  it('is shown completely, read at once or as it grows, also after a kill', async () => {
    for (const life of [Number.POSITIVE_INFINITY, 4, 7]) {
      const { entries, machine, snapshot } = await runScenario(scenario, { life });
      const isCut = life < entries.length;
      const growing = isCut ? [entries.slice(0, life), entries.slice(life)] : [entries];
      for (const pieces of [[entries], growing]) {
        const { log, fold, early, problem } = shownInPieces(machine as never, pieces);
        expect([problem, log.problem]).toEqual([null, null]);
        // Two actors that share an id share one state.
        const sharesIds = entries.some((entry) => 'actor' in entry && entry.actor.includes('#'));
        if (!isCut && !sharesIds) expect(endsOf({ actors: early })).toEqual(endsOf(fold));
        const root = Object(fold.states.at(entries.length))[''];
        expect(root).toMatchObject({ context: plainJson(snapshot.context) ?? null });
        const leaves = leavesOf(activeNodes(snapshot as AnyMachineSnapshot));
        expect(fold.transitions.positionsOf(fold.actors[0]?.machine ?? '').at(-1)?.targets).toEqual(leaves);
      }
    }
  });
});
