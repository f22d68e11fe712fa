import { describe, expect, it } from 'vitest';
import { scriptedChain } from '../../../support/run-chain.ts';

describe('the runs of a chain', () => {
  it('share one machine, which is provided once', async () => {
    const { chain } = scriptedChain();
    const [one, other] = [chain.run({ request: 'Is it so?' }), chain.run({ request: 'Is it so?' })];
    expect(one.actor.getSnapshot().machine).toBe(other.actor.getSnapshot().machine);
    await Promise.all([one.answer, other.answer]);
  });
});
