import { diag, SpanStatusCode } from '@opentelemetry/api';
import { expect, it, vi } from 'vitest';
import { emit, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import { createDurableMachine, memoryJournals } from '../../../../src/entries/durable.ts';
import { createAttempt } from '../../../../src/entries/structured-output.ts';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { type Scenario, scenarios } from '../../../support/durable-machines.ts';
import { runScenario } from '../../../support/durable-runs.ts';
import { order } from '../../../support/recorded-actors.ts';
import { eventsOf, memoryTelemetry, millis, spanNamed, spansOf, tableOf } from '../../../support/telemetry.ts';

const orders = createDurableMachine(order, { journals: memoryJournals(), logger: () => {} });
const opened = (id: string, amount = 40) => orders.open(id, { input: { amount } });

/** The spans of an actor as a table without times. */
const treeOf = async (...given: Parameters<typeof spansOf>) =>
  tableOf(await spansOf(...given)).replace(/ [\d.]+–[\d.]+/gu, '');

it('a durable actor has a span of its own, of each activity, and events for transitions, guards and delays', async () => {
  const actor = await opened('o-1');
  await actor.send({ type: 'approve' });
  await actor.output;
  const spans = await spansOf(actor.entries);
  expect(await treeOf(actor.entries)).toBe('invoke_workflow order\n  pay');
  const [root, pay] = spans;
  expect(root?.attributes).toMatchObject({
    'postchain.run.id': 'o-1',
    'postchain.machine.version': '1',
    'postchain.status': 'done',
    'postchain.output_length': 16,
  });
  expect(pay?.status.code).toBe(SpanStatusCode.UNSET);
  expect(eventsOf(root).map(({ name, ...of }) => [name, of['postchain.event'] ?? of['postchain.guard'] ?? ''])).toEqual(
    [
      ['postchain.delay', 'xstate.after.patience.order.waiting'],
      ['postchain.event', 'approve'],
      ['postchain.effect', ''],
      ['postchain.transition', 'approve'],
      ['postchain.guard', 'isAffordable'],
      ['postchain.transition', 'xstate.done.actor.0.order.paying'],
    ],
  );
  const shown = JSON.stringify(spans.map((span) => [span.attributes, span.events]));
  expect(shown).not.toMatch(/receipt|"amount|\.input/u);
  const [whole] = await spansOf(actor.entries, { content: true, workflow: 'orders' });
  expect(whole?.name).toBe('invoke_workflow orders');
  expect(whole?.attributes).toMatchObject({
    'postchain.actor.input': '{"amount":40}',
    'postchain.output': '"receipt for 40"',
  });
  expect(eventsOf(whole)).toContainEqual({
    name: 'postchain.guard',
    'postchain.guard': 'isAffordable',
    'postchain.holds': true,
    'postchain.input.amount': 40,
    'postchain.input.limit': 100,
  });
});

it('a rejected activity and a failed actor have the status ERROR, with the reason only as content', async () => {
  const actor = await opened('o-2', 13);
  await actor.send({ type: 'approve' });
  await actor.output.catch(() => {});
  expect(await treeOf(actor.entries)).toBe('invoke_workflow order ! Error\n  pay ! Error');
  expect((await spansOf(actor.entries)).map(({ status }) => status.message)).toEqual([undefined, undefined]);
  const [, pay] = await spansOf(actor.entries, { content: true });
  expect(pay?.status.message).toBe('card declined');
});

it('a child machine has a span with its name, and an activity that is stopped ends with its machine', async () => {
  const actor = await opened('o-3');
  await actor.send({ type: 'deliver' });
  actor.getSnapshot().children['courier']?.send({ type: 'ARRIVED' });
  await actor.output;
  expect(await treeOf(actor.entries)).toBe('invoke_workflow order\n  courier');
  const courier = spanNamed(await spansOf(actor.entries), 'courier');
  expect(eventsOf(courier).map(({ name }) => name)).toEqual(['postchain.event', 'postchain.transition']);
  const hanging = await opened('o-4');
  await hanging.send({ type: 'hang' });
  await hanging.stop();
  const [root, hang] = await spansOf(hanging.entries);
  expect([root?.status.code, hang?.status.code]).toEqual([SpanStatusCode.UNSET, SpanStatusCode.UNSET]);
  expect(hang?.attributes).toMatchObject({ 'postchain.status': 'stopped' });
});

it('an approval has a span from the question to the answer, also across processes', async () => {
  const now = { ms: 1_000_000 };
  const clock = { now: () => now.ms, setTimeout: () => 0, clearTimeout: () => {} };
  const host = createDurableMachine(order, { journals: memoryJournals(), clock: clock as never });
  const actor = await host.open('o-5', { input: { amount: 40 } });
  now.ms += 1_000;
  await actor.send({ type: 'ask' });
  await actor.park({ wait: true });
  now.ms += 60_000;
  const [{ waiting }] = (await host.list()) as [Awaited<ReturnType<typeof host.list>>[0]];
  const [{ id, digest } = { id: '', digest: '' }] = waiting?.approvals ?? [];
  await host.send('o-5', { type: 'approval.given', id, digest, decision: 'approve', by: 'Ada' } as never);
  const spans = await spansOf(host.journals.read('o-5'), { content: true });
  expect(tableOf(spans)).toBe('invoke_workflow order 0–61000\n  approval 1000–61000');
  expect(spans[1]?.attributes).toMatchObject({ 'postchain.decision': 'approve', 'postchain.by': 'Ada' });
  const parked = await spansOf(actor.entries);
  expect(parked.map(({ attributes, status }) => [attributes['postchain.status'], status.code])).toEqual([
    ['waiting', 0],
  ]);
  const [, , , waitingFor, resumed] = eventsOf(spans[0]);
  expect([waitingFor?.['postchain.questions'], resumed?.['name']]).toEqual([['"A7"'], 'postchain.resumed']);
});

const Item = z.object({ name: z.string() });

it('attempts and tools of any machine are chat and execute_tool spans below the machine that makes them', async () => {
  const model = scriptedModel({ item: [{ reply: { name: 1 } }, { reply: { name: 'a chair' } }] });
  const extract = createAttempt({ model, schema: Item, name: 'item' });
  const start = { type: 'capability-start', id: null, capability: 'weather', index: 0 } as const;
  const result = {
    ...{ capability: 'weather', arguments: { city: 'Rome' }, success: true, code: null, output: 'sunny', error: null },
    ...{ sessionId: null, synthesized: false, startedAtMs: null, durationMs: 0 },
  };
  const machine = setup({
    actors: {
      extract: extract.machine,
      tools: setup({ actors: { executeCapability: fromPromise(async () => 'sunny') } }).createMachine({
        id: 'action',
        initial: 'running',
        states: {
          running: {
            entry: emit(start),
            invoke: { src: 'executeCapability', onDone: 'ended' },
            exit: emit({ type: 'capability-end', index: 0, result } as { type: string }),
          },
          ended: { type: 'final' },
        },
      }),
    },
  }).createMachine({
    id: 'shop',
    initial: 'reading',
    states: {
      reading: { invoke: { src: 'extract', id: 'extract', input: extract.input('A chair?'), onDone: 'asking' } },
      asking: { invoke: { src: 'tools', id: 'tools', onDone: 'ended' } },
      ended: { type: 'final' },
    },
  });
  const journals = memoryJournals();
  const host = createDurableMachine(machine, { journals });
  const actor = host.start('s-1');
  const live = memoryTelemetry();
  const traced = traceRun(journals.follow('s-1'), { ...live.options, models: ['openai:gpt-4.1'] });
  await actor.output;
  await traced;
  const tree = tableOf(live.spans()).replace(/ [\d.]+–[\d.]+/gu, '');
  expect(tree.split('\n')).toEqual([
    'invoke_workflow shop',
    '  attempt',
    '    chat gpt-4.1 ! invalid_reply',
    '    chat gpt-4.1',
    '  action',
    '    execute_tool weather',
  ]);
  expect(spanNamed(live.spans(), 'chat gpt-4.1')?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'postchain.task': 'item',
    'postchain.failure.stage': 'schema',
  });
  // A note that only has the type of a piece of text is not part of a reply.
  const entries = actor.entries.flatMap((entry) => {
    const { type, attemptId } = entry.type === 'emitted' ? Object(entry.event) : { type: null, attemptId: null };
    const note = { type: 'text-delta', attemptId, text: { of: 'another product' } };
    return type === 'attempt-end'
      ? [{ seq: entry.seq, atMs: entry.atMs, type: 'note', note } as const, entry]
      : [entry];
  });
  const replies = (await spansOf(entries, { content: true })).filter(({ name }) => name === 'chat');
  expect(replies.map(({ attributes }) => attributes['gen_ai.output.messages'])).toEqual([
    expect.stringMatching(/name(?!.*Object)/u),
    expect.stringMatching(/a chair(?!.*Object)/u),
  ]);
  expect(replies[1]?.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThanOrEqual(0);
  expect(spanNamed(live.spans(), 'execute_tool weather')?.attributes['gen_ai.tool.call.arguments']).toBeUndefined();
  const measured = (await live.measured()).map(({ attributes }) => attributes['gen_ai.operation.name']);
  expect(new Set(measured)).toEqual(new Set(['chat', 'execute_tool', 'invoke_workflow']));
  expect(tableOf(await spansOf(journals.read('s-1'), { models: ['openai:gpt-4.1'] }))).toBe(tableOf(live.spans()));
  expect(await treeOf(actor.entries)).toContain('\n    chat\n');
});

it('an event of a machine that only has the name of an attempt event is an event', async () => {
  const machine = setup({}).createMachine({ id: 'own', entry: emit({ type: 'attempt-start' }) });
  const actor = await createDurableMachine(machine, { journals: memoryJournals() }).open('e-1');
  const [root] = await spansOf(actor.entries);
  expect(eventsOf(root)).toEqual([{ name: 'postchain.emitted', 'postchain.event': 'attempt-start' }]);
  await actor.close();
});

it('a journal that ends before its actor ends the open spans with an error', async () => {
  const actor = await opened('o-6');
  await actor.send({ type: 'hang' });
  const tree = await treeOf(actor.entries);
  expect(tree).toBe('invoke_workflow order ! journal_cut_off\n  hang ! journal_cut_off');
  await actor.close();
});

it.each(Object.keys(scenarios))(
  'every entry of the machine %s becomes part of ended spans below one root',
  async (name) => {
    const { entries } = await runScenario(scenarios[name] as Scenario, { life: 7 });
    const errors: unknown[] = [];
    const { options, spans } = memoryTelemetry();
    diag.setLogger({ error: (...all: unknown[]) => errors.push(all) } as never);
    await traceRun(entries, options);
    diag.disable();
    expect(errors).toEqual([]);
    const ids = new Set(spans().map((span) => span.spanContext().spanId));
    const roots = spans().filter((span) => !ids.has(span.parentSpanContext?.spanId ?? ''));
    expect(roots.map((root) => root.name.split(' ')[0])).toEqual(['invoke_workflow']);
    const started = entries.flatMap((entry) => (entry.type === 'activity-start' ? [entry.source] : []));
    const named = spans().flatMap((span) => (started.includes(span.name) ? [span.name] : []));
    expect(named.toSorted()).toEqual(started.toSorted());
    for (const span of spans()) expect(millis(span.endTime)).toBeGreaterThanOrEqual(millis(span.startTime));
  },
);

it('a damaged entry ends the spans with `invalid_journal`, and one of an unknown type is skipped', async () => {
  const [start] = (await opened('o-9')).entries;
  const traced = (entry: object) => spansOf([start, { seq: 1, atMs: 1, ...entry }] as never);
  for (const type of ['constructor', '__proto__', '__defineGetter__']) expect(await traced({ type })).toHaveLength(1);
  for (const entry of [
    { type: 'closed', waiting: null },
    { type: 'delivery', actor: '', event: null },
    { type: 'effect' },
    { type: 'failed', actor: '/a', error: { value: { message: { toString: 1 } } } },
  ])
    await expect(traced(entry)).rejects.toMatchObject({
      code: 'invalid_journal',
      message: expect.stringContaining('entry 1'),
    });
  await expect(spansOf([{ ...start, machine: null }] as never)).rejects.toMatchObject({ code: 'invalid_journal' });
});

it('of many model calls at the same time, each is traced without looking at all others', async () => {
  const [start] = (await opened('o-10')).entries;
  /** Returns how many members of sets and maps are visited for that many calls. */
  async function visitsFor(calls: number): Promise<number> {
    const ids = Array.from({ length: calls }, (_, at) => `a${at}`);
    const entries = ids.map((attemptId) => ({
      type: 'emitted',
      actor: `/${attemptId}`,
      event: { type: 'attempt-start', attemptId, task: 'value', attempt: 1, model: 0 },
    }));
    const texts = ids.map((attemptId) => ({ type: 'note', note: { type: 'text-delta', attemptId, text: 'a' } }));
    const ends = ids.map((attemptId) => ({ type: 'failed', actor: `/${attemptId}`, error: null }));
    const journal = [...entries, ...texts, ...ends].map((entry, at) => ({ ...entry, seq: at + 1, atMs: 1 }));
    const spies = [new Set().values(), new Map().values()].map((each) => vi.spyOn(Object.getPrototypeOf(each), 'next'));
    await traceRun([start, ...journal] as never, memoryTelemetry().options);
    const visits = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    for (const spy of spies) spy.mockRestore();
    return visits;
  }
  expect((await visitsFor(400)) / (await visitsFor(200))).toBeLessThan(2.5);
});

it('an actor that was retried after its end has another span from then on', async () => {
  let calls = 0;
  const machine = setup({
    actors: {
      pay: fromPromise(async () => {
        calls += 1;
        if (calls === 1) throw new Error('card refused');
      }),
    },
  }).createMachine({
    id: 'retried',
    initial: 'paying',
    states: { paying: { invoke: { src: 'pay', onDone: 'paid' } }, paid: { type: 'final' } },
  });
  const journals = memoryJournals();
  const host = createDurableMachine(machine, { journals, logger: () => {} });
  await expect((await host.open('o')).output).rejects.toThrow();
  await host.retry('o');
  const spans = await spansOf(journals.read('o'), { workflow: 'orders' });
  const roots = spans.filter(({ name }) => name === 'invoke_workflow orders');
  expect(roots.map(({ attributes, status }) => [attributes['postchain.status'], status.code])).toEqual([
    ['error', SpanStatusCode.ERROR],
    ['done', SpanStatusCode.UNSET],
  ]);
  expect(eventsOf(roots[1]).map(({ name }) => name)).toContain('postchain.retried');
});
