import { expect, it, vi } from 'vitest';
import { createMachine, fromPromise, type MachineConfig, setup } from 'xstate';
import type { ActorRecord } from '../../../inspector/fold/actor-log.ts';
import { reachedStates } from '../../../inspector/fold/reached.ts';
import type { Selection } from '../../../inspector/fold/selection.ts';
import { stepTitle } from '../../../inspector/fold/step-title.ts';
import { eventCounts } from '../../../inspector/fold/summary.ts';
import {
  lastMove,
  questionsOf,
  selectedCall,
  selectedEffect,
  shownEntries,
  systemStep,
} from '../../../inspector/fold/system-step.ts';
import { systemTrace } from '../../../inspector/fold/system-trace.ts';
import { rowPathTo } from '../../../inspector/fold/trace-row.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { approval, createDurableMachine, memoryJournals, type OpenApproval } from '../../../src/entries/durable.ts';
import { foldedActor, foldedSystem } from '../../support/inspector/inspected-runs.ts';
import { TestClock } from '../../support/simulated-clock.ts';

const machine = createMachine({
  id: 'order',
  initial: 'open',
  states: {
    open: { on: { PAY: 'paying' } },
    paying: {
      invoke: { id: 'pay', src: fromPromise(() => Promise.reject(new Error('card declined'))), onError: 'over' },
    },
    over: {
      entry: () => {
        throw new Error('out of order');
      },
    },
  },
});

const ENDED = { kind: 'system', live: false, status: 'degraded' } as const;

/** What the page of an ended actor shows of its journal. */
async function ended(end: 'stop' | 'fail') {
  const journals = memoryJournals();
  const orders = createDurableMachine(machine, { journals, logger: () => {} });
  const actor = await orders.open('o-1');
  if (end === 'stop') await actor.stop();
  else {
    await actor.send({ type: 'PAY', cents: 80 } as never);
    await vi.waitFor(() => expect(actor.ref.getSnapshot().status).toBe('error'));
    await actor.close();
  }
  const view = foldedActor(await entriesOf(journals.read('o-1')), orders);
  const count = view.log.count;
  return { ...view, count, rows: systemTrace({ ...view, count, isOver: true }) };
}

it.each(['stop', 'fail'] as const)('selects the end of an actor at first: %s', async (end) => {
  const view = await ended(end);
  const [seq = -1] = view.fold.entries.of('end');
  expect(lastMove(view)).toEqual({ kind: 'entry', from: seq, to: seq });
  expect(view.rows.at(-1)?.selection).toEqual(lastMove(view));
});

it('shows which effect has ended an actor, what was sent with an event, and that a call had not failed yet', async () => {
  const { rows, fold, log, charts } = await ended('fail');
  const failed = rows.filter(({ text }) => text === 'out of order');
  expect(failed.map(({ title, status }) => [title, status])).toEqual([
    ['Entry action of over', 'failed'],
    ['Failed', 'failed'],
  ]);
  expect(failed[1]?.sameErrorAs).toBe('Entry action of over');
  const effect = failed[0]?.selection ?? { kind: 'entry', from: -1, to: -1 };
  const [end = -1] = fold.entries.of('end');
  expect([effect.to, selectedEffect(fold, effect)?.thrown?.error]).toMatchObject([end, { message: 'out of order' }]);
  expect(stepTitle({ run: ENDED, log, fold, charts, at: end, selection: effect })).toMatchObject({
    name: 'Entry action of over',
    status: { word: 'failed' },
  });
  expect(rows.find(({ title }) => title === 'PAY')?.note).toBe('cents: 80');
  const [from = -1] = fold.entries.of('activity-start');
  const selection = { kind: 'entry', from, to: from } as const;
  expect(stepTitle({ run: ENDED, log, fold, at: from, selection })).toMatchObject({
    facts: [],
    status: { word: 'not finished at this point' },
  });
});

