import { describe, expect, it } from 'vitest';
import { PROMPT_NAMES } from '../../../../machines/contracts/phase.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { entriesOf, startScripted } from '../../../support/run-chain.ts';

const { intention } = prompts;

describe('the journal', () => {
  it('[E8] starts with the versions of the prompts used for the run, including user-defined ones', async () => {
    const mine = { ...intention, version: 7, system: () => 'In my words.' };
    const { run } = startScripted({}, { prompts: { intention: mine } });
    const [start] = entriesOf(run, 'run-start');
    expect(Object.keys(start?.prompts ?? {})).toEqual([...PROMPT_NAMES]);
    expect(start?.prompts['action']).toEqual({ name: 'action', version: prompts.action.version });
    expect(start?.prompts['intention']).toEqual({ name: 'intention', version: 7, isOwn: true });
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
});
