import { cover, describeFinding, done, explore, fails, findingsOf, soundness } from 'postchain/testing';
import * as xstate from 'xstate';
import { mermaid } from '../../../src/durable/charts/mermaid.ts';

Object.assign(self, xstate, { done, fails });
// The line in the pasted code may be far up the stack.
Error.stackTraceLimit = Number.POSITIVE_INFINITY;
/** Explores a machine whose actors may each succeed or fail, unless the code defines their outcomes. */
function exploreAny(machine, { events, outcomes = { '*': [done(null), fails()] } }) {
  const options = { events, limit: 5_000 };
  try {
    return explore(machine, { ...options, outcomes });
  } catch (error) {
    // A machine without actors.
    if (!error.message.startsWith('"outcomes.*" does not match')) throw error;
    return explore(machine, options);
  }
}

/** Returns a pasted module as a script with the same line numbers. */
const scriptOf = (code) =>
  `'use strict';${code
    .replace(/^[^\S\n]*import\s[^'"]*(['"])[^'"]*\1;?/gmu, (line) => line.replaceAll(/[^\n]/gu, ''))
    .replace(/^export default\s/mu, 'const exported = ')
    .replace(/^export\s/gmu, '')}`;

/** Returns the values that a script assigns to variables, by name. */
function definedIn(script) {
  const names = [...script.matchAll(/^(?:'use strict';)?(?:const|let|var)\s+(\w+)\s*=/gmu)].map(([, name]) => name);
  // biome-ignore lint/security/noGlobalEval: the code is the reader's own, and keeps its lines
  return globalThis.eval(`${script}\n;({${names}})\n//# sourceURL=pasted.js`);
}

/** The line of a syntax error is known only if a worker runs the script as its own. */
function reportSyntax(script) {
  const checker = new Worker(URL.createObjectURL(new Blob([script])));
  checker.onerror = (event) => {
    event.preventDefault();
    report(event.message.replace(/^Uncaught \w+: /u, ''), event.lineno);
  };
}

/** Returns the ids of the states on a path, as the Mermaid chart has them. */
function statesOn({ start, edges }, { states }) {
  const places = [start.state, ...edges.map(({ to }) => to)];
  const nodes = places.flatMap((place) => states[place].snapshot._nodes);
  const leaves = nodes.filter((node) => Object.keys(node.states).length === 0);
  return [...new Set(leaves.map(({ id }) => id.replace(/[^A-Za-z0-9]/gu, '_')))];
}

function report(message, line) {
  self.postMessage({ problem: line === undefined ? message : `Line ${line}: ${message}` });
}

self.onmessage = ({ data }) => {
  const script = scriptOf(data);
  try {
    const defined = definedIn(script);
    const machine = Object.values(defined).findLast((value) => value instanceof xstate.StateMachine);
    if (machine === undefined)
      throw new Error(
        'No machine found. Assign the result of createMachine to a constant, or make it the default export.',
      );
    const exploration = exploreAny(machine, defined);
    const findings = findingsOf(exploration, soundness).toSorted((one, other) => !one.witness - !other.witness);
    self.postMessage({
      chart: mermaid(exploration.chart),
      count: exploration.states.length,
      edges: exploration.edges.length,
      findings: findings.map((finding) => ({
        holds: finding.witness === null,
        text: describeFinding(finding),
        states: finding.witness?.path ? statesOn(finding.witness.path, exploration) : [],
      })),
      paths: cover(exploration).map((path) => ({ holds: true, text: path.name, states: statesOn(path, exploration) })),
    });
  } catch (error) {
    const line = /pasted\.js:(\d+)/u.exec(error.stack)?.[1];
    if (line === undefined && error instanceof SyntaxError) reportSyntax(script);
    else report(error.message, line);
  }
};
