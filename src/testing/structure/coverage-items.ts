import type { AnyStateMachine } from 'xstate';
import { type ChartState, chartOf } from '../../durable/charts/chart.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { isRecorded } from '../../durable/charts/taken-transitions.ts';
import { candidateGroups, describeTransition } from './chart-structure.ts';
import { invokedBy } from './running-actors.ts';

/** A part of a chart that a test can reach: a state, a transition, a guard result, an actor outcome or a delay. */
export interface CoverageItem {
  /** Identifies the item; stable for the same machine. */
  readonly key: string;
  readonly kind: 'state' | 'transition' | 'guard' | 'outcome' | 'delay';
  readonly name: string;
  /**
   * Whether a journal records the item. A journal does not record a transition with neither a target nor a guard, or a false result of
   * the last of several guards.
   */
  readonly isRecorded: boolean;
}

export const stateKey = (id: string): string => `state ${id}`;
export const transitionKey = (index: number): string => `transition ${index}`;
export const guardKey = (transition: number, holds: boolean): string => `guard ${transition} ${holds}`;
export const outcomeKey = (actor: string, kind: 'done' | 'error'): string => `outcome ${actor} ${kind}`;
export const delayKey = (eventType: string): string => `delay ${eventType}`;

/** A history state only leads to others. */
export const isEnterable = ({ type }: ChartState): boolean => type !== 'history';

/** Returns all coverage items of a machine in chart order. */
export function coverageItems(machine: AnyStateMachine): readonly CoverageItem[] {
  const chart = chartOf(machine);
  const lasts = new Set(candidateGroups(machine).map(({ first, candidates }) => first + candidates.length - 1));
  return [
    ...chart.states.filter(isEnterable).map(({ id }) => item('state', stateKey(id), id)),
    ...chart.transitions.map((transition, index) =>
      item('transition', transitionKey(index), describeTransition(chart, index), isRecorded(transition)),
    ),
    ...chart.transitions.flatMap(({ guard }, index) =>
      guard === null
        ? []
        : [true, false].map((holds) =>
            item(
              'guard',
              guardKey(index, holds),
              `${describeTransition(chart, index)}: ${holds}`,
              holds || !lasts.has(index),
            ),
          ),
    ),
    ...nodesOf(machine).flatMap((node) => [
      ...invokedBy(node).flatMap((invoked) =>
        (['done', 'error'] as const)
          .filter((end) => node.transitions.has(`xstate.${end}.actor.${invoked.id}`))
          .map((end) => item('outcome', outcomeKey(invoked.id, end), `${node.id}: ${invoked.name} ${end}`)),
      ),
      ...[...new Map(node.after.map(({ eventType, delay }) => [eventType, delay]))].map(([eventType, delay]) =>
        item('delay', delayKey(eventType), `${node.id}: after ${delay}`),
      ),
    ]),
  ];
}

const item = (kind: CoverageItem['kind'], key: string, name: string, recorded = true): CoverageItem => ({
  key,
  kind,
  name,
  isRecorded: recorded,
});
