import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { race } from '../race.mjs';
import { against, atLeast, median, row, withinLimit } from '../row.mjs';
import { pairsOf, sharesOf } from './prefix.mjs';

/** @typedef {import('../row.mjs').Row} Row */
/** @typedef {import('../table.mjs').Grid} Grid */
/** @typedef {import('./answered.mjs').Answered} Answered */
/** @typedef {import('./prefix.mjs').Pair} Pair */

const ROUNDS = 5;

/**
 * The contenders, and the calls that each makes. `limit`: the highest number of calls. `other`: the contender that its time is compared
 * with, if it is not AI SDK.
 *
 * @typedef {{ name: string, module: string, calls: number, limit?: number, profile?: string | object, path?: string, other?: string }} Contender
 * @type {readonly Contender[]}
 */
const CONTENDERS = [
  { name: 'AI SDK, tool loop', module: 'ai-sdk', calls: 2 },
  { name: 'AI SDK, one plain call', module: 'ai-sdk-plain', calls: 1 },
  { name: 'LangGraph.js, ReAct agent', module: 'langgraph', calls: 2 },
  { name: 'PostChain thorough', module: 'postchain', calls: 7, profile: 'thorough' },
  { name: 'PostChain balanced', module: 'postchain', calls: 2, limit: 2, profile: 'balanced' },
  { name: 'PostChain lean', module: 'postchain', calls: 1, limit: 1, profile: 'lean' },
  {
    name: 'PostChain thorough, no early calls',
    module: 'postchain',
    calls: 7,
    profile: { extends: 'thorough', earlyCalls: false },
    other: 'PostChain thorough',
  },
  { name: 'AI SDK, one plain call over HTTP', module: 'ai-sdk-http', calls: 1 },
  ...['/runs', '/v1/chat/completions', '/api/chat'].map((path) => ({
    name: `PostChain lean over HTTP, ${path}`,
    module: 'postchain-http',
    calls: 1,
    profile: 'lean',
    path,
    other: 'PostChain lean',
  })),
];
const BASE = 'AI SDK, tool loop';
const PLAIN = 'AI SDK, one plain call';
/** The highest ratio of the time to the first text with `lean` to that of a plain call with the same passages. */
const FIRST_TEXT_LIMIT = 1.2;

/** The ratio to aim for: the time to the first text, and to half of the text, over HTTP to that in the process. */
const HTTP_GOAL = 1.2;

const PROFILES = /** @type {const} */ (['thorough', 'balanced', 'lean']);
const LEAST_SHARE = 0.8;

/** Measures an answer to one question in calls, tokens and time, and how much of their prompts consecutive calls share. */
export async function measureAnswer() {
  const answers = await measureAnswers();
  const prefixes = await measurePrefixes();
  return {
    title: 'one answer from three documents: calls, tokens, time; and the common prefix of consecutive prompts',
    grids: [answers.grid, prefixes.grid],
    rows: [...answers.rows, ...prefixes.rows],
    facts: prefixes.facts,
  };
}

async function measureAnswers() {
  const server = fork(fileURLToPath(new URL('server.mjs', import.meta.url)));
  try {
    const [{ port }] = await once(server, 'message');
    const entrants = CONTENDERS.map(({ name, module, profile, path }) => ({
      name,
      lane: name,
      module: new URL(`${module}.mjs`, import.meta.url),
      options: { port, profile, path },
    }));
    /** @type {Record<string, Answered[]>} */
    const samples = await race(entrants, { rounds: ROUNDS, warmUps: 1 });
    for (const { name, calls } of CONTENDERS) {
      const made = samples[name]?.find((sample) => sample.calls !== calls);
      if (made !== undefined) throw new Error(`${name}: expected ${calls} calls; received ${made.calls}`);
    }
    return { grid: answerGrid(samples), rows: answerRows(samples) };
  } finally {
    server.disconnect();
  }
}

/**
 * @param {Record<string, Answered[]>} samples
 * @returns {Grid}
 */
