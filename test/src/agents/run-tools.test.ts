import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import * as z from 'zod';
import { type Capability, defineCapability, type RunToolsOptions, runTools } from '../../../src/entries/agents.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import {
  always,
  explore,
  findingsOf,
  type ScriptedReply,
  scriptedModel,
  settle,
  soundness,
} from '../../../src/entries/testing.ts';
import { chartAround, endsOf } from '../../support/agent-charts.ts';
import { sampleSize } from '../../support/soak.ts';

const call = (tool: string, args: object) => ({ tool, arguments: JSON.stringify(args) });
const asks = (...calls: readonly object[]) => ({ answer: null, calls });

function toolsOf(ran: string[]): readonly Capability[] {
  return [
    defineCapability({
      name: 'stock',
      description: 'Returns how many units are in stock.',
      arguments: z.object({ article: z.string() }),
      execute: ({ article }) => {
        ran.push(`stock ${article}`);
        if (article === 'unknown') throw new Error('There is no such article.');
        return '3';
      },
    }),
    defineCapability({
      name: 'reserve',
      description: 'Reserves units.',
      approval: 'always',
      arguments: z.object({ article: z.string(), count: z.int() }),
      execute: ({ article, count }) => {
        ran.push(`reserve ${count} ${article}`);
        return `reserved ${count}`;
      },
    }),
  ];
}

type Limits = RunToolsOptions<string, never>['limits'];

/** The replies are those of each run of the chart. */
function agentOf(replies: readonly ScriptedReply[], ran: string[] = [], limits: Limits = {}) {
  const model = scriptedModel({ agent: replies });
  const agent = runTools({
    model,
    name: 'agent',
    tools: toolsOf(ran),
    limits,
    policy: { backoffBaseMs: 0 },
    prompt: (mail: string) => `Mail: ${mail}`,
  });
  return { machine: chartAround(agent), model };
}

interface Answered {
  readonly output: {
    readonly rounds: readonly { readonly calls: readonly { readonly code: string; readonly arguments: string }[] }[];
  };
}

const end = (replies: readonly ScriptedReply[], limits?: Limits) =>
  endsOf(() => agentOf(replies, [], limits).machine, 'Is the coat in stock?');

