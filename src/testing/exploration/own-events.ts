import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { nodesOf, outgoingTransitions } from '../../durable/charts/chart-nodes.ts';
import { declaredOutcomes } from '../../internal/declared-outcomes.ts';

/** XState's own actions are functions with members. */
interface Raise {
  readonly type?: unknown;
  readonly event?: unknown;
}

/**
 * Returns the types of the events that come from a machine itself: those of its `raise` actions, and those that its actors declare, such as
 * the choices of `decide`. The types of events that other functions compute are not known.
 */
export function ownEvents(machine: AnyStateMachine): readonly string[] {
  const { actions, actors } = machine.implementations;
  const inChart = nodesOf(machine).flatMap((node) => [
    ...[...node.entry, ...node.exit, ...(node.initial?.actions ?? [])],
    ...outgoingTransitions(node).flatMap((transition) => transition.actions),
  ]);
  const raised = [...inChart, ...Object.values(actions as object)]
    .filter((action) => typeof action === 'function')
    .flatMap(({ type, event }: Raise) => (type === 'xstate.raise' ? [event] : []));
  const declared = Object.values(actors).flatMap((logic) => declaredOutcomes(logic as AnyActorLogic)?.events ?? []);
  const types = raised.map((event) => Object(event).type).filter((type) => typeof type === 'string');
  return [...new Set([...types, ...declared])];
}
