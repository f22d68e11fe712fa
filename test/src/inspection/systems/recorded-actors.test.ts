import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, createMachine, fromPromise } from 'xstate';
import { replyAt } from '../../../../inspector/fold/output.ts';
import { createRunFold } from '../../../../inspector/fold/run-fold.ts';
import { actorText, stateOf, statusWords } from '../../../../inspector/fold/run-list.ts';
import { createStateLog } from '../../../../inspector/fold/state-log.ts';
import { promptSeq, stepCalls } from '../../../../inspector/fold/step.ts';
import { systemTrace } from '../../../../inspector/fold/system-trace.ts';
import { createRunLog } from '../../../../inspector/wire/run-log.ts';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, fileJournals, memoryJournals } from '../../../../src/entries/durable.ts';
import { actorMessages, type ReplayHost } from '../../../../src/inspection/systems/actor-messages.ts';
import { actorPage } from '../../../../src/inspection/systems/export-actor.ts';
import type { SystemMessage } from '../../../../src/inspection/systems/messages.ts';
import { leavesOf } from '../../../../src/inspection/systems/observe-for-inspector.ts';
import type { SystemEntry } from '../../../../src/inspection/wire.ts';
import { plainJson } from '../../../../src/internal/plain-json.ts';
import { activeNodes } from '../../../../src/internal/xstate-internals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { scenarios } from '../../../support/durable-machines.ts';
import { runScenario } from '../../../support/durable-runs.ts';
import { openPage, startInspector, type TestPage } from '../../../support/inspection-server.ts';
import { checkingMachine, order, ordersIn, storeActors } from '../../../support/recorded-actors.ts';

type Entry<Type> = Extract<SystemEntry, { type: Type }>;

/** Opens an actor and returns what its page receives, once an entry matches. */
async function opened(page: TestPage, runId: string, fits: (entry: SystemEntry) => boolean) {
  page.say({ type: 'open', runId, from: 0 });
  const entries = () => page.entries(runId) as unknown as SystemEntry[];
  await expect.poll(() => entries().some(fits)).toBe(true);
  const of = <Type extends SystemEntry['type']>(type: Type) =>
    entries().filter((entry): entry is Entry<Type> => entry.type === type);
  return { entries, of, charts: () => page.all('charts').findLast((charts) => charts.runId === runId) };
}

