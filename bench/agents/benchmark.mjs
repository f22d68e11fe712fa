import { existsSync } from 'node:fs';
import { race } from '../race.mjs';
import { against, row } from '../row.mjs';
import { temporaryFolder } from '../temporary-folder.mjs';
import { measureApprovals } from './approvals.mjs';
import { measureCrashes, runs } from './crash.mjs';
import { linesOf } from './lines.mjs';
import { PATTERNS } from './patterns.mjs';
import { startModel } from './server.mjs';

/** @typedef {import('./contender.mjs').Job['library']} Library */

/** @type {Readonly<Record<Library, { name: string, program: (pattern: string) => URL }>>} */
const LIBRARIES = {
  postchain: { name: 'PostChain', program: (pattern) => at(`../../examples/agents/${pattern}.ts`) },
  langgraph: { name: 'LangGraph.js', program: (pattern) => at(`peers/${pattern}.langgraph.mjs`) },
  'ai-sdk': { name: 'AI SDK', program: (pattern) => at(`peers/${pattern}.ai-sdk.mjs`) },
};
const ROUNDS = { rounds: 9, warmUps: 3 };
const RUNS = 5;

const at = (/** @type {string} */ path) => new URL(path, import.meta.url);

const librariesOf = (/** @type {string} */ pattern) =>
  /** @type {Library[]} */ (Object.keys(LIBRARIES)).filter((library) =>
    existsSync(LIBRARIES[library].program(pattern)),
  );

/** Measures the patterns of `examples/agents` next to the same agents with other libraries. */
export async function measureAgents() {
  const model = await startModel();
  const work = [];
  const crashes = [];
  const rows = [];
  try {
    for (const pattern of Object.keys(PATTERNS)) {
      for (const library of librariesOf(pattern)) {
        const name = `${pattern}, ${LIBRARIES[library].name}`;
        work.push([name, ...(await workOf(model, { library, pattern }))]);
        const { kills, calls, effects, newKeys, otherResults } = await measureCrashes(model, { library, pattern });
        crashes.push([name, kills, calls, effects, newKeys, otherResults]);
        process.stderr.write(
          `bench: agents, ${name}: ${work.at(-1)?.slice(1).join(', ')}; ${crashes.at(-1)?.slice(1).join(', ')}\n`,
        );
      }
      rows.push(...(await timesOf(model, pattern)));
    }
    return {
      title: 'the patterns of examples/agents next to the same with other libraries',
      grids: [
        { columns: ['work', 'lines', 'calls', 'input', 'output', 'invalid reply', 'endless model'], lines: work },
        {
          columns: ['crashes', 'kills', 'calls again', 'effects again', 'with a new key', 'other results'],
          lines: crashes,
        },
      ],
      rows,
      facts: await measureApprovals(model),
    };
  } finally {
    model.stop();
  }
}

/**
 * @param {import('./crash.mjs').Model} model
 * @param {import('./crash.mjs').Agent} agent
 */
async function workOf(model, agent) {
  const { expected, endless } = PATTERNS[agent.pattern] ?? {};
  const whole = await runs(model, agent, []);
  if (JSON.stringify(whole.result) !== JSON.stringify(expected))
    throw new Error(`${agent.library}, ${agent.pattern}: received ${JSON.stringify(whole.result)}`);
  const spoiled = await runs(model, agent, [], { spoils: true }).catch((error) => {
    if (model.counts().isSpoiled) return null;
    throw error;
  });
  const bounded = endless && (await runs(model, agent, [], { endless: true }));
  return [
    linesOf(LIBRARIES[agent.library].program(agent.pattern)),
    whole.calls,
    whole.inputTokens,
    whole.outputTokens,
    afterInvalid(spoiled, expected),
    bounded ? `ends after ${bounded.calls}` : '',
  ];
}

/**
 * Returns what followed an invalid reply; empty if the pattern has only text replies.
 *
 * @param {import('./crash.mjs').Outcome | null} spoiled
 * @param {unknown} expected
 */
function afterInvalid(spoiled, expected) {
  if (spoiled === null || JSON.stringify(spoiled.result) !== JSON.stringify(expected)) return 'fails';
  if (!spoiled.isSpoiled) return '';
  return spoiled.seesError ? 'shows the error' : 'asks again';
}

/**
 * @param {import('./crash.mjs').Model} model
 * @param {string} pattern
 */
async function timesOf(model, pattern) {
  model.begin({ pattern });
  const libraries = librariesOf(pattern);
  const measured = await race(
    libraries.map((library) => ({
      name: library,
      module: at('contender.mjs'),
      lane: library,
      options: { library, pattern, port: model.port, folder: temporaryFolder(), effects: '', runs: RUNS },
    })),
    ROUNDS,
  );
  const rowOf = (/** @type {Library} */ library) =>
    row(
      `${pattern}, ${LIBRARIES[library].name}`,
      /** @type {{ microseconds: number }[]} */ (measured[library] ?? []).map(({ microseconds }) => microseconds),
    );
  const own = rowOf('postchain');
  const peers = libraries.filter((library) => library !== 'postchain').map(rowOf);
  return peers.flatMap((peer, index) => [...(index === 0 ? [against(own, peer)] : []), against(peer, own)]);
}
