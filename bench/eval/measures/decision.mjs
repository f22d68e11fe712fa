import { message } from './messages.mjs';

const CYCLES = 1_000;
const MESSAGES = 20;
const CHARS = 500;
const DECISIONS = 300;

/** In the order of the chart: the rules that end a run, then one transition per phase. */
const RULES = /** @type {const} */ ([
  'cycleLimitReached',
  'budgetExhausted',
  'confidenceReached',
  'answerConverged',
  'taskComplete',
  'loopDetected',
  'answerIsProse',
]);
const PHASES = /** @type {const} */ (['action', 'experience', 'intention', 'observation', 'understanding', 'yield']);

/** The time that the policies of one Yield decision take late in a long run: assess an answer, evaluate every rule, start the next cycle. */
export const measure = {
  file: null,
  /**
   * @param {readonly any[]} _rows
   * @param {typeof import('postchain/machines')} policies
   */
  run(_rows, policies) {
    let state = afterManyCycles(policies);
    const known = Array.from({ length: MESSAGES - 1 }, (_, at) => aMessage(`m${at}`, at));
    const warm = [];
    const cold = [];
    for (let at = 0; at < DECISIONS; at += 1) {
      const unread = Array.from({ length: MESSAGES }, (_, place) => aMessage(`c${at}.${place}`, at + place));
      cold.push(milliseconds(() => decide(state, unread, CYCLES + at, policies)));
      const messages = [...known, aMessage(`n${at}`, at)];
      warm.push(
        milliseconds(() => {
          state = decide(state, messages, CYCLES + at, policies);
        }),
      );
    }
    return [
      {
        measure: 'decision_ms',
        value: share(warm, 0.5),
        unit: `ms, ${MESSAGES} messages of ${CHARS} characters after ${CYCLES.toLocaleString('en')} cycles, one new message`,
        atMost: 1,
        rows: warm.length,
        detail: { '95th percentile': share(warm, 0.95), 'every message new': share(cold, 0.5) },
      },
    ];
  },
};

/**
 * Returns the state of a run after `CYCLES` cycles, each with a different answer.
 *
 * @param {typeof import('postchain/machines')} policies
 */
function afterManyCycles(policies) {
  const { initialState, limitsSchema, thresholdsSchema } = policies;
  let state = initialState({
    runId: 'decision',
    request: 'Which of the harbours was opened before the bridge, and by whom?',
    origin: 'action',
    mode: 'automatic',
    startedAtMs: 0,
    limits: limitsSchema.parse({ maxCycles: 10 * CYCLES }),
    thresholds: thresholdsSchema.parse({}),
    contextWindowTokens: 128_000,
    capabilities: [],
    hasDecider: false,
    hasDocuments: true,
    hasEmbeddings: false,
    hasGrader: false,
    messages: [],
  });
  for (let cycle = 0; cycle < CYCLES; cycle += 1) state = decide(state, [], cycle, policies);
  return state;
}

/**
 * Returns the state after one decision.
 *
 * @param {import('postchain/machines').ChainState} state
 * @param {readonly import('postchain/machines').Message[]} messages
 * @param {number} at
 * @param {typeof import('postchain/machines')} policies
 */
function decide(state, messages, at, { assess, chainGuards, decideToContinue }) {
  const reply = {
    answer: `${textOf(at)} The answer of turn ${at}.`,
    confidence: 0.6,
    taskComplete: true,
    informationSufficiency: 0.5,
    needsTools: false,
    proposedPhase: null,
    rationale: 'The passages name the harbour, and not who opened it.',
    usedMessageIds: [],
  };
  const assessed = { ...state, assessment: assess(state, messages, reply) };
  const recursion = { ...state.recursion, completedCycles: state.recursion.completedCycles + 1 };
  const context = { ...assessed, recursion };
  for (const rule of RULES) chainGuards[rule]({ context });
  const phase = PHASES.find((name) => chainGuards.nextPhaseIs({ context }, { phase: name }).holds);
  return { ...context, ...decideToContinue(context, 'nextPhaseChosen', phase ?? 'action') };
}

const ROLES = /** @type {const} */ (['search', 'search', 'assistant', 'user']);

/**
 * @param {string} id
 * @param {number} seed
 */
function aMessage(id, seed) {
  return message({ id, role: ROLES[seed % ROLES.length] ?? 'search', content: textOf(seed) });
}

const NAMES = ['Aldmoor', 'Brennick', 'Corrin', 'Dunmarrow', 'Ferrant', 'Hollin Bay', 'Ostrin', 'Skerra', 'Velmora'];

/** Returns `CHARS` characters of text, different for each seed. */
function textOf(/** @type {number} */ seed) {
  const sentences = Array.from({ length: 8 }, (_, at) => {
    const name = NAMES[(seed * 7 + at * 3) % NAMES.length];
    return `The harbour of ${name} was opened in ${1700 + ((seed * 31 + at * 17) % 300)} by the pilot ${NAMES[(seed + at) % NAMES.length]} Pell.`;
  });
  return sentences.join(' ').slice(0, CHARS);
}

/** @param {() => void} work */
function milliseconds(work) {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

/**
 * @param {readonly number[]} times
 * @param {number} part
 */
const share = (times, part) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