const isEnd = ({ type, ...entry }: SystemEntry): boolean =>
  type === 'actor-end' && 'actor' in entry && /^o-/u.test(entry.actor);

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
    const waits = 'actor of order, timer due , waits for approve, reject, ask, deliver, hang';
    expect(
      rows.toSorted().map((row) => row.map((cell) => cell?.replace(/due [A-Z][a-z]+ \d+, [\d:]+/u, 'due '))),
    ).toEqual([
      ['o-damaged', 'damaged', 'bad', 'actor of order'],
      ['o-done', 'ended', 'plain', 'actor of order'],
      ['o-due', 'waiting', 'warn', waits],
      ['o-failed', 'failed', 'bad', 'actor of order'],
      ['o-interrupted', 'interrupted', 'warn', 'actor of order'],
      ['o-running', 'running', 'plain', 'actor of order'],
      ['o-waiting', 'waiting', 'warn', waits],
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
    const { entries, of, charts } = await opened(page, 'o-done', isEnd);
    await page.end('o-done');
    const journal = await entriesOf(fileJournals(folder).read('o-done'));
    const recorded = <Type extends DurableEntry['type']>(type: Type) =>
      journal.filter((entry): entry is Extract<DurableEntry, { type: Type }> => entry.type === type);
    const moves = of('transition').filter(({ event }) => event !== 'xstate.init');
    expect(moves.map(({ event, source, target, candidates }) => ({ event, source, target, candidates }))).toEqual(
      recorded('transition').map(({ event, source, target, candidates }) => ({ event, source, target, candidates })),
    );
    expect(moves[0]?.candidates[0]?.inputs).toEqual({ amount: 40, limit: 100 });
    expect(of('timer-start').map(({ event }) => event)).toEqual(recorded('timer-start').map(({ event }) => event));
    const [timer] = of('timer-start');
    expect(timer?.dueMs).toBe(recorded('timer-start')[0]?.dueMs);
    expect(of('noted').map(({ text }) => text)).toEqual(['started', 'effect remind']);
    expect(of('delivery').map(({ event, sender }) => [event.type, sender])).toEqual([
      ['xstate.init', null],
      ['approve', null],
      ['xstate.init', 'o-done'],
      ['xstate.done.actor.0.order.paying', '0.order.paying'],
    ]);
    expect(of('actor-end').at(-1)).toMatchObject({ actor: 'o-done', status: 'done', output: 'receipt for 40' });
    const { runs } = await page.runs();
    const fidelity = runs.find(({ runId }) => runId === 'o-done')?.fidelity;
    expect(charts()?.charts.map(({ id, states }) => [id, states.length > 0])).toEqual([['order', isKnown]]);
    expect(moves.map(({ leaves }) => leaves)).toEqual(isKnown ? [['order.paying'], ['order.paid']] : [null, null]);
    const states = createStateLog();
    for (const entry of entries()) states.take(entry as never);
    expect(states.at(entries().length)).toEqual(isKnown ? { 'o-done': { amount: 40, receipt: 'receipt for 40' } } : {});
    expect(fidelity).toEqual(
      isKnown ? [] : [expect.stringMatching(/no chart and no contexts\. .* "order": --module FILE/u)],
    );
  });

  it('are shown with child machines, even while another process writes their journals', async () => {
    const { orders, journals, running } = await storeActors(temporaryFolder());
    const server = await startInspector({ journals, hosts: [orders] });
    const page = await openPage(server.url);
    const { of, charts } = await opened(page, 'o-running', ({ type }) => type === 'timer-start');
    await running.send({ type: 'deliver' });
    await expect.poll(() => of('delivery').map(({ actor }) => actor)).toContain('courier');
    expect(charts()).toMatchObject({ charts: [{ id: 'order' }, { id: 'courier' }], invoked: { courier: 'courier' } });
    running.getSnapshot().children['courier']?.send({ type: 'ARRIVED' });
    await page.end('o-running');
    expect(of('actor-end').map(({ actor, status }) => [actor, status])).toEqual([
      ['courier', 'done'],
      ['o-running', 'done'],
    ]);
    await page.runs(({ runs }) => runs.some((run) => run.runId === 'o-running' && stateOf(run) === 'ended'));
  });

  it('have the transitions of their child machines, also without the machine', async () => {
    const folder = temporaryFolder();
    const { running } = await storeActors(folder);
    await running.send({ type: 'deliver' });
    await running.send({ type: 'nonsense' } as never);
    running.getSnapshot().children['courier']?.send({ type: 'ARRIVED' });
    await running.output;
    const page = await openPage((await startInspector({ journals: fileJournals(folder) })).url);
    const { of } = await opened(page, 'o-running', isEnd);
    await page.end('o-running');
    expect(of('transition').map(({ machine, event }) => [machine, event])).toContainEqual(['courier', 'ARRIVED']);
    expect(of('ignored').map(({ actor, event }) => [actor, event])).toEqual([['o-running', 'nonsense']]);
    expect(of('actor-end').map(({ actor, status }) => [actor, status])).toContainEqual(['courier', 'done']);
  });

  it('end with the reason if the replay diverges or the journal is damaged', async () => {
    const { journals } = await storeActors(temporaryFolder());
    const changed = order.provide({ guards: { isAffordable: () => false } });
    const hosts = [createDurableMachine(changed, { journals: memoryJournals() })];
    const page = await openPage((await startInspector({ journals, hosts })).url);
    const { of } = await opened(page, 'o-done', ({ type }) => type === 'timer-start');
    expect((await page.end('o-done')).problem).toMatch(
      /^The machine no longer does what the journal recorded in entry \d/u,
    );
    expect(of('transition').map(({ event }) => event)).toEqual(['xstate.init']);
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
  const { of } = await opened(page, 'o-2', ({ type }) => type === 'transition');
  await expect.poll(() => of('transition').at(-1)?.leaves).toEqual(['(machine).wait']);
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
      const { of } = await opened(page, 'o-1', ({ type }) => type === 'timer-start');
      expect(of('noted')[0]).toMatchObject({ text: 'started', data: { amount: 1 } });
    }
  });

  it('is replayed without side effects for a fork, whose clock starts with that of its original', async () => {
    const orders = ordersIn(temporaryFolder());
    const original = await orders.open('o-1', { input: { amount: 40 } });
    await original.send({ type: 'deliver' });
    const fork = await orders.fork('o-1', { at: 1, id: 'o-2', event: { type: 'reject' } });
    await fork.output;
    await original.close();
    const page = await openPage((await startInspector({ hosts: [orders] })).url);
    const { of } = await opened(page, 'o-2', isEnd);
    expect(of('transition').at(-1)).toMatchObject({ event: 'reject', leaves: ['order.rejected'] });
    const { runs } = await page.runs();
    expect(runs.find(({ runId }) => runId === 'o-2')?.forkedFrom?.runId).toBe('o-1');
  });
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
    const log = createRunLog();
    const fold = createRunFold();
    const lines = page.entries('c-1').map((entry) => JSON.stringify(entry));
    log.add(lines, fold.take);
    expect(log.problem).toBeNull();
    const { machines, positionsOf } = fold.transitions;
    expect(machines.flatMap(positionsOf).filter(({ targets }) => targets.length === 0)).toEqual([]);
    const rows = systemTrace({ log, fold, charts: null, count: log.count, isOver: true });
    const calling = rows.filter(({ usage }) => usage !== null);
    expect(calling.map(({ title, note, usage }) => [title, note?.split(',')[0], usage?.modelCalls])).toEqual([
      ['calling', '2 model calls', 2],
      ['calling', '2 model calls', 2],
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

/** The messages of a journal that arrives in pieces. */
function messagesOf(host: ReplayHost, pieces: readonly (readonly DurableEntry[])[]) {
  const sent: SystemMessage[] = [];
  const messages = actorMessages('a', host, (message) => void sent.push(message));
  for (const piece of pieces) for (const _ of messages.take(piece));
  return { sent, problem: messages.problem };
}

it('reports the end of a child at the time of its step, also if the process closes the actor later', async () => {
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
  const journal = actor.entries.map((entry) =>
    entry.type === 'closed' ? { ...entry, atMs: entry.atMs + 60_000 } : entry,
  );
  const { sent } = messagesOf(host, [journal]);
  const end = sent.find((message) => message.type === 'end' && message.actor === '/child');
  expect(end?.at).toBeLessThan(Math.max(...sent.map(({ at }) => at)));
});

describe.each(Object.entries(scenarios))('a recorded actor: %s', (_, scenario) => {
  it('is shown completely, read at once or as it grows, also after a kill', async () => {
    for (const life of [Number.POSITIVE_INFINITY, 4, 7]) {
      const { entries, machine, snapshot } = await runScenario(scenario, { life });
      const host = machine as unknown as ReplayHost;
      const isCut = life < entries.length;
      const growing = isCut ? [entries.slice(0, life), entries.slice(life)] : [entries];
      for (const pieces of [[entries], growing]) {
        const { sent, problem } = messagesOf(host, pieces);
        expect(problem).toBeNull();
        const ofRoot = sent.filter((message) => 'actor' in message && message.actor === 'a');
        const context = ofRoot.findLast(({ type }) => type === 'context');
        expect(context).toMatchObject({ context: plainJson(snapshot.context) ?? null });
        const moved = ofRoot.findLast((message) => message.type === 'transition' && message.leaves !== null);
        const leaves = leavesOf(activeNodes(snapshot as AnyMachineSnapshot));
        if (moved?.type === 'transition') expect(moved.leaves).toEqual(leaves);
      }
    }
  });
});
