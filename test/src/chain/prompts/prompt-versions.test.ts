import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PROMPT_NAMES } from '../../../../machines/contracts/phase.ts';
import { promptDigest, promptVersions } from '../../../../src/chain/prompts/describe-prompt.ts';
import type { Prompt } from '../../../../src/chain/prompts/prompt.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { sampleInputs } from '../../../../src/chain/prompts/sample-inputs.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { entriesOf, startScripted } from '../../../support/run-chain.ts';

const { intention } = prompts;

describe('sample inputs', () => {
  it.each(PROMPT_NAMES)('[E8] %s: fit only their own prompt', (task) => {
    expect(z.safeParse(prompts[task].input, sampleInputs[task]).error?.message).toBeUndefined();
    for (const other of PROMPT_NAMES)
      if (other !== task) expect(z.safeParse(prompts[task].input, sampleInputs[other]).success).toBe(false);
  });

  it.each(PROMPT_NAMES)('%s: fill every part of a template', (task) => {
    const { system, user, task: end = () => '' } = prompts[task] as Prompt<unknown>;
    const said = [system, user, end].map((template) => template(sampleInputs[task])).join('\n');
    expect(said).not.toMatch(/undefined|\[object|\(none\)|\(nothing/);
  });
});

describe('the digest of a prompt', () => {
  it('[E8] depends only on the text, not on the code that builds it', () => {
    const again = { ...intention, task: (input: never) => [intention.task?.(input)].join('') };
    expect(promptDigest(again)).toBe(promptDigest(intention));
    expect(promptDigest(intention)).toMatch(/^[0-9a-f]{8}$/);
  });

  it.each([
    ['system', { system: () => 'Other words.' }],
    ['user', { user: () => 'Other words.' }],
    ['task', { task: () => 'Other words.' }],
    ['reply', { output: z.object({ goal: z.string() }) }],
  ])('changes with its %s, even if the version was not raised', (_, changes) => {
    expect(promptDigest({ ...intention, ...changes })).not.toBe(promptDigest(intention));
  });

  it.each<[string, Partial<Prompt>]>([
    ['that rejects the sample input', { input: z.object({ mine: z.string() }) }],
    [
      'that throws',
      {
        user: () => {
          throw new Error('no');
        },
      },
    ],
  ])('is null for a prompt %s', (_, changes) => {
    expect(promptDigest({ ...intention, ...changes })).toBeNull();
  });

  it('is unique among the prompts of the product', () => {
    expect(new Set(PROMPT_NAMES.map((task) => promptDigest(prompts[task]))).size).toBe(PROMPT_NAMES.length);
  });
});

describe('the journal', () => {
  it('[E8] starts with the prompts used for the run, including user-defined ones', async () => {
    const mine = { ...intention, version: 7, system: () => 'In my words.' };
    const { run } = startScripted({}, { prompts: { intention: mine } });
    const [start] = entriesOf(run, 'run-start');
    expect(start?.prompts).toEqual(promptVersions({ ...prompts, intention: mine }));
    expect(start?.prompts['intention']).toEqual({ name: 'intention', version: 7, digest: promptDigest(mine) });
    expect(Object.keys(start?.prompts ?? {})).toEqual([...PROMPT_NAMES]);
    await run.answer;
  });

  it.each([undefined, Number.NaN, '2', 1.5])(
    'rejects a prompt with the version %j before anything starts',
    (version) => {
      const mine = { ...intention, version } as typeof intention;
      expect(() => createPostChain({ prompts: { intention: mine } })).toThrow(
        /prompts\.intention: expected a prompt of definePrompt.*; received /,
      );
    },
  );

  it('tolerates a prompt that throws for the sample', async () => {
    const user = (input: { readonly runId: string }): string => {
      if (input.runId !== 'run-1') throw new Error('not mine');
      return 'Well?';
    };
    const { run, model } = startScripted({}, { prompts: { intention: { ...intention, task: undefined, user } } });
    expect((await run.answer).status).toBe('completed');
    expect(model.calls.find(({ task }) => task === 'intention')?.turns[1]?.content).toBe('Well?');
    expect(entriesOf(run, 'run-start')[0]?.prompts['intention']?.digest).toBeNull();
  });
});
