import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { createPostChain, type Run } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/entries/testing.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';

describe('the token budget of a run', () => {
  it('allows no correction that does not fit [promise 2]', async () => {
    const usage = { inputTokens: 900, outputTokens: 100, estimated: false };
    const model = scriptedModel(() => ({ text: 'no JSON', usage }));
    const limits = { maxTokens: 1_000, maxCorrections: 20, synthesisReserveTokens: 0 };
    const { metadata } = await createPostChain({ model, limits }).run({ request: 'Is it so?' }).answer;
    expect(metadata.usage).toMatchObject({ modelCalls: 1, inputTokens: 900, outputTokens: 100 });
  });

  it.each([
    ['while a capability runs, when the user cancels', z.object({}), (run: Run) => run.cancel()],
    ['while a capability runs, when the actor is stopped', z.object({}), (run: Run) => run.actor.stop()],
    [
      'while arguments are validated',
      z.object({}).refine(() => new Promise<boolean>(() => {})),
      (run: Run) => run.cancel(),
    ],
  ])('[A11] counts the usage that the model reported %s', async (_, schema, stop) => {
    const hang = defineCapability({
      name: 'hang',
      description: 'It never ends.',
      arguments: schema,
      execute: () => new Promise(() => {}),
    });
    const usage = { inputTokens: 500, outputTokens: 50, estimated: false };
    const reply = { ...replies.action, calls: [{ capability: 'hang', arguments: '{}' }] };
    const { run } = startScripted({ action: { reply, usage } }, { capabilities: [hang] });
    await settle(100);
    stop(run);
    const { metadata } = await run.answer;
    expect(metadata.usage).toMatchObject({ modelCalls: 1, inputTokens: 500, outputTokens: 50, estimated: false });
  });

  it('[A11] counts a reply that was still being validated when the run was stopped', async () => {
    let release = (): void => {};
    const waiting = new Promise<boolean>((resolve) => {
      release = () => resolve(true);
    });
    const action = { ...prompts.action, output: z.looseObject({}).refine(() => waiting) };
    const usage = { inputTokens: 500, outputTokens: 50, estimated: false };
    const { run } = startScripted({ action: { reply: replies.action, usage } }, { prompts: { action } });
    await settle();
    run.cancel();
    const { metadata } = await run.answer;
    release();
    expect(metadata.usage).toMatchObject({ modelCalls: 1, inputTokens: 500, outputTokens: 50 });
  });
});
