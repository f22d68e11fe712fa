import type { AnyStateMachine } from 'xstate';
import { chartOf } from '../../engine/charts/chart.ts';
import { isTold } from '../../engine/charts/taken-transitions.ts';
import { groupsOf } from './groups.ts';
import { nodesOf } from './nodes.ts';
import { placeInWords } from './place-words.ts';

/** Something of a chart that a test can bring about: a state, a transition, a guard's yes or no, how an actor ends, a delay. */
export interface CoverageItem {
  /** The same for the same machine: what coverage is kept by. */
  readonly key: string;
  readonly kind: 'state' | 'transition' | 'guard' | 'outcome' | 'delay';
  readonly name: string;
  /**
   * A journal would tell of it. None tells of a transition that goes nowhere and chooses nothing, nor that the last of several guards said
   * no: then nothing is taken.
   */
  readonly isTold: boolean;
}

export const stateKey = (id: string): string => `state ${id}`;
export const transitionKey = (place: number): string => `transition ${place}`;
export const guardKey = (place: number, holds: boolean): string => `guard ${place} ${holds}`;
export const outcomeKey = (actor: string, kind: 'done' | 'error'): string => `outcome ${actor} ${kind}`;
export const delayKey = (eventType: string): string => `delay ${eventType}`;

/** All of a machine, in the order of its chart. */
export function coverageItems(machine: AnyStateMachine): readonly CoverageItem[] {
  const chart = chartOf(machine);
  const words = (place: number): string => placeInWords(chart, place);
  const lasts = new Set(groupsOf(machine).map(({ first, candidates }) => first + candidates.length - 1));
  return [
    ...chart.states.map(({ id }): CoverageItem => ({ key: stateKey(id), kind: 'state', name: id, isTold: true })),
    ...chart.transitions.map(
      (transition, place): CoverageItem => ({
        ...{ key: transitionKey(place), kind: 'transition', name: words(place) },
        isTold: isTold(transition),
      }),
    ),
    ...chart.transitions.flatMap(({ guard }, place) =>
      guard === null
        ? []
        : [true, false].map(
            (holds): CoverageItem => ({
              key: guardKey(place, holds),
              kind: 'guard',
              name: `${words(place)}: ${holds}`,
              isTold: holds || !lasts.has(place),
            }),
          ),
    ),
    ...nodesOf(machine).flatMap(({ id, invoke, after, transitions }) => [
      ...invoke.flatMap((invoked) =>
        (['done', 'error'] as const)
          .filter((end) => transitions.has(`xstate.${end}.actor.${invoked.id}`))
          .map(
            (end): CoverageItem => ({
              key: outcomeKey(invoked.id, end),
              kind: 'outcome',
              name: `${id}: ${nameOf(invoked)} ${end}`,
              isTold: true,
            }),
          ),
      ),
      ...[...new Map(after.map(({ eventType, delay }) => [eventType, delay]))].map(
        ([eventType, delay]): CoverageItem => ({
          key: delayKey(eventType),
          kind: 'delay',
          name: `${id}: after ${delay}`,
          isTold: true,
        }),
      ),
    ]),
  ];
}

const nameOf = ({ src, id }: { readonly src: unknown; readonly id: string }): string =>
  typeof src === 'string' ? src : id;
