import { expect, it } from 'vitest';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { abstractionIsConsistent } from '../../../../src/testing/properties/abstraction-is-consistent.ts';
import { chartSuites } from '../../../support/chart-tables.ts';

it.each(['attempt', 'actionLoop'])('abstractionIsConsistent holds for the built-in machine %s', (name) => {
  const { machine, options } = chartSuites[name] as NonNullable<(typeof chartSuites)[string]>;
  expect(abstractionIsConsistent.check(explore(machine, options))).toBeNull();
});
