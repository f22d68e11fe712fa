import { describe, expect, it } from 'vitest';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, phasesOf, rulesOf, startScripted } from '../../../support/run-chain.ts';

describe('events sent to a run', () => {
  it('[promise 6] from a listener during a step are written after that step and can be replayed', async () => {
    const { run } = startScripted();
    run.ref.on('phase-start', ({ phase }) => {
      if (phase === 'intention') run.send({ type: 'run.directed', phase: 'yield' });
    });
    await run.answer;
    expect(phasesOf(run)).toEqual(['action', 'experience', 'intention', 'yield']);
    expect(replay(JSON.parse(JSON.stringify(run.entries))).divergence).toBeNull();
  });

  it('[promise 6] through the actor are written too, and invalid ones are rejected', async () => {
    const { run } = startScripted();
    run.ref.send({ type: 'run.cancelled', reason: 'enough' });
    await run.answer;
    expect(entriesOf(run, 'delivery')).toMatchObject([{ event: { type: 'run.cancelled', reason: 'enough' } }]);
    expect(() => run.ref.send({ type: 'run.danced' } as never)).toThrow(
      /event: expected one of .*; received "run\.danced"/u,
    );
    expect(replay(JSON.parse(JSON.stringify(run.entries))).divergence).toBeNull();
  });

  it('[promise 6] of a stopped run replay to the same answer', async () => {
    const { run } = startScripted({ experience: { hang: true } });
    await expect.poll(() => phasesOf(run)).toEqual(['action', 'experience']);
    run.ref.stop();
    const answer = await run.answer;
    const replayed = replay(JSON.parse(JSON.stringify(run.entries)));
    expect(replayed).toMatchObject({ divergence: null, answer: JSON.parse(JSON.stringify(answer)) });
  });

  it('[Y2] adjust thresholds from then on', async () => {
    const { run } = startScripted({ yield: { ...replies.yield, confidence: 0.5 } }, { limits: { maxCycles: 4 } });
    run.ref.on('phase-start', ({ phase, cycle }) => {
      if (phase === 'yield' && cycle === 1) run.send({ type: 'run.adjusted', thresholds: { confidence: 0.4 } });
    });
    await run.answer;
    expect(rulesOf(run)).toEqual(['confidenceReached']);
  });
});