it('selects a call that made model calls by its row', () => {
  const call = { attemptId: '1', task: 'value', attempt: 1 };
  const entries = [
    { type: 'start', actorId: 'c-1', machine: { id: 'm', version: null, digest: '' }, input: null },
    { type: 'activity-start', activity: 0, actor: '/ask', source: 'ask', inputDigest: '' },
    { type: 'note', activity: 0, actor: '/ask', note: { type: 'attempt-start', ...call, model: 0 } },
    { type: 'delivery', actor: '', event: { type: 'xstate.done.actor.ask', output: 1 }, sender: '/ask' },
  ];
  const { log, fold } = foldedSystem(entries.map((entry, seq) => JSON.stringify({ seq, atMs: seq, ...entry })));
  const rows = systemTrace({ log, fold, charts: null, count: log.count, isOver: true });
  const row = rows.find(({ title }) => title === 'ask');
  expect(row?.children?.()).toHaveLength(1);
  expect(row?.selection).toEqual({ kind: 'entry', from: 1, to: 3 });
});

it('says how late a timer fired that was due while no process ran', async () => {
  const [journals, clock] = [memoryJournals(), new TestClock()];
  const waiting = createMachine({
    id: 'offer',
    initial: 'made',
    states: { made: { after: { 60000: 'over' } }, over: {} },
  });
  const offers = createDurableMachine(waiting, { journals, clock, logger: () => {} });
  await (await offers.open('o-1')).close();
  clock.increment(60_000 + 162_000);
  const actor = await offers.open('o-1');
  await vi.waitFor(() => expect(actor.ref.getSnapshot().value).toBe('over'));
  const view = foldedActor(await entriesOf(journals.read('o-1')), offers);
  const rows = systemTrace({ ...view, count: view.log.count, isOver: false });
  const fired = rows.find(({ moves }) => moves === 'made → over');
  expect(fired?.note).toBe('2 min 42 s late');
  const selection = { kind: 'entry', from: fired?.from ?? 0, to: fired?.to ?? 0 } as const;
  const run = { kind: 'system', live: true, status: 'running' } as const;
  expect(stepTitle({ ...view, run, at: selection.to, selection }).facts).toContain('2 min 42 s late');
});

/** The page of an actor that was sent an order, and the step that its last transition belongs to. */
async function ordered(states: MachineConfig<object, { type: 'ORDER' }>['states']) {
  const journals = memoryJournals();
  const checked = createMachine({ id: 'checked', initial: 'open', states });
  const host = createDurableMachine(checked, { journals, logger: () => {} });
  const actor = await host.open('c-1');
  await actor.send({ type: 'ORDER' });
  await actor.close();
  const folded = foldedActor(await entriesOf(journals.read('c-1')), host);
  const from = folded.fold.transitions.seqs.at(-1) ?? 0;
  const selection = { kind: 'entry', from, to: from } as const;
  const view = { ...folded, count: folded.log.count, selection };
  return { view, step: systemStep(view) };
}

it('shows that a transition was taken without an event, and shows the same entries for each part of a step', async () => {
  const { view, step } = await ordered({
    open: { on: { ORDER: 'checking' } },
    checking: { always: 'asking' },
    asking: {},
  });
  expect(step.transitions.map(({ moves, about }) => `${moves} ${about}`)).toEqual([
    'open → checking on ORDER',
    'checking → asking without an event, after ORDER',
  ]);
  const [order] = view.fold.entries.of('delivery');
  const row = systemTrace({ ...view, isOver: false }).find(({ title }) => title === 'ORDER')?.selection as Selection;
  const shown = [row, view.selection].map((one) => shownEntries(view.fold, one, view.count));
  expect(shown).toEqual([
    { from: order, to: row.to },
    { from: order, to: row.to },
  ]);
});

