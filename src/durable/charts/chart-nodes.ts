import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { described, isXState6 } from '../../xstate/ports.ts';
import { invokedLogics } from '../../xstate/states.ts';

/** Returns all state nodes of a machine in chart order: each node before its children. */
export function nodesOf(machine: AnyStateMachine): readonly AnyStateNode[] {
  const within = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(within)];
  return within(described(machine).root);
}

/** Returns the transitions of a state, the eventless ones last. */
export const outgoingTransitions = (node: AnyStateNode): readonly AnyTransitionDefinition[] =>
  [...node.transitions.values(), node.always ?? []].flat();

type Kind = 'actor' | 'action' | 'guard' | 'delay';

interface Named {
  readonly kind: Kind;
  readonly name: string;
  readonly state: string;
}

/** Returns the actors, actions, guards and delays that a machine names in its chart and does not implement, each once. */
export function missingImplementations(machine: AnyStateMachine): readonly Named[] {
  const { actors, actions, guards, delays } = described(machine).implementations;
  const implemented = { actor: actors, action: actions, guard: guards, delay: delays } as Record<Kind, object>;
  const missing = new Map<string, Named>();
  const nodes = nodesOf(machine);
  const all = [...nodes.flatMap(namedBy), ...nodes.flatMap(namedByTransitions), ...namedByImplementations(machine)];
  for (const one of all) {
    const key = `${one.kind} ${one.name}`;
    if (!Object.hasOwn(implemented[one.kind], one.name) && !missing.has(key)) missing.set(key, one);
  }
  return [...missing.values()];
}

/** The durations that XState 6 takes besides the names of delays: `500ms`, `1.5s`, ISO 8601. */
const DURATION = /^(?:\d+ms|\d*\.?\d*s|P(?=.*\d)[\dWDTHMS.,]+)$/iu;

function namedBy(node: AnyStateNode): readonly Named[] {
  const { id, machine, after, entry, exit, initial } = node;
  return [
    ...invokedLogics(node).flatMap((src) => (typeof src === 'string' ? [named('actor', src, id)] : [])),
    // XState treats a numeric delay name as milliseconds.
    ...after.flatMap(({ delay }) =>
      typeof delay === 'string' && Number.isNaN(+delay) && !(isXState6(machine) && DURATION.test(delay))
        ? [named('delay', delay, id)]
        : [],
    ),
    ...[...entry, ...exit, ...(initial?.actions ?? [])].flatMap((action) => ofAction(action, id)),
  ];
}

const namedByTransitions = (node: AnyStateNode): readonly Named[] =>
  outgoingTransitions(node).flatMap(({ guard, actions }) => [
    ...ofGuard(guard, node.id),
    ...actions.flatMap((action) => ofAction(action, node.id)),
  ]);

/** An action or a guard may be made of others. */
const namedByImplementations = (machine: AnyStateMachine): readonly Named[] => {
  const { id, implementations } = described(machine);
  return [
    ...Object.values(implementations.actions as object).flatMap((action) => ofAction(action, id)),
    ...Object.values(implementations.guards as object).flatMap((guard) => ofGuard(guard, id)),
  ];
};

const named = (kind: Kind, name: string, state: string): Named => ({ kind, name, state });

/** XState's own actions and guards are functions with members. */
interface BuiltIn {
  readonly type?: unknown;
  readonly delay?: unknown;
  readonly src?: unknown;
  readonly guards?: readonly unknown[];
}

function ofAction(action: unknown, state: string): readonly Named[] {
  if (typeof action === 'string') return [named('action', action, state)];
  const { type, delay, src } = Object(action) as BuiltIn;
  if (typeof action !== 'function') return typeof type === 'string' ? [named('action', type, state)] : [];
  return [
    ...(typeof delay === 'string' ? [named('delay', delay, state)] : []),
    ...(type === 'xstate.spawnChild' && typeof src === 'string' ? [named('actor', src, state)] : []),
  ];
}

function ofGuard(guard: unknown, state: string): readonly Named[] {
  if (typeof guard === 'string') return [named('guard', guard, state)];
  const { type, guards = [] } = Object(guard) as BuiltIn;
  if (typeof guard === 'function') return guards.flatMap((inner) => ofGuard(inner, state));
  return typeof type === 'string' ? [named('guard', type, state)] : [];
}
