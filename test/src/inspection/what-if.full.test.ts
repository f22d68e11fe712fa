import { describe, expect, it } from 'vitest';
import { memoryJournals } from '../../../src/chain/journal/stores.ts';
import type { ServerMessage } from '../../../src/inspection/wire.ts';
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

type Question = { readonly id: number; readonly only: string | null; readonly set: Readonly<Record<string, number>> };

async function asked(question: Question) {
  const server = await startInspector({ journals: await recordedRuns() });
  const page = await openPage(server.url);
  await page.runs(({ runs }) => runs.length === 2);
  page.say({ type: 'what-if', ...question });
  return (await page.reply(question.id)) as Extract<ServerMessage, { readonly type: 'what-if' }>;
}

describe('what if, asked by a page', () => {
  it('is answered for one run, and for all', async () => {
    const set = { 'thresholds.confidence': 0.6 };
    const one = await asked({ id: 1, only: 'apple', set });
    expect(one).toMatchObject({ problem: null, leftOut: 0 });
    expect(one.results).toMatchObject([{ runId: 'apple', outcome: 'earlier', now: { cycle: 2 } }]);
    const all = await asked({ id: 2, only: null, set });
    expect(all.results.map(({ runId, request }) => [runId, request]).toSorted()).toEqual([
      ['apple', 'Is apple so?'],
      ['banana', 'Is banana so?'],
    ]);
  });

  it('says which numbers can be changed, and that a run is unknown', async () => {
    const wrong = await asked({ id: 1, only: 'apple', set: { 'limits.totalMs': 5 } });
    expect(wrong).toMatchObject({ results: [], problem: expect.stringContaining('does not take part in decisions') });
    const unknown = await asked({ id: 1, only: 'cherry', set: {} });
    expect(unknown).toMatchObject({ results: [], problem: expect.stringContaining('There is no run "cherry"') });
  });
});
