import { expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';

it('reports nothing of a reply that was still being validated when the run was stopped', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  let release = (): void => {};
  const waiting = new Promise<boolean>((resolve) => {
    release = () => resolve(true);
  });
  const action = { ...prompts.action, output: z.looseObject({}).refine(() => waiting) };
  const { run } = startScripted({ action: { ...replies.action, response: '\u001b[2J' } }, { prompts: { action } });
  await settle();
  run.cancel();
  await run.answer;
  release();
  await settle();
  expect(warn).not.toHaveBeenCalled();
});
