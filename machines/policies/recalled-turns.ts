import type { ChainState } from '../contracts/chain-state.ts';
import type { Message } from '../contracts/message.ts';
import type { RecalledSession, SessionTurn } from '../contracts/session.ts';
import { contextTokens, tokensAllowed } from './phases/understanding.ts';
import { KEPT_BY_USER } from './relevance/protection.ts';
import { tokensPerCharOf } from './usage.ts';

/** How earlier turns of a session come into the context of a run. */

/** The turns stand in front of what the run began with. */
export function takeSession(state: ChainState, recalled: RecalledSession): Partial<ChainState> {
  const { turns, problem } = fittingTurns(state, recalled);
  const messages = [...recalledMessages(turns, state.messages), ...state.messages];
  return {
    messages,
    tokensPerChar: tokensPerCharOf(messages.map(({ content }) => content)),
    sessionProblem: problem,
  };
}

/** Of the room that the context has left, earlier turns get so much; the rest is for the work on this request. */
const SHARE = 0.5;

/**
 * The newest turns that fit into half of the room that the context has left. Otherwise one request that is too long for the model
 * would be in the way of all that follow it: nobody may shorten it but the user. What does not fit is told.
 */
export function fittingTurns(state: ChainState, { turns, problem }: RecalledSession): RecalledSession {
  let room = SHARE * (tokensAllowed(state) - contextTokens(state, state.messages));
  let first = turns.length;
  for (const turn of turns.toReversed()) {
    room -= tokensOf(turn);
    if (room < 0) break;
    first -= 1;
  }
  if (first === 0) return { turns, problem };
  const left = `${first} of ${turns.length} turns did not fit into the context`;
  return { turns: turns.slice(first), problem: problem === null ? left : `${problem}; ${left}` };
}

function tokensOf({ request, runs, answer }: SessionTurn): number {
  const texts = [request, answer, ...runs.flatMap(({ capability, summary }) => [capability, summary])];
  return tokensPerCharOf(texts) * texts.reduce((chars, text) => chars + text.length, 0);
}

/**
 * Turns as messages, in order: the user's request, an entry of the assistant's for each capability run [R4], and the answer. Ids count
 * the turns from 1, the oldest: `earlier.1.request`, `earlier.1.run2`, `earlier.1.answer`; none is one of the `others`.
 */
export function recalledMessages(turns: readonly SessionTurn[], others: readonly Message[]): readonly Message[] {
  const taken = new Set(others.map(({ id }) => id));
  return turns
    .flatMap((turn, at) => messagesOfTurn(turn, `earlier.${at + 1}`))
    .map((message) => withFreeId(message, taken));
}

function messagesOfTurn({ request, runs, answer, status, atMs }: SessionTurn, id: string): readonly Message[] {
  const common = { createdAtMs: atMs, cycle: 1, links: [], references: [], source: null };
  return [
    // Turns are taken as far as there is room for them, so nobody is asked about the user's words in each further run.
    {
      ...common,
      id: `${id}.request`,
      role: 'user',
      phase: null,
      content: request,
      tags: [KEPT_BY_USER],
      importance: 1,
    },
    ...runs.map((run, at): Message => {
      const content = `${run.capability}${run.success ? '' : ' failed'}: ${run.summary}`;
      return {
        ...common,
        id: `${id}.run${at + 1}`,
        role: 'assistant',
        phase: 'action',
        content,
        tags: [],
        importance: 0.5,
      };
    }),
    {
      ...common,
      id: `${id}.answer`,
      role: 'assistant',
      phase: null,
      content: `${MARKS[status]}${answer}`,
      tags: status === 'completed' ? [] : [status],
      importance: 0.5,
    },
  ];
}

/** A model is shown no tags: what an answer was not is said in it. */
const MARKS: Readonly<Record<SessionTurn['status'], string>> = {
  completed: '',
  degraded: '(This answer was incomplete.) ',
  cancelled: '(The user cancelled this request.) ',
};

function withFreeId(message: Message, taken: Set<string>): Message {
  let id = message.id;
  for (let count = 2; taken.has(id); count += 1) id = `${message.id}.${count}`;
  taken.add(id);
  return { ...message, id };
}
