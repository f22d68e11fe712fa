import { getShortestPaths } from 'xstate/graph';

/**
 * What `xstate/graph` finds with its obvious use: the states to which it has no path, or its error.
 *
 * @param {import('xstate').AnyStateMachine} machine
 * @returns {readonly string[]}
 */
export function alarmsOfGraph(machine) {
  try {
    const paths = getShortestPaths(machine, { limit: 10_000 });
    const reached = new Set(paths.flatMap(({ state }) => /** @type {any} */ (state)._nodes.map(idOf)));
    return nodesOf(machine.root)
      .map(idOf)
      .filter((id) => !reached.has(id))
      .map((id) => `no path to ${id}`);
  } catch (error) {
    return [String(error)];
  }
}

const idOf = (/** @type {import('xstate').AnyStateNode} */ { id }) => id;

/** @returns {readonly import('xstate').AnyStateNode[]} */
const nodesOf = (/** @type {import('xstate').AnyStateNode} */ node) => [
  node,
  ...Object.values(node.states).flatMap(nodesOf),
];
