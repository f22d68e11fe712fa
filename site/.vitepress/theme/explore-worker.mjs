import { cover, describeFinding, done, explore, fails, findingsOf, soundness } from 'postchain/testing';
import * as xstate from 'xstate';

Object.assign(self, xstate, { done, fails });
// The line in the pasted code may be far up the stack.
Error.stackTraceLimit = Number.POSITIVE_INFINITY;
/** Any actor, also one without a name, may succeed or fail. */
const anyOutcome = new Proxy(
  {},
  { get: () => [done(null), fails()], getOwnPropertyDescriptor: () => ({ value: true, configurable: true }) },
);

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
    const line = /pasted\.js:(\d+)/u.exec(error.stack)?.[1];
    if (line === undefined && error instanceof SyntaxError) reportSyntax(script);
    else report(error.message, line);
  }
};
