import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { pendingApprovals } from '../../../../machines/policies/questions.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { always, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { settle } from '../../../../src/testing/settle.ts';
import type { ClientTool } from '../../../../src/tools/client-tools.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const weather: ClientTool = {
  name: 'get_weather',
  description: 'Returns the weather.',
  arguments: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};

/** A chain with the capability "pay", whose model calls these tools. */
function setUp(calls: readonly (readonly [string, string])[] = [['get_weather', '{"location":"Bergen"}']]) {
  const paid: unknown[] = [];
  const pay = {
    name: 'pay',
    description: 'Pays.',
    arguments: z.object({}),
    approval: 'always' as const,
    execute: (args: unknown) => void paid.push(args),
  };
  const model = scriptedModel(
    {
      action: always({
        reply: { ...replies.action, calls: calls.map(([capability, args]) => ({ capability, arguments: args })) },
      }),
    },
    { otherwise: replies },
  );
  const journals = memoryJournals();
  const create = (options: PostChainOptions = {}) =>
    createPostChain({ model, clock: new TestClock(), journals, capabilities: [pay], ...options });
  return { create, paid, prompts: () => model.calls.map(({ turns }) => turns.map(({ content }) => content).join()) };
}

const ask = { request: 'Do I need an umbrella?', clientTools: [weather] };

function respond(run: Run, decision: 'approve' | 'deny' | 'respond' = 'respond'): void {
  const output = decision === 'respond' && { output: 'It rains.' };
  for (const { questionId, digest, isClientTool } of pendingApprovals(run.entries))
    if (isClientTool) run.send({ type: 'approval.given', questionId, digest, decision, ...output });
}

const typesIn = (run: Run, type: string): readonly object[] => run.entries.filter((entry) => entry.type === type);

describe('a tool that only the client can run', () => {
  it('waits for its result, whoever approves other calls, and is never approved', async () => {
    for (const approve of [undefined, () => ({ decision: 'approve' as const })]) {
      const { create, paid, prompts } = setUp([
        ['pay', '{}'],
        ['get_weather', '{"location":"Bergen"}'],
      ]);
      const run = create({ ...(approve && { approve }) }).run(ask);
      await settle(200);
      expect(pendingApprovals(run.entries).filter(({ isClientTool }) => isClientTool)).toMatchObject([
        { capability: 'get_weather', arguments: { location: 'Bergen' } },
      ]);
      respond(run, 'approve');
      expect(typesIn(run, 'answer-refused')).toMatchObject([{ reason: 'client_tool' }]);
      for (const { questionId, digest, isClientTool } of pendingApprovals(run.entries))
        if (!isClientTool) run.send({ type: 'approval.given', questionId, digest, decision: 'approve' });
      await settle(200);
      expect(paid).toEqual([]);
      respond(run);
      expect((await run.answer).status).toBe('completed');
      expect(paid).toEqual([{}]);
      expect(typesIn(run, 'capability-start')).toMatchObject([{ capability: 'pay' }]);
      expect(prompts()[0]).toContain('"get_weather"');
      expect(prompts().join()).toContain('get_weather: It rains.');
      expect(replay(run.entries).divergence).toBeNull();
    }
  });

  it('may be denied, and expires like an approval', async () => {
    const { create } = setUp();
    const denied = create().run(ask);
    const clock = new TestClock();
    const late = create({ clock, limits: { approvalMs: 5_000 } }).run(ask);
    await settle(200);
    respond(denied, 'deny');
    clock.increment(5_000);
    const answers = await Promise.all([denied.answer, late.answer]);
    expect(answers.map(({ reasons }) => reasons.map(({ code }) => code))).toEqual([
      ['capability_denied'],
      ['capability_denied'],
    ]);
  });

  it.each([
    ['[1]', 'arguments_not_object'],
    ['{"place":"Bergen"}', 'arguments_misfit'],
  ])('is not asked for with the arguments %s', async (args, code) => {
    const run = setUp([['get_weather', args]])
      .create()
      .run(ask);
    await run.answer;
    expect(typesIn(run, 'approval-asked')).toEqual([]);
    expect(typesIn(run, 'capability-end')).toMatchObject([{ result: { code } }]);
  });

  it('is known to any process that resumes the run, and to forks', async () => {
    const { create, prompts } = setUp();
    const first = create().run(ask);
    await settle(200);
    expect(await first.park()).toBe(true);
    const run = await create().resume(first.id);
    respond(run);
    await run.answer;
    expect(prompts().join()).toContain('get_weather: It rains.');
    const fork = await create().fork(run.entries, { at: run.entries.length - 1 });
    expect((await fork.answer).status).toBe('completed');
    expect(typesIn(fork, 'approval-resolved')).toMatchObject([{ decision: 'responded', by: 'user' }]);
  });

  it.each<[string, unknown, string]>([
    ['the name of a capability', [{ ...weather, name: 'pay' }], 'the chain already has a capability named "pay"'],
    ['one name twice', [weather, weather], 'get_weather'],
    ['an invalid name', [{ ...weather, name: ' ' }], 'name'],
    ['a schema of a string', [{ ...weather, arguments: { type: 'string' } }], 'must be an object at the root'],
    ['no schema', [{ name: 'a', description: 'A.' }], 'arguments'],
    ['too many', Array.from({ length: 129 }, (_, at) => ({ ...weather, name: `t${at}` })), 'at most 128'],
  ])('is refused with %s', (_, clientTools, message) => {
    const { create } = setUp();
    const start = () => create().run({ ...ask, clientTools: clientTools as readonly ClientTool[] });
    expect(start).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(start).toThrow(message);
    expect(start).not.toThrow('\n');
  });
});
