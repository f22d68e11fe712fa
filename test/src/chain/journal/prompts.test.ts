import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { everyTask, plannedModel, promptsIn, scriptedChain, startScripted } from '../../../support/run-chain.ts';

/** A run in which every task is asked for, and one reply is corrected. */
async function everyPrompt(options: Parameters<typeof startScripted>[1] = {}) {
  const plan = {
    ...everyTask.plan,
    intention: (call: number) => (call === 1 ? { text: '{"goal": 3}' } : { goal: 'x' }),
  };
  const { run, model } = startScripted(plan, { ...everyTask.options, ...options }, everyTask.run);
  await run.answer;
  return { run, calls: model.calls as readonly ModelRequest[] };
}

describe('the prompts in a journal', () => {
  it.each(['text', 'tool-call', 'json-object'] as const)(
    'are exactly what the model received, for every task and correction, in the form %s',
    async (replyForm) => {
      const { run, calls } = await everyPrompt({ replyForm });
      const prompts = promptsIn(run.entries);
      expect(prompts.map(({ turns }) => turns)).toEqual(
        calls.map(({ turns }) => turns.map(({ role, content }) => ({ role, content }))),
      );
      expect(prompts.map(({ schema }) => schema)).toEqual(calls.map(({ outputSchema }) => outputSchema));
      expect(prompts.some(({ turns }) => turns.length === 4)).toBe(true);
      expect(new Set(prompts.map(({ name }) => name)).size).toBeGreaterThan(6);
    },
  );

  it('contain the tools that a model with native tool calls was offered', async () => {
    const model = { ...plannedModel(everyTask.plan), nativeTools: true };
    const run = createPostChain({ ...everyTask.options, model }).run({ request: 'Is it so?' });
    await run.answer;
    const action = promptsIn(run.entries).find(({ name }) => name === 'action');
    expect(action?.tools).toMatchObject([{ name: 'work', description: 'Works.' }]);
  });

  it('store each different part once', async () => {
    const { run } = await everyPrompt();
    const parts = run.entries.flatMap((entry) => (entry.type === 'prompt' ? Object.keys(entry.parts) : []));
    expect(new Set(parts).size).toBe(parts.length);
    const stored = JSON.stringify(run.entries.filter(({ type }) => type === 'prompt')).length;
    expect(stored).toBeLessThan(JSON.stringify(promptsIn(run.entries)).length / 2);
  });
});

describe('a fork by a chain with another model or prompt', () => {
  it('asks it, and does not reuse replies of the recorded one', async () => {
    const { run } = startScripted();
    await run.answer;
    const at = run.entries.find((entry) => entry.type === 'activity-event')?.seq ?? 0;
    const same = scriptedChain({}, { newId: () => 'same' });
    await (await same.chain.fork(run.entries, { at })).answer;
    expect(same.model.calls).toEqual([]);
    const model = { ...plannedModel({}), id: 'another' };
    const other = createPostChain({ model, profile: 'thorough', newId: () => 'other' });
    const fork = await other.fork(run.entries, { at });
    await fork.answer;
    expect(model.calls.length).toBe(promptsIn(run.entries).length);
    expect(fork.entries[0]).toMatchObject({ product: { modelId: 'another' } });
  });

  it('names the options that it keeps from the run', async () => {
    const { run } = startScripted();
    await run.answer;
    const options = {
      profile: 'lean',
      instructions: 'Be brief.',
      limits: { maxCycles: 2 },
      newId: () => 'fork',
    } as const;
    const fork = await scriptedChain({}, options).chain.fork(run.entries, { at: 1 });
    await fork.answer;
    const [start] = fork.entries;
    expect(start).toMatchObject({
      product: { fork: { changes: ['profile, instructions, limits as recorded'] } },
    });
    expect(start).not.toMatchObject({ input: { instructions: 'Be brief.' } });
  });

  it.each([
    ['another version', prompts.synthesis.version + 1],
    ['the version of the built-in one', prompts.synthesis.version],
  ])('makes the calls of a prompt of its own with %s again', async (_, version) => {
    const { run } = startScripted();
    await run.answer;
    const synthesis = { ...prompts.synthesis, version, system: () => 'In my words.' };
    const { chain, model } = scriptedChain({}, { prompts: { synthesis }, newId: () => 'forked' });
    await (await chain.fork(run.entries, { at: 1 })).answer;
    expect(model.calls.map(({ task, turns }) => [task, turns[0]?.content.startsWith('In my words.')])).toEqual([
      ['synthesis', true],
    ]);
  });
});
