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

async function asked(only: string | null, set: Record<string, number>) {
  const server = await startInspector({ journals: await recordedRuns() });
  const page = await openPage(server.url);
  await page.runs(({ runs }) => runs.length === 2);
  return page.request({ type: 'what-if', only, set });
}

describe('what if, asked by a page', () => {
  it('is answered for one run, and for all', async () => {
    const set = { 'thresholds.confidence': 0.6 };
    const results = [{ runId: 'apple', outcome: 'earlier', now: { cycle: 2 } }];
    expect(await asked('apple', set)).toMatchObject({ problem: null, result: { results, leftOut: 0 } });
    const all = await asked(null, set);
    expect(all.result?.results.map(({ runId, request }) => [runId, request]).toSorted()).toEqual([
      ['apple', 'Is apple so?'],
      ['banana', 'Is banana so?'],
    ]);
  });

  it('says which numbers can be changed, and that a run is unknown', async () => {
    expect((await asked('apple', { 'limits.totalMs': 5 })).problem).toContain('does not take part in decisions');
    expect((await asked('cherry', {})).problem).toContain('There is no run "cherry"');
  });
});
