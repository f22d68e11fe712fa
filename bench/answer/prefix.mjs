import { readFileSync } from 'node:fs';
import { createPostChain, extractiveModel } from '../../dist/index.js';
import { median } from '../row.mjs';
import { CORPUS, openDocuments } from './documents.mjs';
import { commonPrefix } from './usage.mjs';

/** @typedef {import('../../dist/index.js').ModelRequest} ModelRequest */
/** @typedef {import('../../dist/index.js').Message} Message */
/** @typedef {{ set: string, q: string }} Question */
/** @typedef {'thorough' | 'balanced' | 'lean'} ProfileName */

/**
 * One model call of a run. `cycle` is null for the call that writes the answer, after the cycles.
 *
 * @typedef {object} Call
 * @property {string} name The phase, several phases that share the call, or another task.
 * @property {number | null} cycle
 * @property {string} prompt The messages in order. The first one contains the schema of the reply.
 * @property {string} text The same without the schema.
 * @property {number} taskAt Where the task of the phase begins, after the context.
 * @property {readonly Message[] | null} context
 */

/**
 * Two consecutive calls of a cycle, in the order in which they were sent.
 *
 * @typedef {object} Pair
 * @property {string} name
 * @property {number} shared The characters that both prompts begin with.
 * @property {number} chars The length of the later prompt.
 * @property {number} sharedText The same two figures without the schema.
 * @property {number} textChars
 * @property {number} contextChars The part of the context that follows what both have in common.
 * @property {boolean} edited Whether a message of the earlier prompt was removed or shortened in between.
 */

const RUNS = 50;
const EVERY = 4;

/**
 * Returns the pairs of 50 runs with a profile: every fourth question of the corpus, from the first, and the extractive model.
 *
 * @param {ProfileName} profile
 */
export async function pairsOf(profile) {
  const lines = readFileSync(new URL('questions.jsonl', CORPUS), 'utf8').trimEnd().split('\n');
  const questions = lines.map((line) => /** @type {Question} */ (JSON.parse(line)));
  const asked = questions.filter((_, at) => at % EVERY === 0).slice(0, RUNS);
  if (asked.length !== RUNS) throw new Error(`expected ${RUNS} questions; received ${asked.length}`);
  /** @type {Pair[]} */
  const pairs = [];
  /** @type {Pair[]} */
  const answerPairs = [];
  let [calls, cycles] = [0, 0];
  for (const set of new Set(asked.map((question) => question.set))) {
    const { model, sent } = recordingModel();
    const chain = createPostChain({ model, documents: await openDocuments(set), profile });
    for (const { q } of asked.filter((question) => question.set === set)) {
      sent.length = 0;
      const { metadata } = await chain.run({ request: q }).answer;
      if (metadata.usage.modelCalls !== sent.length)
        throw new Error(`expected ${metadata.usage.modelCalls} recorded calls; received ${sent.length}`);
      calls += sent.length;
      cycles += metadata.cycles;
      const [inCycles, last] = consecutive(callsOf(sent));
      pairs.push(...inCycles);
      answerPairs.push(...last);
    }
  }
  return { pairs, answerPairs, runs: RUNS, calls, cycles };
}

/** Returns the extractive model and the requests that it was sent, in order. */
function recordingModel() {
  const model = extractiveModel();
  /** @type {ModelRequest[]} */
  const sent = [];
  /** @type {typeof model.stream} */
  const stream = (request, options) => {
    sent.push(request);
    return model.stream(request, options);
  };
  return { model: { ...model, stream }, sent };
}

/**
 * Returns the calls of a run. A call that is not a phase's, for example a summary, belongs to the cycle of the call before it.
 *
 * @param {readonly ModelRequest[]} sent
 * @returns {Call[]}
 */
function callsOf(sent) {
  let cycle = 0;
  return sent.map(({ task, phases, turns, outputSchema, input }) => {
    const given = /** @type {{ cycle?: number, messages?: readonly Message[] }} */ (input);
    cycle = given.cycle ?? cycle;
    const prompt = turns.map(({ role, content }) => `${role}\n${content}`).join('\n');
    const user = turns.at(-1);
    const taskChars = (user?.content.length ?? 0) - (user?.cachedChars ?? 0);
    return {
      name: phases?.join(' + ') ?? task,
      cycle: task === 'synthesis' ? null : cycle,
      prompt,
      text: prompt.replace(JSON.stringify(outputSchema), ''),
      taskAt: prompt.length - taskChars,
      context: given.messages ?? null,
    };
  });
}

/**
 * Returns the pairs within the cycles of a run, and the pair of the last call and the call that writes the answer.
 *
 * @param {readonly Call[]} calls
 * @returns {[Pair[], Pair[]]}
 */
function consecutive(calls) {
  /** @type {[Pair[], Pair[]]} */
  const pairs = [[], []];
  for (const [at, later] of calls.entries()) {
    const earlier = calls[at - 1];
    if (earlier === undefined || (later.cycle !== null && earlier.cycle !== later.cycle)) continue;
    const shared = commonPrefix(earlier.prompt, later.prompt);
    pairs[later.cycle === null ? 1 : 0].push({
      name: `${earlier.name} → ${later.name}`,
      shared,
      chars: later.prompt.length,
      sharedText: commonPrefix(earlier.text, later.text),
      textChars: later.text.length,
      contextChars: Math.max(0, later.taskAt - shared),
      edited: wasEdited(earlier.context, later.context),
    });
  }
  return pairs;
}

/**
 * Whether a message was removed or shortened between two calls.
 *
 * @param {readonly Message[] | null} before
 * @param {readonly Message[] | null} after
 */
function wasEdited(before, after) {
  if (before === null || after === null) return false;
  const contents = new Map(after.map(({ id, content }) => [id, content]));
  return before.some(({ id, content }) => contents.get(id) !== content);
}

/**
 * Returns the shares of the later prompts that the earlier ones begin with, too. `overall` is of all characters, `text` the same without
 * the schema. `context` and `task` are the rest: context that is new or follows an edited message, and the task of the phase.
 *
 * @param {readonly Pair[]} pairs
 */
export function sharesOf(pairs) {
  const shares = pairs.map(({ shared, chars }) => shared / chars);
  const sum = (/** @type {(pair: Pair) => number} */ of) => pairs.reduce((total, pair) => total + of(pair), 0);
  const chars = sum((pair) => pair.chars);
  return {
    overall: sum(({ shared }) => shared) / chars,
    median: median(shares),
    minimum: Math.min(...shares),
    text: sum(({ sharedText }) => sharedText) / sum(({ textChars }) => textChars),
    context: sum(({ contextChars }) => contextChars) / chars,
    task: sum((pair) => pair.chars - pair.shared - pair.contextChars) / chars,
  };
}
