import type { AnyStateMachine } from 'xstate';
import { actionChart } from '../../../../src/testing/charts/action-chart.ts';
import { attemptChart } from '../../../../src/testing/charts/attempt-chart.ts';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties } from '../../../../src/testing/charts/properties.ts';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { describeFinding, findingsOf, type Property } from '../../../../src/testing/properties/properties.ts';
import { ACTION_TABLE } from './action-table.ts';
import { ATTEMPT_TABLE } from './attempt-table.ts';
import { CHAIN_TABLE } from './chain-table.ts';
import { forbiddenBy, type Row, unusedOf } from './held-against.ts';

export interface Suite {
  readonly machine: AnyStateMachine;
  readonly options: ExploreOptions<AnyStateMachine>;
  readonly table: readonly Row<never>[];
  readonly properties: readonly Property[];
  /** Not all of the chart can be reached: rows that nothing fits, and what is dead, say nothing. */
  readonly isPart?: boolean;
}

/** Where most mistakes show. */
const FIRST_STEPS = 7;

/** What our own charts are held against: the table and the properties; at first where a look is cheap. */
export function suiteOf({ options, table, properties, isPart = false }: Suite) {
  const told = (exploration: Exploration, asked: readonly Property[]): void => {
    fail(forbiddenBy(table, exploration));
    const findings = findingsOf(exploration, asked).filter(({ witness }) => witness !== null);
    fail(findings.map(describeFinding));
  };
  return (machine: AnyStateMachine): void => {
    told(explored(machine, { ...options, depth: FIRST_STEPS }), properties);
    const exploration = explored(machine, options);
    told(
      exploration,
      isPart ? properties.filter(({ name }) => !/dead transition|unreachable/u.test(name)) : properties,
    );
    if (!isPart) fail(unusedOf(table, exploration));
  };
}

/** The real ones have fewer states than that: a machine with more has lost a bound. */
const MOST_STATES = 12_000;

const explored = (machine: AnyStateMachine, options: ExploreOptions<AnyStateMachine>): Exploration =>
  explore(machine, { ...options, limit: MOST_STATES });

function fail([first]: readonly string[]): void {
  if (first !== undefined) throw new Error(first);
}

export const suites = {
  attempt: {
    machine: attemptChart.machine,
    options: attemptChart,
    table: ATTEMPT_TABLE,
    properties: attemptProperties,
  },
  actionLoop: { machine: actionChart.machine, options: actionChart, table: ACTION_TABLE, properties: actionProperties },
  postChain: { machine: chainChart.machine, options: chainChart, table: CHAIN_TABLE, properties: chainProperties },
} as unknown as Readonly<Record<string, Suite>>;
