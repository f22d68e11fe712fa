import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import { entriesOf, phasesOf, settle, startScripted } from '../../../support/run-chain.ts';

describe('deadlines per phase', () => {
  it('[C8] end each phase at its own time, and the run continues without it', async () => {
    const { run, clock } = startScripted(
      { intention: { hang: true } },
      { limits: { phaseMs: { intention: 1_000 }, firstChunkMs: 100_000, maxPhaseRetries: 0 } },
    );
    await settle();
    clock.increment(999);
    await settle();
    expect(phasesOf(run).at(-1)).toBe('intention');
    clock.increment(1);
    const { metadata } = await run.answer;
    expect(metadata.failures).toMatchObject([
      {
        phase: 'intention',
        failure: { code: 'phase_deadline', message: 'intention did not finish within 1000 ms.' },
      },
    ]);
    expect(entriesOf(run, 'run-start')[0]?.limits.phaseMs).toMatchObject({ intention: 1_000, action: 120_000 });
  });

  it('[C8] leave a phase that is not named with the default', async () => {
    const { run, clock } = startScripted(
      { action: { hang: true } },
      { limits: { phaseMs: { intention: 1_000 }, firstChunkMs: 200_000, maxPhaseRetries: 0 } },
    );
    await settle();
    clock.increment(119_999);
    await settle();
    expect(phasesOf(run)).toEqual(['action']);
    clock.increment(1);
    expect((await run.answer).metadata.failures).toMatchObject([{ failure: { code: 'phase_deadline' } }]);
  });

  it('[C8] can be adjusted during the run', async () => {
    const { run, clock } = startScripted({ action: { hang: true }, experience: { hang: true } });
    run.send({ type: 'run.adjusted', limits: { phaseMs: 500 } });
    run.send({ type: 'run.directed', phase: 'experience' });
    await settle();
    clock.increment(500);
    await settle();
    expect(entriesOf(run, 'phase-end').at(-1)?.failure?.message).toBe('experience did not finish within 500 ms.');
    run.cancel();
    await run.answer;
  });

  it.each([
    [
      { dessert: 5 },
      '.dessert: unknown option; expected one of action, experience, intention, observation, understanding, yield.',
    ],
    [{ action: 0 }, '.action: expected a number above 0; received 0.'],
    [{ yield: -5 }, '.yield: expected a number above 0; received -5.'],
    [{ yield: 'soon' }, '.yield: expected a number; received "soon".'],
    [-5, ': expected a number above 0; received -5.'],
    [3e9, ': expected a number of at most 2147483647; received 3000000000.'],
    ['soon', ': expected milliseconds, or an object with milliseconds per phase; received "soon".'],
    [null, ': expected milliseconds, or an object with milliseconds per phase; received null.'],
  ])('[C8] reject %j, and say what is expected', (phaseMs, message) => {
    const start = () => startScripted({}, { limits: { phaseMs: phaseMs as never } });
    expect(start).toThrow(new PostChainError('invalid_option', `limits.phaseMs${message}`));
  });
});
