import { describe, expect, it } from 'vitest';
import { createInbox } from '../../../../src/engine/runtime/durable-actor.ts';
import { replay } from '../../../../src/journal/replay.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, phasesOf, rulesOf, startScripted } from '../../../support/run-chain.ts';

describe('what comes to a run', () => {
  it('while something is taken in waits until that is done, in its order', () => {
    const taken: string[] = [];
    const inbox = createInbox<string>((item) => {
      taken.push(`${item} begins`);
      if (item === 'a') for (const other of ['b', 'c']) inbox.push(other);
      taken.push(`${item} ends`);
    });
    inbox.push('a');
    expect(taken).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('after something that broke is taken in all the same', () => {
    const taken: string[] = [];
    const inbox = createInbox<string>((item) => {
      if (item === 'bad') throw new Error('broken');
      taken.push(item);
    });
    expect(() => inbox.push('bad')).toThrow('broken');
    inbox.push('good');
    expect(taken).toEqual(['good']);
  });

  it('[promise 6] from a listener, in the middle of a step, is written behind that step: it replays', async () => {
    const { run } = startScripted();
    run.actor.on('phase-start', ({ phase }) => {
      if (phase === 'intention') run.send({ type: 'run.directed', phase: 'yield' });
    });
    await run.answer;
    expect(phasesOf(run)).toEqual(['action', 'experience', 'intention', 'yield']);
    expect(replay(JSON.parse(JSON.stringify(run.journal))).divergence).toBeNull();
  });

  it('[promise 6] by way of the actor is written too, and what is no event of a run is refused', async () => {
    const { run } = startScripted();
    run.actor.send({ type: 'run.cancelled', reason: 'enough' });
    await run.answer;
    expect(entriesOf(run, 'delivery')).toMatchObject([{ event: { type: 'run.cancelled', reason: 'enough' } }]);
    expect(() => run.actor.send({ type: 'run.danced' } as never)).toThrow(
      /event: expected one of .*; received "run\.danced"/u,
    );
    expect(replay(JSON.parse(JSON.stringify(run.journal))).divergence).toBeNull();
  });

  it('[promise 6] a run that somebody stopped replays to the same answer', async () => {
    const { run } = startScripted({ experience: { hang: true } });
    await expect.poll(() => phasesOf(run)).toEqual(['action', 'experience']);
    run.actor.stop();
    const answer = await run.answer;
    const replayed = replay(JSON.parse(JSON.stringify(run.journal)));
    expect(replayed).toMatchObject({ divergence: null, answer: JSON.parse(JSON.stringify(answer)) });
  });

  it('[Y2] other thresholds count from there on', async () => {
    const { run } = startScripted({ yield: { ...replies.yield, confidence: 0.5 } }, { limits: { maxCycles: 4 } });
    run.actor.on('phase-start', ({ phase, cycle }) => {
      if (phase === 'yield' && cycle === 1) run.send({ type: 'run.adjusted', thresholds: { confidence: 0.4 } });
    });
    await run.answer;
    expect(rulesOf(run)).toEqual(['confidenceReached']);
  });
});
