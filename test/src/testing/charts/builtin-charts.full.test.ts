import { describe, expect, it } from 'vitest';
import { actionChart } from '../../../../src/testing/charts/action-chart.ts';
import { attemptChart } from '../../../../src/testing/charts/attempt-chart.ts';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties } from '../../../../src/testing/charts/properties.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { cover, reachedItems } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { describeFinding, findingsOf } from '../../../../src/testing/properties/properties.ts';
import { coverageItems } from '../../../../src/testing/structure/coverage-items.ts';
import { routesOf } from '../../../support/chart-routes.ts';

/** Unreachable items with the reason. */
const IMPOSSIBLE: Readonly<Record<string, readonly string[]>> = {
  // The six before it exclude all other cases: it is the last one, and its guard names its rule in the journal.
  'the chain': ['cycling.yield.deciding, always, [nextPhaseInvalid] → action: false'],
};

const charts = {
  'an attempt': {
    exploration: explore(attemptChart.machine, attemptChart),
    properties: attemptProperties,
  },
  'the capability loop': {
    exploration: explore(actionChart.machine, actionChart),
    properties: actionProperties,
  },
  'the chain': {
    exploration: explore(chainChart.machine, chainChart),
    properties: chainProperties,
  },
};

describe.each(Object.entries(charts))('exploring %s', (name, chart) => {
  const { properties } = chart;
  const exploration = chart.exploration;
  const paths = cover(exploration);
  process.stderr.write(
    `${name}: ${exploration.states.length} states, ${exploration.edges.length} edges, ${paths.length} paths\n`,
  );

  it('finds no unreached state, transition, guard result, actor outcome, or delay', () => {
    const reached = reachedItems(exploration);
    const missing = coverageItems(exploration.machine).filter(({ key }) => !reached.has(key));
    expect(missing.map((item) => item.name)).toEqual(IMPOSSIBLE[name] ?? []);
  });

  it('takes the known routes; review the difference before you update it with --update', async () => {
    await expect(routesOf(exploration)).toMatchFileSnapshot(`routes/${exploration.chart.id}.txt`);
  });

  it('holds its properties in every state', () => {
    const findings = findingsOf(exploration, properties).filter(({ witness }) => witness !== null);
    expect(findings.map(describeFinding)).toEqual([]);
  });

  it.each(paths.map((path) => [path.name, path] as const))('runs each path on a real actor: %s', (_, path) => {
    runPath(exploration, path);
  });
});

describe('[Q2] while a call waits for approval', () => {
  it('no time of the run or the phase passes, and only then', () => {
    const isWaiting = { cycling: { action: { running: 'awaitingApproval' } } } as const;
    const inPhases = charts['the chain'].exploration.states.filter(({ value }) =>
      Object.hasOwn(Object(value), 'cycling'),
    );
    expect(inPhases.some(({ snapshot }) => snapshot.matches(isWaiting))).toBe(true);
    for (const { snapshot, timers } of inPhases) {
      if (snapshot.matches(isWaiting)) expect(timers).toEqual([]);
      else expect(timers.map(({ id }) => id)).toContain('runDeadline');
    }
  });
});
