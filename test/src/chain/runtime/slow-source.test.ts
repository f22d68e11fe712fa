import { expect, it } from 'vitest';
import { phasesOf, settle, startScripted } from '../../../support/run-chain.ts';

it('[C5] a source that is repeatedly rate-limited is skipped before the phase times out', async () => {
  const search = async () => {
    throw Object.assign(new Error('slow down'), { status: 429, retryAfterMs: 50_000 });
  };
  const { run, clock } = startScripted({}, { documents: { search }, limits: { maxCycles: 1 } });
  let done = false;
  void run.answer.then(() => {
    done = true;
  });
  for (let seconds = 0; seconds < 300 && !done; seconds += 10) {
    await settle();
    clock.increment(10_000);
  }
  const { metadata } = await run.answer;
  expect(phasesOf(run).filter((phase) => phase === 'experience')).toEqual(['experience']);
  expect(metadata.missingFields).not.toContain('experience');
});
