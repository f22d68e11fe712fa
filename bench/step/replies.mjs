import * as z from 'zod';

/** @typedef {'action' | 'experience' | 'intention' | 'observation' | 'understanding' | 'yield' | 'synthesis'} Task */

export const PHASES = /** @type {const} */ ([
  'action',
  'experience',
  'intention',
  'observation',
  'understanding',
  'yield',
]);

/** The phases that call the model in every cycle: Action asks it only once per run. */
export const MODEL_PHASES = /** @type {const} */ (['experience', 'intention', 'observation', 'understanding', 'yield']);

export const REQUEST = 'Which queue design keeps retries bounded when consumers are slow, and what does it cost?';

const unit = z.number().min(0).max(1);
const rated = z.array(z.object({ messageId: z.string(), score: unit }));

/** The schemas that PostChain validates each phase's reply with, for the contenders that validate themselves. */
export const schemas = {
  action: z.object({
    response: z.string(),
    confidence: unit,
    calls: z.array(z.object({ capability: z.string(), arguments: z.string() })),
  }),
  experience: z.object({
    summary: z.string(),
    relevantPassageIds: z.array(z.string()),
    missing: z.array(z.string()),
    confidence: unit,
  }),
  intention: z.object({
    goal: z.string(),
    alternatives: z.array(z.string()),
    clarity: unit,
    unclearIntent: z.boolean(),
    alignment: rated,
  }),
  observation: z.object({
    insights: z.array(z.string()),
    undigested: z.boolean(),
    entities: z.array(z.object({ name: z.string(), messageIds: z.array(z.string()) })),
    connections: z.array(z.object({ from: z.string(), to: z.string(), relation: z.string(), strength: unit })),
    importance: rated,
  }),
  understanding: z.object({
    integrated: z.string(),
    assessments: z.array(z.object({ messageId: z.string(), relevance: unit, reason: z.string() })),
  }),
  yield: z.object({
    answer: z.string(),
    confidence: unit,
    taskComplete: z.boolean(),
    informationSufficiency: unit,
    needsTools: z.boolean(),
    proposedPhase: z.string().nullable(),
    rationale: z.string(),
    usedMessageIds: z.array(z.string()),
  }),
};

/**
 * Returns a valid reply of about 300 bytes. More than a tenth of an answer's words differ between cycles, its confidence stays low, and
 * Yield proposes Action: only the cycle limit ends a run.
 *
 * @param {Task} task
 * @param {number} cycle
 * @returns {string}
 */
export function replyText(task, cycle) {
  return JSON.stringify(REPLIES[task](cycle));
}

/** Returns the value of that reply. */
export function replyAt(/** @type {Task} */ task, /** @type {number} */ cycle) {
  return REPLIES[task](cycle);
}

/** Returns the values of all replies of a cycle. */
export function repliesAt(/** @type {number} */ cycle) {
  return Object.fromEntries(MODEL_PHASES.map((phase) => [phase, replyAt(phase, cycle)]));
}

const found = (/** @type {number} */ cycle) =>
  `Trial t${cycle} with batch b${cycle} at load l${cycle} gave lag g${cycle}`;

/** @type {Record<Task, (cycle: number) => unknown>} */
const REPLIES = {
  action: (cycle) => ({
    response: `${found(cycle)}. A bounded queue with a dead-letter lane keeps retries bounded when consumers are slow: each message is tried a fixed number of times, waits twice as long after each try, and is then set aside. What it costs is one more table.`,
    confidence: 0.5,
    calls: [],
  }),
  experience: (cycle) => ({
    summary: `${found(cycle)}. Nothing was found in writing about this queue; from earlier turns it is known that consumers are slow at noon, and that a design without a bound filled the disk within an hour.`,
    relevantPassageIds: [],
    missing: [`the cost of trial t${cycle}`],
    confidence: 0.4,
  }),
  intention: (cycle) => ({
    goal: `Choose the queue design whose retries stay bounded, and know what it costs, seen from trial t${cycle}`,
    alternatives: ['Compare two brokers', 'Size the consumers so that none is slow'],
    clarity: 0.8,
    unclearIntent: false,
    alignment: [{ messageId: 'request', score: 0.9 }],
  }),
  observation: (cycle) => ({
    insights: [`${found(cycle)}: a fixed number of tries bounds the work`],
    undigested: false,
    entities: [{ name: `trial t${cycle}`, messageIds: ['request'] }],
    connections: [],
    importance: [{ messageId: 'request', score: 0.6 }],
  }),
  understanding: (cycle) => ({
    integrated: `${found(cycle)}. Bounded tries with doubling waits and a dead-letter lane answer the request; the cost is a table, a sweep each hour, and a person who looks at what was set aside. Nothing contradicts this so far.`,
    assessments: [{ messageId: 'request', relevance: 1, reason: 'it is the request' }],
  }),
  yield: (cycle) => ({
    answer: `${found(cycle)}, so bounded tries with a dead-letter lane it is`,
    confidence: 0.5,
    taskComplete: false,
    informationSufficiency: 0.9,
    needsTools: false,
    proposedPhase: 'action',
    rationale: 'one more trial would make it surer',
    usedMessageIds: ['request'],
  }),
  synthesis: (cycle) => ({
    answerText: `${found(cycle)}. Take the bounded queue with a dead-letter lane; it costs one more table.`,
    confidence: 0.6,
    usedMessageIds: ['request'],
    notes: '',
  }),
};
