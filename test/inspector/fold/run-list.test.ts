import { describe, expect, it } from 'vitest';
import { parseRunQuery, printRunQuery, queriedRuns } from '../../../inspector/fold/run-list.ts';
import type { InspectedRun } from '../../../src/inspection/wire.ts';

function aRun(runId: string, changes: Partial<InspectedRun> = {}, figures: Partial<InspectedRun['summary']> = {}) {
  const summary = {
    rule: 'confidenceReached',
    explanation: '',
    cycles: 1,
    modelCalls: 6,
    tokens: { input: 10, output: 2, estimated: false },
    cost: null,
    durationMs: 100,
    models: ['gpt-one'],
    confidence: 0.9,
    sessionId: null,
    resumable: false,
    ...figures,
  };
  const run = {
    runId,
    kind: 'run',
    title: `Question ${runId}`,
    startedAt: '',
    status: 'completed',
    live: false,
  } as const;
  return { ...run, fidelity: [], summary, ...changes } satisfies InspectedRun;
}

const runs: readonly InspectedRun[] = [
  aRun(
    'a',
    { startedAt: '2026-01-01T00:00:00.000Z', title: 'Where is the bridge?' },
    { cost: { amount: 2, currency: 'EUR' } },
  ),
  aRun(
    'b',
    { startedAt: '2026-01-03T00:00:00.000Z', status: 'interrupted' },
    { sessionId: 'trip', models: ['gpt-two'] },
  ),
  aRun('c', { startedAt: '2026-01-02T00:00:00.000Z', summary: null, kind: 'system' }),
  aRun(
    'd',
    { startedAt: '2026-01-04T00:00:00.000Z', forkedFrom: { runId: 'a', seq: 3 } },
    { cost: { amount: 0.5, currency: 'EUR' }, models: ['x', 'gpt-two'] },
  ),
];
const idsFor = (parameters: Record<string, string>): string =>
  queriedRuns(runs, parseRunQuery(parameters))
    .map(({ runId }) => runId)
    .join('');

describe('the list of runs', () => {
  it.each([
    [{}, 'dbca'],
    [{ sort: 'started' }, 'acbd'],
    [{ sort: '-cost' }, 'adbc'],
    [{ sort: 'cost' }, 'dabc'],
    [{ sort: 'nothing' }, 'dbca'],
    [{ q: 'BRIDGE where' }, 'a'],
    [{ q: 'gpt-two trip' }, 'b'],
    [{ q: 'nowhere' }, ''],
    [{ status: 'interrupted' }, 'b'],
    [{ session: 'trip' }, 'b'],
    [{ model: 'gpt-two' }, 'db'],
    [{ forks: 'only' }, 'd'],
    [{ forks: 'without' }, 'bca'],
    [{ forks: 'anything' }, 'dbca'],
  ])('is searched, filtered and sorted as the address says, unknown values last: %j', (parameters, ids) => {
    expect(idsFor(parameters)).toBe(ids);
  });

  it('is written to the address as it was read, without what is as at first', () => {
    const parameters = {
      q: 'a b',
      status: 'completed',
      session: 's',
      model: 'm',
      forks: 'only',
      sort: '-cost',
    };
    expect(printRunQuery(parseRunQuery(parameters))).toEqual(parameters);
    expect(printRunQuery(parseRunQuery({ sort: '-started' }))).toEqual({});
  });
});
