import { cover, describeFinding, done, explore, fails, findingsOf, soundness } from 'postchain/testing';
import * as xstate from 'xstate';

const scope = { ...xstate, done, fails };
/** Any actor, also one without a name, may succeed or fail. */
const anyOutcome = new Proxy(
  {},
  { get: () => [done(null), fails()], getOwnPropertyDescriptor: () => ({ value: true, configurable: true }) },
);

/** Returns what a pasted module assigns or exports, by its names. The code is the reader's own. */
function definedIn(code) {
  const body = code
    .replace(/^\s*import\s[^'"]*(['"])[^'"]*\1;?/gmu, '')
    .replace(/^export default\s/mu, 'const exported = ')
    .replace(/^export\s/gmu, '');
  const names = [...body.matchAll(/^(?:const|let|var)\s+(\w+)\s*=/gmu)].map(([, name]) => name);
  return new Function(...Object.keys(scope), `'use strict';{${body}\nreturn {${names}};}`)(...Object.values(scope));
}

self.onmessage = ({ data }) => {
  try {
    const defined = definedIn(data);
    const machine = Object.values(defined).findLast((value) => value instanceof xstate.StateMachine);
    if (machine === undefined)
      throw new Error(
        'No machine found. Assign the result of createMachine to a constant, or make it the default export.',
      );
    const { events, outcomes = anyOutcome } = defined;
    const exploration = explore(machine, { events, outcomes, limit: 5_000 });
    self.postMessage({
      states: exploration.states.length,
      edges: exploration.edges.length,
      findings: findingsOf(exploration, soundness).map((finding) => ({
        holds: finding.witness === null,
        text: describeFinding(finding),
      })),
      paths: cover(exploration).map(({ name }) => name),
    });
  } catch (error) {
    self.postMessage({ problem: error.message });
  }
};
