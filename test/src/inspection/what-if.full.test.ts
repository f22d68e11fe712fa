import { describe, expect, it } from 'vitest';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { openPage, startInspector } from '../../support/inspection-server.ts';
import { scriptedChain, unsureAnswer } from '../../support/run-chain.ts';

const CONFIDENCES = [0.5, 0.7, 0.95];

/** A store with two runs that take three cycles. */
async function recordedRuns() {
  const journals = memoryJournals();
  const plan = {
    yield: (call: number) => unsureAnswer(call, { confidence: CONFIDENCES[(call - 1) % 3], taskComplete: false }),
  };
  for (const runId of ['apple', 'banana'])
    await scriptedChain(plan, { journals, newId: () => runId }).chain.run({ request: `Is ${runId} so?` }).answer;
  return journals;
}

async function asked(set: Record<string, number>) {
  const server = await startInspector({ journals: await recordedRuns() });
  const page = await openPage(server.url);
  await page.runs(({ runs }) => runs.length === 2);
  return page.request({ type: 'what-if', set });
}

describe('what if, asked by a page', () => {
  it('is answered for all runs', async () => {
    const { result } = await asked({ 'thresholds.confidence': 0.6 });
    const results = result?.results.toSorted((one, other) => (one.runId < other.runId ? -1 : 1));
    expect(results).toMatchObject([
      { runId: 'apple', request: 'Is apple so?', outcome: 'earlier', now: { cycle: 2 } },
      { runId: 'banana', request: 'Is banana so?', outcome: 'earlier', now: { cycle: 2 } },
    ]);
    expect(result?.leftOut).toBe(0);
  });

  it('says which numbers can be changed', async () => {
    expect((await asked({ 'limits.totalMs': 5 })).problem).toContain('does not take part in decisions');
  });
});
