import { describe, expect, it } from 'vitest';
import { entriesOf, startScripted, unsureAnswer } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

const CYCLES = sampleSize('cycles of a run', 80, 300);

describe('a long run', () => {
  it('writes, keeps, and sends as much in its last cycles as in its first', async () => {
    const { run, model } = startScripted(
      { yield: (call: number) => unsureAnswer(call) },
      {
        // Makes every cycle start with Action.
        thresholds: { crowdedMessages: 100 },
        limits: { maxCycles: CYCLES, maxModelCalls: 1e6, maxTokens: 1e9, totalMs: 1e9 },
      },
    );
    await run.answer;
    const starts = entriesOf(run, 'phase-start').filter(({ phase }) => phase === 'action');
    const entriesOfCycle = (cycle: number) => (starts[cycle]?.seq ?? 0) - (starts[cycle - 1]?.seq ?? 0);
    expect(entriesOfCycle(CYCLES - 1)).toBeLessThanOrEqual(entriesOfCycle(20) * 1.1);
    const bytesOfCycle = (cycle: number) =>
      JSON.stringify(run.entries.slice(starts[cycle - 1]?.seq, starts[cycle]?.seq)).length;
    expect(bytesOfCycle(CYCLES - 1)).toBeLessThanOrEqual(bytesOfCycle(20) * 1.1);
    const prompts = model.calls.filter(({ task }) => task === 'yield');
    const promptChars = (cycle: number) => JSON.stringify(prompts[cycle - 1]?.turns).length;
    expect(promptChars(CYCLES - 1)).toBeLessThanOrEqual(promptChars(20) * 1.1);
    const { context } = run.ref.getSnapshot();
    expect(context.messages.length).toBeLessThan(60);
    expect(context.recursion.history).toHaveLength(64);
    expect(context.decisions).toHaveLength(16);
  });
});
