import { describe, expect, test } from 'vitest';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { actionMachine } from '../../machines/action/action.machine.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../machines/chain/chain.machine.ts';

const MACHINES: readonly (readonly [string, AnyStateMachine])[] = [
  ['attempt', attemptMachine],
  ['action', actionMachine],
  ['chain', chainMachine],
];

/** A state and all its descendants. */
function nodesOf(node: AnyStateNode): readonly AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

/** Every transition of a state, including always transitions. */
const transitionsOf = (node: AnyStateNode) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])];

const idsOf = (nodes: readonly AnyStateNode[]): readonly string[] => nodes.map(({ id }) => id);

/** The named actions of a state: `{ type }` or a name; built-in functions have none. */
function namesOf(actions: readonly unknown[]): readonly string[] {
  return actions.flatMap((action) => {
    if (typeof action === 'string') return [action];
    const { type } = action as { readonly type?: string };
    return typeof action === 'object' && type !== undefined ? [type] : [];
  });
}

/** Actors that an action starts, because they outlive the state that starts them. */
const SPAWNED_BY: Readonly<Record<string, string>> = { callAhead: 'callEarly', retrievePassages: 'startSearch' };

const BUILT_IN = /^xstate\./;

describe.each(MACHINES)('the %s chart', (_, machine) => {
  const nodes = nodesOf(machine.root);

  test('builds: every target exists', () => {
    for (const node of nodes) {
      for (const { target } of transitionsOf(node)) {
        for (const one of target ?? []) expect(nodes).toContain(one);
      }
    }
  });

  test('describes every state', () => {
    expect(idsOf(nodes.filter(({ description = '' }) => description.trim().length < 10))).toEqual([]);
  });

  test('handles errors without a guard, so that none remains unhandled', () => {
    for (const node of nodes) {
      for (const { id } of node.invoke) {
        const last = node.transitions.get(`xstate.error.actor.${id}`)?.at(-1);
        expect(last?.guard, node.id).toBeUndefined();
        expect(last?.target?.length, node.id).toBe(1);
      }
    }
  });

  test('has no wildcard transition that would swallow actor errors', () => {
    expect(idsOf(nodes.filter(({ transitions }) => transitions.has('*')))).toEqual([]);
  });

  test('has a path into every state and out of every non-final state', () => {
    const entered = new Set<AnyStateNode>([machine.root]);
    const enter = (node: AnyStateNode): void => {
      for (let up: AnyStateNode | undefined = node; up !== undefined; up = up.parent) entered.add(up);
      const first = node.type === 'parallel' ? Object.values(node.states) : (node.initial?.target ?? []);
      for (const one of first) if (!entered.has(one)) enter(one);
    };
    enter(machine.root);
    for (let size = -1; size !== entered.size; ) {
      size = entered.size;
      for (const node of [...entered])
        for (const { target } of transitionsOf(node)) for (const one of target ?? []) enter(one);
    }
    expect(idsOf(nodes.filter((node) => !entered.has(node)))).toEqual([]);
    const stuck = nodes.filter((node) => {
      const ways: AnyStateNode[] = [];
      for (let up: AnyStateNode | undefined = node; up !== undefined; up = up.parent) ways.push(up);
      return node.type === 'atomic' && !ways.some((way) => transitionsOf(way).some(({ target }) => target?.length));
    });
    expect(idsOf(stuck)).toEqual([]);
  });

  test('names its guards, actions, delays, and actors, and every name is defined', () => {
    const known = machine.implementations;
    const names = { guards: new Set<string>(), actions: new Set<string>(), actors: new Set<string>() };
    for (const node of nodes) {
      for (const { guard, actions } of transitionsOf(node)) {
        if (guard !== undefined) names.guards.add(typeof guard === 'string' ? guard : (guard as { type: string }).type);
        for (const name of namesOf(actions)) names.actions.add(name);
      }
      for (const name of namesOf([...node.entry, ...node.exit])) names.actions.add(name);
      for (const { src } of node.invoke) names.actors.add(String(src));
    }
    for (const guard of names.guards) expect(Object.keys(known.guards)).toContain(guard);
    for (const actor of names.actors) expect(Object.keys(known.actors)).toContain(actor);
    for (const action of names.actions)
      if (!BUILT_IN.test(action)) expect(Object.keys(known.actions)).toContain(action);
  });

  test('uses every guard and actor defined in its setup', () => {
    const used = JSON.stringify(machine.config);
    for (const name of [
      ...Object.keys(machine.implementations.guards),
      ...Object.keys(machine.implementations.actors).map((actor) => SPAWNED_BY[actor] ?? actor),
    ]) {
      expect(used, name).toContain(`"${name}"`);
    }
  });

  test('handles the end and the error of every actor that an action starts, in a state that contains the action', () => {
    const starters = Object.keys(machine.implementations.actors).flatMap((actor) => SPAWNED_BY[actor] ?? []);
    for (const starter of starters) {
      const id = starter === 'startSearch' ? 'search' : 'early';
      const [handling] = nodes.filter(({ transitions }) => transitions.has(`xstate.done.actor.${id}`));
      expect(handling?.transitions.has(`xstate.error.actor.${id}`)).toBe(true);
      expect(namesOf(handling?.exit ?? [])).toContain(id === 'search' ? 'stopSearch' : 'discardEarly');
      const starting = nodes.filter((node) =>
        [node.entry, ...transitionsOf(node).map(({ actions }) => actions)].some((actions) =>
          namesOf(actions).includes(starter),
        ),
      );
      expect(starting.length).toBeGreaterThan(0);
      for (const { path } of starting) expect(path.slice(0, handling?.path.length)).toEqual(handling?.path);
    }
  });

  test('ends: every final state is at the top level or ends a parallel region, and the machine has an output', () => {
    const final = nodes.filter(({ type }) => type === 'final');
    expect(final.length).toBeGreaterThan(0);
    for (const { parent } of final) if (parent?.parent?.type !== 'parallel') expect(parent).toBe(machine.root);
    expect(machine.root.output).toBeTypeOf('function');
  });

  test('uses camelCase state names and dotted event types', () => {
    for (const { key } of nodes) expect(key).toMatch(/^[a-z][a-zA-Z0-9]*$/);
    for (const event of machine.events) expect(event).toMatch(/^[a-z]+(\.[a-zA-Z0-9_]+)+$/);
  });
});