it('shows that a timer was cancelled in the step that started it', async () => {
  const { step } = await ordered({
    open: { on: { ORDER: 'checking' } },
    checking: { always: 'asking', after: { 60000: 'over' } },
    asking: { after: { 90000: 'over' } },
    over: {},
  });
  expect(step.timers.map(({ event, isCancelled }) => [event, isCancelled])).toEqual([
    ['xstate.after.60000.checked.checking', true],
    ['xstate.after.90000.checked.asking', false],
  ]);
});

it('lists the answer to an approval in the order of time, after the actor was parked, with its receiver, and selects it by the row of its call', async () => {
  const [journals, clock] = [memoryJournals(), new TestClock()];
  const refund = setup({ actors: { approval } }).createMachine({
    id: 'refund',
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'ask', src: 'approval', input: { question: { cents: 80 } }, onDone: 'over' } },
      over: {},
    },
  });
  const host = createDurableMachine(refund, { journals, clock, logger: () => {} });
  await (await host.open('r-1')).park();
  clock.increment(60_000);
  const actor = await host.open('r-1');
  const [asked] = actor.pending.approvals as readonly [OpenApproval];
  await actor.send({
    type: 'approval.given',
    id: asked.id,
    digest: asked.digest,
    decision: 'deny',
    reason: 'too dear',
    by: 'Ada',
  } as never);
  await actor.close();
  const view = foldedActor(await entriesOf(journals.read('r-1')), host);
  const count = view.log.count;
  const rows = systemTrace({ ...view, count, isOver: false });
  const row = rows.find(({ title }) => title === 'ask');
  expect(row?.text).toBe('denied by Ada: too dear');
  expect(rows.find(({ title }) => title === 'approval.given')?.note).toBe('to ask · denied by Ada: too dear');
  expect(rowPathTo(rows, row?.selection as Selection)).toEqual([row]);
  const call = selectedCall(view.fold, row?.selection as Selection) as ActorRecord;
  expect(questionsOf({ ...view, run: {} }, call).map(({ question }) => question)).toEqual([{ cents: 80 }]);
  expect(reachedStates(view, 'refund', count - 1)[0]?.because).toBe('entered from asking, denied by Ada: too dear');
  expect(eventCounts(view.fold)).toEqual({ received: 0, answers: 1, ignored: 0 });
  expect(rows.map(({ title }) => title)).toEqual([
    'Started',
    'ask',
    'Parked',
    'Continued',
    'approval.given',
    'ask finished',
    'Parked',
  ]);
  expect(rows.find(({ title }) => title === 'approval.given')?.note).toContain('to ask');
  // Each step shows the time until the next transition.
  const finished = rows.find(({ title }) => title === 'ask finished');
  expect([rows[0]?.stays, finished?.stays, rows[2]?.stays]).toEqual([finished?.from, null, undefined]);
});

it('lists timers while they run and once they have fired, but not if they were cancelled', async () => {
  const offer = setup({ delays: { soon: 0, offerEnds: 3 * 24 * 3_600_000 } }).createMachine({
    id: 'offer',
    initial: 'made',
    states: {
      made: { after: { offerEnds: 'expired' }, on: { TAKE: 'taken' } },
      taken: { after: { soon: 'sent' } },
      sent: { type: 'final' },
      expired: { type: 'final' },
    },
  });
  const host = createDurableMachine(offer, { journals: memoryJournals(), logger: () => {} });
  const timers = async () => {
    const folded = foldedActor(await entriesOf(host.journals.read('o')), host);
    return systemTrace({ ...folded, count: folded.log.count, isOver: false })
      .filter(({ title }) => title.startsWith('Timer'))
      .map(({ title, note, status, to, dueMs }) => [title, note, status, to !== null, dueMs !== undefined]);
  };
  await (await host.open('o')).park();
  expect(await timers()).toEqual([['Timer offerEnds', '→ expired', 'open', false, true]]);
  const actor = await host.open('o');
  await actor.send({ type: 'TAKE' });
  await actor.output;
  expect(await timers()).toEqual([['Timer soon', 'fired', 'done', true, false]]);
});
