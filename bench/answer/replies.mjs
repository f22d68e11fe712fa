import { PHASES } from '../step/replies.mjs';
import { ANSWER, QUESTION, REACT } from './question.mjs';

/**
 * What the model server reads of a chat completion request.
 *
 * @typedef {object} ChatRequest
 * @property {boolean} [stream]
 * @property {readonly ChatMessage[]} messages
 * @property {readonly object[]} [tools]
 * @property {{ json_schema: { name: string, schema: { required?: readonly string[] }, strict?: boolean } }} [response_format]
 *
 * @typedef {{ role: string, content: string | readonly { text?: string }[] | null, tool_calls?: readonly object[] }} ChatMessage
 *
 * @typedef {{ text: string, tool: null } | { text: string, tool: string }} Reply `text` is the arguments if `tool` names a tool.
 */

/**
 * Returns the reply to a request: to a phase of PostChain, a brief one for several, to the call that writes the answer, a plain call, or a
 * ReAct loop, which first calls its search tool. Returns null for any other request.
 *
 * @param {ChatRequest} request
 * @returns {Reply | null}
 */
export function replyTo({ messages, tools, response_format: format }) {
  if (tools !== undefined) {
    const hasSearched = messages.some(({ role }) => role === 'tool');
    return hasSearched ? { text: ANSWER, tool: null } : { text: JSON.stringify({ query: QUESTION }), tool: REACT.tool };
  }
  const prompt = textOf(messages.at(-1));
  if (format === undefined) return { text: ANSWER, tool: null };
  const ids = idsIn(prompt);
  if (format.json_schema.name === 'brief_reply') {
    const reply = briefReply(prompt, prompt.endsWith('Now answer.') ? ANSWER : READING);
    return { text: JSON.stringify(inFull(reply, format)), tool: null };
  }
  if (format.json_schema.name === 'synthesis_reply') return { text: JSON.stringify(writtenAnswer(ids)), tool: null };
  const member = /Reply with the member "(.*?)" only\./u.exec(prompt)?.[1];
  const phase = PHASES.find((one) => one === member);
  return phase === undefined
    ? null
    : { text: JSON.stringify(inFull({ [phase]: REPLIES[phase](ids) }, format)), tool: null };
}

/** Notes that a model could take from the passages, in at most 40 words. */
const READING =
  'Brewer 200: every three months or when CALC blinks, citric acid based descaler, CLEAN for five seconds, two rinses. Espresso 400: program of 25 minutes, DL-2 only. The warranty excludes damage from limescale.';

/**
 * @param {string} prompt
 * @param {string} answer
 */
function briefReply(prompt, answer) {
  const used = [...prompt.matchAll(/<passage n="(\d+)"/gu)].map(([, number]) => Number(number));
  return { answer, used, confidence: 0.95, enough: 0.95, done: answer === ANSWER, next: null, except: [] };
}

/** @param {ChatMessage | undefined} message */
export function textOf(message) {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');
}

/**
 * Returns the reply in the order of the schema. A strict schema requires every member, so those of other phases are null.
 *
 * @param {Readonly<Record<string, unknown>>} replies
 * @param {ChatRequest['response_format']} format
 */
function inFull(replies, format) {
  const { schema, strict } = format?.json_schema ?? {};
  if (strict !== true) return replies;
  return Object.fromEntries((schema?.required ?? []).map((name) => [name, replies[name] ?? null]));
}

/** @typedef {{ passages: readonly string[] }} Ids The ids of the passages that a prompt shows. */

/**
 * @param {string} prompt
 * @returns {Ids}
 */
function idsIn(prompt) {
  return { passages: [...prompt.matchAll(/<message id="([^"]+)" role="search"/gu)].map(([, id = '']) => id) };
}

/** What a model could write from the passages: valid, about as long as real replies; there are no exceptions, so no message is rated. */
const REPLIES = {
  action: () => ({
    response:
      'Both machines have to be descaled regularly with a descaler that suits them, but the manuals are not in the context yet. They should state how often, with which descaler and in which steps; the terms of the warranty should state whether damage from limescale is covered.',
    confidence: 0.3,
    calls: [],
  }),
  experience: (/** @type {Ids} */ { passages }) => ({
    summary:
      'The Brewer 200 is descaled every three months or when the CALC light blinks, with citric acid based descaler: 100 ml in the tank, filled to the MAX line, CLEAN held for five seconds, then two tanks of fresh water. The program of the Espresso 400 takes 25 minutes and needs the liquid descaler DL-2. The warranty excludes damage from limescale.',
    relevantPassageIds: passages,
    missing: [],
    confidence: 0.9,
  }),
  intention: () => ({
    goal: 'Know how to descale the Brewer 200 and the Espresso 400, and whether the warranty covers damage from limescale',
    alternatives: ['Know whether descaling itself is part of the warranty service'],
    clarity: 0.9,
    unclearIntent: false,
    alignment: [],
  }),
  observation: (/** @type {Ids} */ { passages }) => ({
    insights: [
      'The two machines need different descalers: citric acid for the Brewer 200, DL-2 for the Espresso 400.',
      'Damage from limescale is excluded from the warranty, so descaling matters.',
    ],
    undigested: false,
    entities: [
      { name: 'Brewer 200', messageIds: passages.slice(0, 2) },
      { name: 'Espresso 400', messageIds: passages.slice(-2) },
    ],
    connections: [],
    importance: [],
  }),
  understanding: () => ({
    integrated:
      'Descaling differs: the Brewer 200 every three months or when the CALC light blinks, with citric acid based descaler and two rinses; the Espresso 400 when it asks for it, in a program of 25 minutes with DL-2. Damage from limescale is not covered by the warranty. Nothing contradicts this.',
    assessments: [],
  }),
  yield: (/** @type {Ids} */ { passages }) => ({
    answer: ANSWER,
    confidence: 0.95,
    taskComplete: true,
    informationSufficiency: 0.95,
    needsTools: false,
    proposedPhase: null,
    rationale: 'The manuals of both machines and the terms of the warranty answer all parts of the question.',
    usedMessageIds: passages,
    noEvidence: false,
    notes: '',
  }),
};

/** @param {Ids} ids */
function writtenAnswer({ passages }) {
  return { answerText: ANSWER, confidence: 0.95, usedMessageIds: passages, usedStepIds: [], notes: '' };
}
