import { describe, expect, test } from 'vitest';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { actionMachine } from '../../machines/action/action.machine.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../machines/chain/chain.machine.ts';
import { nodesOf, outgoingTransitions } from '../../src/durable/charts/chart-nodes.ts';

const MACHINES: readonly (readonly [string, AnyStateMachine])[] = [
  ['attempt', attemptMachine],
  ['action', actionMachine],
  ['chain', chainMachine],
];

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

describe.each(MACHINES)('the %s chart', (_, machine) => {
  const nodes = nodesOf(machine);

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

  test('handles the end and the error of every actor that an action starts, in a state that contains the action', () => {
    const starters = Object.keys(machine.implementations.actors).flatMap((actor) => SPAWNED_BY[actor] ?? []);
    for (const starter of starters) {
      const id = starter === 'startSearch' ? 'search' : 'early';
      const [handling] = nodes.filter(({ transitions }) => transitions.has(`xstate.done.actor.${id}`));
      expect(handling?.transitions.has(`xstate.error.actor.${id}`)).toBe(true);
      expect(namesOf(handling?.exit ?? [])).toContain(id === 'search' ? 'stopSearch' : 'discardEarly');
      const starting = nodes.filter((node) =>
        [node.entry, ...outgoingTransitions(node).map(({ actions }) => actions)].some((actions) =>
          namesOf(actions).includes(starter),
        ),
      );
      expect(starting.length).toBeGreaterThan(0);
      for (const { path } of starting) expect(path.slice(0, handling?.path.length)).toEqual(handling?.path);
    }
  });
});
