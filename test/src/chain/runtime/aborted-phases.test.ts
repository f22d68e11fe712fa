import { describe, expect, it } from 'vitest';
import { entriesOf, settle, startScripted } from '../../../support/run-chain.ts';

/** Starts a run whose second phase never gets a reply, and waits for that phase. */
async function startHanging(limits: { readonly totalMs?: number } = {}) {
  const scripted = startScripted({ experience: { hang: true } }, { limits: { phaseMs: 60_000, ...limits } });
  await settle(100);
  return scripted;
}

describe('an aborted phase', () => {
  it.each([
    ['the user cancels the run', { type: 'run.cancelled' }, 'the run was canceled'],
    ['the host interrupts the run', { type: 'run.interrupted' }, 'the run was interrupted'],
    ['the user finishes the run', { type: 'run.finished' }, 'the run was finished'],
    ['the user directs the run elsewhere', { type: 'run.directed', phase: 'yield' }, 'the run was directed elsewhere'],
  ] as const)('[Y8] ends with an entry that states the reason when %s', async (_, event, reason) => {
    const { run } = await startHanging();
    run.send(event);
    await run.answer;
    const [, end] = entriesOf(run, 'phase-end');
    expect(end).toMatchObject({ phase: 'experience', cycle: 1, step: 2, summary: '' });
    expect(end?.failure).toMatchObject({ stage: 'aborted', code: 'aborted' });
    expect(end?.failure?.message).toContain(reason);
    expectEachPhaseToEnd(run);
  });

  it('[C8] ends with an entry when the run reaches its deadline', async () => {
    const { run, clock } = await startHanging({ totalMs: 5_000 });
    clock.increment(5_000);
    await run.answer;
    expect(entriesOf(run, 'phase-end').at(-1)?.failure?.message).toContain('the run reached its deadline');
    expectEachPhaseToEnd(run);
  });
});

function expectEachPhaseToEnd(run: Awaited<ReturnType<typeof startHanging>>['run']): void {
  const steps = (type: 'phase-start' | 'phase-end') =>
    entriesOf(run, type).map(({ phase, step }) => `${step} ${phase}`);
  expect(steps('phase-end')).toEqual(steps('phase-start'));
}
