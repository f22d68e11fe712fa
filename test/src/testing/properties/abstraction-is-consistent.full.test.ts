import { expect, it } from 'vitest';
import { actionChart } from '../../../../src/testing/charts/action-chart.ts';
import { attemptChart } from '../../../../src/testing/charts/attempt-chart.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { abstractionIsConsistent } from '../../../../src/testing/properties/abstraction-is-consistent.ts';

it.each([
  ['attempt', explore(attemptChart.machine, attemptChart)],
  ['action loop', explore(actionChart.machine, actionChart)],
])('abstractionIsConsistent holds for the built-in machine: %s', (_, exploration) => {
  expect(abstractionIsConsistent.check(exploration)).toBeNull();
});
