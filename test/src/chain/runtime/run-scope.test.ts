import { describe, expect, it } from 'vitest';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { entriesOf, scriptedChain } from '../../../support/run-chain.ts';

describe('the runs of a chain', () => {
  it('share one machine, which is provided once', async () => {
    const { chain } = scriptedChain();
    const [one, other] = [chain.run({ request: 'Is it so?' }), chain.run({ request: 'Is it so?' })];
    expect(one.actor.getSnapshot().machine).toBe(other.actor.getSnapshot().machine);
    await Promise.all([one.answer, other.answer]);
  });

  it('record their own guards and events, even if one starts while another handles an event', async () => {
    const alone = scriptedChain().chain.run({ request: 'Is it so?' });
    await alone.answer;
    const { chain } = scriptedChain();
    const outer = chain.run({ request: 'Is it so?' });
    const inner: (typeof outer)[] = [];
    outer.actor.on('*', () => {
      if (inner.length < 12) inner.push(chain.run({ request: 'Is it so?' }));
    });
    await outer.answer;
    await Promise.all(inner.map(({ answer }) => answer));
    expect(inner).toHaveLength(12);
    for (const run of [outer, ...inner]) {
      expect(entriesOf(run, 'transition')).toEqual(entriesOf(alone, 'transition'));
      expect(replay(run.journal).divergence).toBeNull();
    }
  });

  it('record no guard that is evaluated outside them', async () => {
    const { chain } = scriptedChain();
    const run = chain.run({ request: 'Is it so?' });
    expect(run.actor.getSnapshot().can({ type: 'run.directed', phase: 'yield' })).toBe(true);
    await run.answer;
    expect(replay(run.journal).divergence).toBeNull();
  });
});
