import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { actionChart } from '../../../../src/testing/charts/action-chart.ts';
import { attemptChart } from '../../../../src/testing/charts/attempt-chart.ts';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties } from '../../../../src/testing/charts/properties.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { killReport, mutantsOf } from '../../../../src/testing/mutants.ts';
import { findingsOf } from '../../../../src/testing/properties/properties.ts';
import { routesOf } from '../../../support/chart-routes.ts';
import { isSoak } from '../../../support/soak.ts';

const SUITES = {
  attempt: { options: attemptChart, properties: attemptProperties },
  actionLoop: { options: actionChart, properties: actionProperties },
  postChain: { options: chainChart, properties: chainProperties },
};

/** The share of mutants that the routes and properties of each chart must kill. The others are equivalent, or change only which policy runs. */
const LEAST_KILLED = { attempt: 0.9, actionLoop: 0.9, postChain: 0.9 };

/** All of them take more than half an hour, most of it for the chain's. */
const EVERY = isSoak ? 1 : 30;

describe.each(Object.entries(SUITES))('the mutants of %s', (name, { options, properties }) => {
  it.skipIf(name === 'postChain' && !isSoak)('are killed by its routes and properties', async () => {
    const routes = readFileSync(`test/src/testing/charts/routes/${name}.txt`, 'utf8');
    const suite = (machine: typeof options.machine): void => {
      const exploration = explore(machine, { ...(options as Parameters<typeof explore>[1]), limit: 50_000 });
      expect(routesOf(exploration)).toBe(routes);
      expect(findingsOf(exploration, properties).filter(({ witness }) => witness !== null)).toEqual([]);
    };
    const mutants = mutantsOf(options.machine).filter((_, at) => at % EVERY === 0);
    const { results, killed, survivors } = await killReport(mutants, suite as never);
    process.stderr.write(`${name}: ${killed} of ${results.length} mutants killed; left: ${survivors.join('; ')}\n`);
    expect(killed / results.length).toBeGreaterThanOrEqual(LEAST_KILLED[name as keyof typeof LEAST_KILLED]);
  });
});