function answerGrid(samples) {
  const lines = CONTENDERS.map(({ name }) => {
    const of = (/** @type {'calls' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'microseconds'} */ key) =>
      median((samples[name] ?? []).map((sample) => sample[key]));
    const tokens = [of('inputTokens'), of('cachedTokens'), of('outputTokens')];
    const textMs = (/** @type {'firstText' | 'halfText'} */ key) => {
      const times = (samples[name] ?? []).flatMap((sample) => sample[key] ?? []);
      return times.length === 0 ? '–' : Math.round(median(times) / 1_000);
    };
    return [
      name,
      of('calls'),
      ...tokens,
      textMs('firstText'),
      textMs('halfText'),
      Math.round(of('microseconds') / 1_000),
    ];
  });
  return {
    columns: [
      'per answer',
      'calls',
      'input tokens',
      'of these cached',
      'output tokens',
      'first text (ms)',
      'half of the text (ms)',
      'wall time (ms)',
    ],
    lines,
  };
}

/**
 * @param {Record<string, Answered[]>} samples
 * @returns {Row[]}
 */
function answerRows(samples) {
  const samplesOf = (/** @type {string} */ name, /** @type {keyof Answered} */ key) =>
    (samples[name] ?? []).map((sample) => sample[key] ?? Number.NaN);
  const time = (/** @type {string} */ name) => row(`wall time, ${name}`, samplesOf(name, 'microseconds'));
  const times = CONTENDERS.map(({ name, other = BASE }) =>
    name === BASE ? time(name) : against(time(name), time(other)),
  );
  const calls = CONTENDERS.flatMap(({ name, limit }) =>
    limit === undefined
      ? []
      : [withinLimit(row(`model calls, ${name}`, samplesOf(name, 'calls'), 'count'), `${limit} calls`, limit)],
  );
  const first = (/** @type {string} */ name) => row(`first text, ${name}`, samplesOf(name, 'firstText'));
  const firsts = ['PostChain lean', 'PostChain balanced'].map((name) =>
    against(first(name), first(PLAIN), name === 'PostChain lean' ? { limit: FIRST_TEXT_LIMIT } : {}),
  );
  /** Text that waits in a buffer, wherever that is, arrives late. */
  const streamed = CONTENDERS.filter(({ path }) => path !== undefined).flatMap(({ name, other = BASE }) =>
    /** @type {const} */ (['firstText', 'halfText']).map((key) => {
      const what = key === 'firstText' ? 'first text' : 'half of the text';
      const inProcess = row(`${what}, ${other}`, samplesOf(other, key));
      return against(row(`${what}, ${name}`, samplesOf(name, key)), inProcess, { goal: HTTP_GOAL });
    }),
  );
  return [...times, ...firsts, ...streamed, ...calls];
}

async function measurePrefixes() {
  /** @type {(string | number)[][]} */
  const lines = [];
  const rows = [];
  /** @type {Record<string, string>} */
  const facts = {};
  for (const profile of PROFILES) {
    const { pairs, answerPairs, runs, calls, cycles } = await pairsOf(profile);
    facts[`recorded, ${profile}`] = `${runs} runs, ${cycles} cycles, ${calls} calls`;
    // One call per cycle has no other to share a prefix with.
    if (pairs.length === 0) continue;
    const { overall } = sharesOf(pairs);
    rows.push(atLeast(row(`common prefix of prompts, ${profile}`, [overall], 'share'), '80 %', LEAST_SHARE));
    lines.push(
      ...lineOf(profile, pairs),
      ...lineOf(
        `${profile}, context edited`,
        pairs.filter(({ edited }) => edited),
      ),
      ...lineOf(
        `${profile}, context not edited`,
        pairs.filter(({ edited }) => !edited),
      ),
    );
    for (const name of new Set(pairs.map((pair) => pair.name)))
      lines.push(
        ...lineOf(
          `  ${name}`,
          pairs.filter((pair) => pair.name === name),
        ),
      );
    lines.push(...lineOf('  (not counted) the last call → synthesis', answerPairs));
  }
  const columns = ['common prefix', 'pairs', 'overall', 'median', 'lowest', 'without schema', 'new context', 'task'];
  return { grid: { columns, lines }, rows, facts };
}

/**
 * @param {string} name
 * @param {readonly Pair[]} pairs
 */
function lineOf(name, pairs) {
  if (pairs.length === 0) return [];
  const { overall, median: middle, minimum, text, context, task } = sharesOf(pairs);
  return [[name, pairs.length, overall, middle, minimum, text, context, task]];
}
