import { cover, describeFinding, done, explore, fails, findingsOf, soundness } from 'postchain/testing';
import * as xstate from 'xstate';

/** Returns the machine of a pasted module: its default export, or the last machine it defines. The code is the reader's own. */
function machineIn(code) {
  const body = code
    .replace(/^\s*import\s[^;]*;?\s*$/gmu, '')
    .replace(/export default\s/u, 'return ')
    .replace(/^export\s/gmu, '');
  const names = [...body.matchAll(/(?:const|let|var)\s+(\w+)\s*=/gu)].map(([, name]) => name);
  const last = body.includes('return ') ? '' : `\nreturn ${names.at(-1)};`;
  return new Function(...Object.keys(xstate), `'use strict';${body}${last}`)(...Object.values(xstate));
}

self.onmessage = ({ data }) => {
  try {
    const machine = machineIn(data);
    const sources = Object.keys(machine.implementations.actors);
    const outcomes = Object.fromEntries(sources.map((name) => [name, [done(null), fails()]]));
    const exploration = explore(machine, { outcomes, limit: 5_000 });
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
