import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { nodesOf, outgoingTransitions } from '../../durable/charts/chart-nodes.ts';
import { declaredOutcomes } from '../../internal/declared-outcomes.ts';
import { described } from '../../xstate/ports.ts';
import { invokedLogics, isMachine } from '../../xstate/states.ts';

/** XState's own actions are functions with members. */
interface Sending {
  readonly type?: unknown;
  readonly to?: unknown;
  readonly event?: unknown;
}

/**
 * Returns the types of the events that come from a machine itself: those of its `raise` actions, those that its child machines send it, and
 * those that its actors declare, such as the choices of `decide`. The types of events that other functions compute are not known.
 */
export function ownEvents(machine: AnyStateMachine): readonly string[] {
  const { actors } = described(machine).implementations;
  const logics = [...Object.values(actors), ...nodesOf(machine).flatMap(invokedLogics)] as AnyActorLogic[];
  const sent = logics.filter(isMachine).flatMap((child) => eventsOf(child, toParent));
  const declared = logics.flatMap((logic) => declaredOutcomes(logic)?.events ?? []);
  return [...new Set([...eventsOf(machine, ({ type }) => type === 'xstate.raise'), ...sent, ...declared])];
}

/** A function that computes the receiver is assumed to return the parent. */
const toParent = ({ type, to }: Sending): boolean =>
  type === 'xstate.sendTo' && (to === '#_parent' || typeof to === 'function');

/** Returns the types of the events of the machine's actions that match. */
function eventsOf(machine: AnyStateMachine, matches: (action: Sending) => boolean): readonly string[] {
  const inChart = nodesOf(machine).flatMap((node) => [
    ...[...node.entry, ...node.exit, ...(node.initial?.actions ?? [])],
    ...outgoingTransitions(node).flatMap((transition) => transition.actions),
  ]);
  const sending = [...inChart, ...Object.values(described(machine).implementations.actions as object)].filter(
    (action) => typeof action === 'function' && matches(action as Sending),
  );
  return sending.map(({ event }: Sending) => Object(event).type).filter((type) => typeof type === 'string');
}