describe('runTools', () => {
  it('answers without a tool', async () => {
    expect(await end([{ answer: 'Yes.', calls: [] }])).toMatchObject({
      value: 'done',
      output: { answer: 'Yes.', rounds: [], stopReason: 'answered' },
    });
  });

  it('runs the calls of a reply, shows their results to the model, and takes prose as the answer', async () => {
    const { machine, model } = agentOf([asks(call('stock', { article: 'coat' })), { text: 'Three are left.' }]);
    const actor = createActor(machine, { input: 'Coats?' }).start();
    await settle();
    expect(actor.getSnapshot().context.output).toMatchObject({
      answer: 'Three are left.',
      rounds: [{ calls: [{ tool: 'stock', success: true, output: '3', code: null }] }],
    });
    expect(model.calls[1]?.turns.at(-1)?.content).toContain('"output":"3"');
  });

  it('gives the model what was wrong with a call: a tool that throws, invalid arguments, an unknown tool', async () => {
    const calls = [call('stock', { article: 'unknown' }), call('stock', { item: 1 }), call('none', {})];
    const { output } = (await end([asks(...calls), { answer: 'Sorry.', calls: [] }])) as Answered;
    expect(output.rounds[0]?.calls.map(({ code }) => code)).toEqual([
      'threw',
      'arguments_misfit',
      'unknown_capability',
    ]);
  });

  it.each([
    [true, { toolCall: { article: 'coat' }, name: 'stock', text: 'I look.' }, { text: 'Three.' }, ['I look.']],
    [false, asks(call('stock', { article: 'coat' })), { answer: 'Three.', calls: [] }, []],
  ])('gives the answer received so far (native tools: %s)', async (nativeTools, first, last, before) => {
    const values: unknown[] = [];
    const model = scriptedModel({ agent: [first, last] }, { nativeTools, chunkChars: 100 });
    const onPartial = ({ value }: { readonly value: string }) => values.push(value);
    const agent = runTools({ model, name: 'agent', tools: toolsOf([]), onPartial });
    createActor(chartAround(agent), { input: 'Coats?' }).start();
    await settle();
    expect([...new Set(values)]).toEqual([...before, 'Three.']);
  });

  it('uses native tool calls with a model that has them, and takes its text as the answer', async () => {
    const { machine, model } = agentOf([
      { toolCall: { article: 'coat' }, name: 'stock', text: 'I look.' },
      { text: '{"left":3}' },
    ]);
    Object.assign(model, { nativeTools: true });
    const actor = createActor(machine, { input: 'Coats?' }).start();
    await settle();
    expect(actor.getSnapshot().context.output).toMatchObject({ answer: '{"left":3}' });
    expect(model.calls[0]).toMatchObject({
      turns: [{ role: 'user', content: 'Mail: Coats?' }],
      outputSchema: {},
      replyForm: 'prose',
      tools: [{ name: 'reserve' }, { name: 'stock' }],
    });
    expect(model.calls[1]?.turns.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'I look.', toolCalls: [{ name: 'stock' }] },
      { role: 'tool', content: '3', toolResult: { name: 'stock', isError: false } },
    ]);
  });

  it.each([
    ['a list', '[{"tool":"stock","arguments":{"article":"coat"}}]'],
    ['one', 'I look. ```json\n{"name":"stock","arguments":{"article":"coat"}}\n```'],
    ['the form of a template', '<function=stock><parameter=article>coat</parameter></function>'],
  ])('finds calls that a model with native tools writes into its text: %s', async (_, text) => {
    const ran: string[] = [];
    const { machine, model } = agentOf([{ text }, { text: 'Three.' }], ran);
    Object.assign(model, { nativeTools: true });
    const actor = createActor(machine, { input: 'Coats?' }).start();
    await settle();
    expect(ran).toEqual(['stock coat']);
    expect(actor.getSnapshot().context.output).toMatchObject({ answer: 'Three.', rounds: [{}] });
  });

  it('asks for text alone when no tool may run any more', async () => {
    const { machine, model } = agentOf([{ toolCall: { article: 'coat' }, name: 'stock' }, { text: 'Three.' }], [], {
      maxRounds: 1,
    });
    Object.assign(model, { nativeTools: true });
    const actor = createActor(machine, { input: 'Coats?' }).start();
    await settle();
    expect(actor.getSnapshot().context.output).toMatchObject({ answer: 'Three.', stopReason: 'rounds_ended' });
    expect(model.calls[1]).toMatchObject({ outputSchema: {}, replyForm: 'prose', turns: [{ role: 'user' }] });
    expect(model.calls[1]?.turns[0]?.content).toContain('No tool can run any more.');
    expect(model.calls[1]).not.toHaveProperty('tools');
  });

  it('corrects an empty reply and a call of an unknown tool, also with native tools', async () => {
    const { machine, model } = agentOf([{ text: '' }, { toolCall: {}, name: 'none' }, { text: 'Three.' }]);
    Object.assign(model, { nativeTools: true });
    const actor = createActor(machine, { input: 'Coats?' }).start();
    await settle();
    expect(actor.getSnapshot().context.output).toMatchObject({ answer: 'Three.', rounds: [] });
    expect(model.calls.map(({ turns }) => turns.at(-1)?.content)).toEqual([
      'Mail: Coats?',
      expect.stringContaining('The reply is empty'),
      expect.stringContaining('calls “none”, which is not an available tool; expected a call of reserve, stock'),
    ]);
  });

  it('asks for JSON without native tools, and for an answer with a schema', async () => {
    const schema = z.object({ left: z.int() });
    const answered = { answer: { left: 3 }, calls: [] };
    const native = scriptedModel({ agent: always(answered) }, { nativeTools: true });
    const agent = runTools({ model: native, name: 'agent', tools: toolsOf([]), schema });
    expect(await endsOf(() => chartAround(agent), 'Coats?')).toMatchObject({ output: { answer: { left: 3 } } });
    const { machine, model } = agentOf([{ answer: 'Three.', calls: [] }]);
    createActor(machine, { input: 'Coats?' }).start();
    await settle();
    for (const call of [native.calls[0], model.calls[0]])
      expect(call).toMatchObject({ replyForm: 'text', outputSchema: { required: ['answer', 'calls'] } });
  });

  it('asks a fallback model in the form that this model supports', async () => {
    const failure = { failure: { retryable: false } };
    for (const nativeTools of [true, false]) {
      const model = scriptedModel({ agent: [failure] }, { nativeTools });
      const other = scriptedModel({ agent: [{ text: 'Three.' }] }, { nativeTools: !nativeTools });
      const policy = { fallbackModels: [other] };
      const agent = runTools({ model, name: 'agent', tools: toolsOf([]), policy });
      const actor = createActor(chartAround(agent), { input: 'Coats?' }).start();
      await settle();
      expect(actor.getSnapshot().context.output).toMatchObject({ answer: 'Three.' });
      const forms = [model, other].map(({ calls }) => calls[0]?.replyForm);
      expect(forms).toEqual(nativeTools ? ['prose', 'text'] : ['text', 'prose']);
    }
  });

  it('starts at most so many calls of a round at the same time, and keeps their order', async () => {
    const articles = Array.from({ length: 7 }, (_, at) => ({ article: `a${at}` }));
    const { output } = (await end([asks(...articles.map((one) => call('stock', one))), { answer: 'ok', calls: [] }], {
      maxParallelCalls: 2,
    })) as Answered;
    expect(output.rounds[0]?.calls.map((one) => JSON.parse(one.arguments))).toEqual(articles);
  });

  it('tells the model to answer after its rounds, and when it only repeats its calls', async () => {
    const same = asks(call('stock', { article: 'coat' }));
    const other = asks(call('stock', { article: 'hat' }));
    const answer = { answer: 'Enough.', calls: [] };
    expect(await end([same, other, answer], { maxRounds: 2 })).toMatchObject({
      output: { answer: 'Enough.', stopReason: 'rounds_ended' },
    });
    expect(await end([same, same, same, answer], { maxSameCalls: 2 })).toMatchObject({
      output: { stopReason: 'same_calls_repeated', rounds: [{}, {}] },
    });
  });

  it.each([
    ['approved', { decision: 'approve' }, ['stock coat', 'reserve 2 coat'], 'reserved 2'],
    ['denied', { decision: 'deny', reason: 'too many' }, ['stock coat'], 'A person denied this call: too many.'],
    [
      'changed',
      { decision: 'approve', edited: { tool: 'reserve', arguments: { article: 'coat', count: 1 } } },
      ['stock coat', 'reserve 1 coat'],
      'A person changed the arguments to {"article":"coat","count":1}.\nreserved 1',
    ],
  ])('runs a tool that needs approval only after its answer: %s', async (_, answer, expected, output) => {
    const ran: string[] = [];
    const calls = [call('reserve', { article: 'coat', count: 2 }), call('stock', { article: 'coat' })];
    const { machine } = agentOf([asks(...calls), { answer: 'ok', calls: [] }], ran);
    const host = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} });
    const actor = host.start('a', { input: 'x' as never });
    await settle();
    expect(ran).toEqual(['stock coat']);
    const [open] = actor.pending.approvals;
    expect(open?.question).toEqual({ tool: 'reserve', arguments: { article: 'coat', count: 2 } });
    await actor.send({ type: 'approval.given', id: open?.id, digest: open?.digest, ...answer } as never);
    await settle();
    expect(ran).toEqual(expected);
    expect(actor.getSnapshot().context.output.rounds[0].calls[0].output).toBe(output);
    expect((await host.replay('a')).divergence).toBeNull();
  });

  it('asks again if changed arguments are invalid or for another tool', async () => {
    const ran: string[] = [];
    const { machine } = agentOf([asks(call('reserve', { article: 'coat', count: 2 })), { answer: 'ok' }], ran);
    const host = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} });
    const actor = host.start('a', { input: 'x' as never });
    for (const edited of [{ tool: 'stock', arguments: { article: 'x' } }, { tool: 'reserve', arguments: {} }, 7]) {
      await settle();
      const [open] = actor.pending.approvals;
      await actor.send({
        type: 'approval.given',
        id: open?.id,
        digest: open?.digest,
        decision: 'approve',
        edited,
      } as never);
    }
    await settle();
    expect([ran, actor.pending.approvals.length]).toEqual([[], 1]);
  });

  it('ends whatever a model replies: with an answer or an error, and with no tool that was not called', async () => {
    const reply = fc.oneof(
      fc.constant(asks(call('stock', { article: 'coat' }))),
      fc.constant(asks(call('stock', { article: 'unknown' }), call('stock', { article: 'unknown' }))),
      fc.record({ answer: fc.jsonValue(), calls: fc.jsonValue() }),
      fc.record({ text: fc.string() }),
      fc.constant({ failure: { code: 'refused', retryable: false } }),
      fc.constant({ reply: { answer: 'ok', calls: [] }, cut: 5 }),
      fc.constant({ toolCall: '{"article":', name: 'stock' }),
      fc.constant({ answer: 'ok', calls: [] }),
    ) as fc.Arbitrary<ScriptedReply>;
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { maxLength: 6 }), fc.boolean(), async (replies, nativeTools) => {
        const ran: string[] = [];
        const { machine, model } = agentOf(replies, ran, { maxRounds: 3 });
        Object.assign(model, { nativeTools });
        const host = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} });
        const actor = host.start('a', { input: 'x' as never });
        await settle(200);
        expect(['done', 'failed']).toContain(actor.getSnapshot().value);
        expect(ran.every((one) => one.startsWith('stock'))).toBe(true);
        expect((await host.replay('a')).divergence).toBeNull();
      }),
      { numRuns: sampleSize('replies of any model', 25, 400) },
    );
  });

  it('is explored without outcomes', () => {
    const explored = explore(agentOf([]).machine, { events: [{ type: 'LEAVE' }], inputs: ['x'] });
    expect(findingsOf(explored, soundness).filter(({ witness }) => witness !== null)).toEqual([]);
  });

  it('refuses tools with the same name, and no tools', () => {
    const model = scriptedModel({});
    const [stock] = toolsOf([]);
    const refused = (tools: readonly unknown[]) => () => runTools({ model, tools: tools as never });
    expect(refused([stock, stock])).toThrow(expect.objectContaining({ code: 'duplicate_capability' }));
    expect(refused([])).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});
