import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chartDigest } from '../../../../inspector/chart/drawing.ts';
import { chartOf } from '../../../../src/durable/charts/chart.ts';
import { runCharts } from '../../../../src/inspection/source.ts';
import { actionChart } from '../../../../src/testing/charts/action-chart.ts';
import { attemptChart } from '../../../../src/testing/charts/attempt-chart.ts';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import { startWalk } from '../../../../src/testing/exploration/walk.ts';
import { type ChartProof, pathEndingAt, testOfPath } from '../../../../src/testing/proofs/chart-proof.ts';
import { describeTransition } from '../../../../src/testing/structure/chart-structure.ts';
import { stateKey, transitionKey } from '../../../../src/testing/structure/coverage-items.ts';

const proofs: Readonly<Record<string, ChartProof>> = JSON.parse(
  readFileSync(new URL('../../../../inspector/proofs.json', import.meta.url), 'utf8'),
);
const proofOf = (chartId: string): ChartProof => proofs[chartDigest(chartId, runCharts(), 0)] as ChartProof;

describe.each([
  ['the chain', chainChart] as const,
  ['an attempt', attemptChart] as const,
  ['the capability loop', actionChart] as const,
])('the proofs of %s in the inspector', (_, explored) => {
  const chart = chartOf(explored.machine);
  const proof = proofOf(chart.id);

  /** Leads the machine along a path; returns the keys of the parts of the chart that it reaches. */
  function reachedAlong(end: number): readonly string[] {
    const { start, steps } = pathEndingAt(proof, end);
    const { inspect, coverage } = collectCoverage([explored.machine]);
    const walk = startWalk(
      explored.machine as typeof chainChart.machine,
      { ...explored, input: start, inspect } as never,
    );
    for (const { name } of steps) walk.take(name);
    walk.stop();
    return coverage().flatMap(({ items }) => items.flatMap(({ key, times }) => (times > 0 ? [key] : [])));
  }

  it('are about the present chart', () => {
    expect(proof.chart).toBe(chart.id);
    expect(Object.keys(proof.toState)).toEqual(chart.states.map(({ id }) => id));
  });

  it('have a path to every state, which the machine takes', () => {
    const missed = Object.entries(proof.toState).filter(([id, end]) => !reachedAlong(end).includes(stateKey(id)));
    expect(missed).toEqual([]);
  });

  it('have a path through every transition, which the machine takes', () => {
    const missed = proof.byTransition.flatMap((end, index) =>
      end !== null && reachedAlong(end).includes(transitionKey(index)) ? [] : [describeTransition(chart, index)],
    );
    expect(missed).toEqual([]);
  });

  it('name each transition differently, so that a test means one', () => {
    const names = chart.transitions.map((__, index) => describeTransition(chart, index));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

it('after the cycles only the answer may call a model, and after the answer nothing does', () => {
  const { calls } = proofOf('postChain');
  expect(calls['routing']).toEqual(['answer', 'phases']);
  expect(calls['synthesizing']).toEqual(['answer']);
  expect(calls['remembering']).toEqual([]);
  expect(calls['answered']).toEqual([]);
});

it('a test of a path is a readable list of what occurs', () => {
  const chart = chartOf(chainChart.machine);
  const index = chart.transitions.findIndex(
    ({ source, guard }) => source === 'recovering' && guard === 'modelUnavailable',
  );
  const { byTransition } = proofOf('postChain');
  expect(
    testOfPath(chart, pathEndingAt(proofOf('postChain'), byTransition[index] ?? 0), index),
  ).toBe(`import { chainChart, collectCoverage, startWalk } from 'postchain/testing';
import { expect, it } from 'vitest';

it('takes recovering, always, [modelUnavailable] → synthesizing', () => {
  const { inspect, coverage } = collectCoverage([chainChart.machine]);
  const walk = startWalk(chainChart.machine, { ...chainChart, input: 'a question', inspect });
  walk.take('action: connection lost');
  const taken = coverage().flatMap(({ items }) => items.filter(({ times }) => times > 0));
  expect(taken.map(({ name }) => name)).toContain(
    'recovering, always, [modelUnavailable] → synthesizing',
  );
  walk.stop();
});
`);
});

it('a walk rejects a step that is not possible, and lists those that are', () => {
  const walk = startWalk(actionChart.machine, { ...actionChart, input: 'the first call is given' });
  expect(() => walk.take('attempt: replied')).toThrow(
    '"attempt: replied" cannot occur after the first call is given; expected "validateArguments: valid", "validateArguments: invalid"',
  );
  walk.stop();
});
