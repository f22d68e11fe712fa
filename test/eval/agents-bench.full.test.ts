import { expect, it } from 'vitest';

// The benchmarks are JavaScript, which the tests are not compiled with.
const LINES = '../../bench/agents/lines.mjs';

it('counts the lines of an agent without imports, its script, what only the script uses, and its run', async () => {
  const { countLines } = (await import(LINES)) as { readonly countLines: (code: string) => number };
  const agent = `
    import {
      scriptedModel,
    } from 'postchain/testing';

    const scored = (score: number) => ({ score });
    const verdict = scored(
      9,
    );
    type Verdict = typeof shared;
    const shared = 'both';
    // With a real model: openaiModel({ model: 'm' }).
    export const model = scriptedModel({ judge: [verdict, shared] });

    export const machine = {
      judge: model as unknown as Verdict,

      first: scored(0),
    };
    export const stateOf = (input: string) => ({ input });

    if (process.argv[1] === import.meta.filename) {
      console.log(machine);
    }
`;
  // `scored`, `Verdict`, `shared`, and four lines of the machine.
  expect(countLines(agent)).toBe(7);
});
