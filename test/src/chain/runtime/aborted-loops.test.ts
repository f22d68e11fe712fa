import { describe, expect, it } from 'vitest';
import { replies } from '../../../../src/testing/replies.ts';
import { capabilityNamed, entriesOf, phasesOf, settle, startScripted } from '../../../support/run-chain.ts';

const step = (capability: string) => ({ capability, arguments: '{}' });

/** Two capabilities: one that books immediately and one that never ends. */
function bookThenHang(maxCycles = 1) {
  const ran: string[] = [];
  const capabilities = [
    capabilityNamed('book', () => {
      ran.push('book');
      return 'booked';
    }),
    capabilityNamed('hang', (_, { signal }) => {
      ran.push('hang');
      signal.addEventListener('abort', () => ran.push('aborted'), { once: true });
      return new Promise(() => {});
    }),
  ];
  const decider = () => ({ done: false, next: step('hang') }) as const;
  const limits = { capabilityMs: 500_000, phaseMs: 1_000, maxCycles };
  const action = { ...replies.action, calls: [step('book')] };
  const unsure = {
    ...replies.yield,
    confidence: 0.2,
    informationSufficiency: 0.9,
    proposedPhase: 'action' as const,
    needsTools: true,
  };
  return { ran, scripted: startScripted({ action, yield: unsure }, { capabilities, continuation: decider, limits }) };
}

describe('an aborted capability loop', () => {
  it('[C8] [R3] keeps its results after the phase deadline and repeats no run', async () => {
    const { ran, scripted } = bookThenHang();
    await settle(100);
    scripted.clock.increment(1_000);
    const answer = await scripted.run.answer;
    expect(ran).toEqual(['book', 'hang', 'aborted']);
    expect(phasesOf(scripted.run).slice(0, 2)).toEqual(['action', 'experience']);
    expect(scripted.run.ref.getSnapshot().context.results.action).toMatchObject({
      stopReason: 'aborted',
      results: [
        { capability: 'book', output: 'booked', success: true },
        { capability: 'hang', success: false, code: 'aborted' },
      ],
      memory: [{ role: 'user' }, { capability: 'book' }, { capability: 'hang', success: false }],
    });
    const codes = answer.metadata.failures.map(({ phase, failure }) => `${phase} ${failure.code}`);
    expect(codes).toEqual(['action phase_deadline', 'action aborted']);
    expect(answer.metadata.missingFields).toEqual([]);
    const kept = entriesOf(scripted.run, 'operations').flatMap(({ applied }) => applied);
    expect(JSON.stringify(kept)).toContain('book: booked');
  });

  it('[C8] keeps its results and counts their usage when the user cancels', async () => {
    const { ran, scripted } = bookThenHang();
    await settle(100);
    scripted.run.cancel();
    const answer = await scripted.run.answer;
    expect(ran).toEqual(['book', 'hang', 'aborted']);
    expect(answer).toMatchObject({ status: 'cancelled', metadata: { usage: { modelCalls: 1 } } });
    expect(answer.metadata.missingFields).not.toContain('action');
    expect(answer.usedStepIds).toEqual(['s1']);
  });

  it('[Y4] keeps its results when the user directs the run elsewhere', async () => {
    const { ran, scripted } = bookThenHang();
    await settle(100);
    scripted.run.send({ type: 'run.directed', phase: 'yield' });
    await scripted.run.answer;
    expect(ran).toEqual(['book', 'hang', 'aborted']);
    expect(phasesOf(scripted.run)).toEqual(['action', 'yield']);
    expect(scripted.run.ref.getSnapshot().context.results.action?.results).toHaveLength(2);
  });

  it.each([
    ['run.cancelled', 'canceled'],
    ['run.finished', 'finished'],
  ] as const)('[C8] states %s in its last result', async (act, word) => {
    const { scripted } = bookThenHang();
    await settle(100);
    scripted.run.send({ type: act });
    await scripted.run.answer;
    expect(scripted.run.ref.getSnapshot().context.results.action?.results.at(-1)?.error).toContain(word);
  });
});
