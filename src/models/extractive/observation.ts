import type { Message } from '../../../machines/contracts/message.ts';
import type { ObservationReply, PhaseInput } from '../../../machines/contracts/phase-io.ts';

import { stemsOf, termsOf, termWeights } from '../../../machines/text/terms.ts';
import type { Steps } from '../../internal/async.ts';
import { messageEvidence } from './evidence.ts';
import { findAnswer } from './find-answer.ts';
import { messageRelevance, namesIn } from './question.ts';
import { clippedAtSpace, quoted } from './wording.ts';

const MAX_INSIGHT_CHARS = 300;
/** A search result of at least this relevance that no answer used is undigested. */
const UNDIGESTED_RELEVANCE = 0.5;

/** Returns recurring names, connections between messages, and the importance of each message. */
export function* replyObservation(input: Extract<PhaseInput, { phase: 'observation' }>): Steps<ObservationReply> {
  const relevance = yield* messageRelevance(input.request, input.messages);
  const { span } = yield* findAnswer(input.request, messageEvidence(input.messages));
  const gathered = input.messages.filter(({ role }) => role !== 'user');
  const used = new Set(
    input.messages.filter(({ role }) => role === 'assistant').flatMap(({ references }) => references),
  );
  return {
    insights: span === null ? [] : span.text.split('\n\n').map((part) => clippedAtSpace(part, MAX_INSIGHT_CHARS)),
    undigested: relevance.some(
      ({ message, relevance: share }) =>
        message.role === 'search' && share >= UNDIGESTED_RELEVANCE && !used.has(message.id),
    ),
    entities: yield* entitiesOf(gathered),
    connections: yield* connectionsOf(gathered),
    importance: relevance
      .filter(({ message }) => message.role !== 'user')
      .map(({ message, relevance: score }) => ({ messageId: message.id, score })),
  };
}

/** A word in more messages than this, or in more than half of a few messages, connects none. This keeps the work linear. */
const RARE_MESSAGES = 5;
const MAX_CONNECTIONS = 20;
const MIN_STRENGTH = 0.3;
/** Fewer shared words reduce the strength proportionally. */
const ENOUGH_WORDS = 4;

interface Pair {
  readonly from: number;
  readonly to: number;
  readonly words: string[];
  weight: number;
}

/**
 * Returns messages that share rare words, the strongest connection first. The strength is the square root of the overlap coefficient (the
 * shared weight over the smaller message's weight), reduced for one to three words.
 */
function* connectionsOf(messages: readonly Message[]): Steps<ObservationReply['connections']> {
  const places = new Map<string, { surface: string; messages: number[] }>();
  for (const [at, { content }] of messages.entries()) {
    for (const { stem, surface } of termsOf(content)) {
      const place = places.get(stem);
      if (place === undefined) places.set(stem, { surface, messages: [at] });
      else if (place.messages.at(-1) !== at) place.messages.push(at);
    }
    yield;
  }
  const weight = termWeights(messages.length, (stem) => places.get(stem)?.messages.length ?? 0);
  const total = new Float64Array(messages.length);
  const rare = Math.min(RARE_MESSAGES, Math.max(2, Math.floor(messages.length / 2)));
  const pairs = new Map<string, Pair>();
  for (const [stem, { surface, messages: having }] of places) {
    for (const at of having) total[at] = (total[at] ?? 0) + weight(stem);
    if (having.length <= rare) addPairs(having, surface, weight(stem), pairs);
  }
  return [...pairs.values()]
    .map((pair) => ({ pair, strength: strengthOf(pair, total) }))
    .filter(({ strength }) => strength >= MIN_STRENGTH)
    .sort(
      (left, right) =>
        right.strength - left.strength || left.pair.from - right.pair.from || left.pair.to - right.pair.to,
    )
    .slice(0, MAX_CONNECTIONS)
    .map(({ pair, strength }) => ({
      from: messages[pair.from]?.id ?? '',
      to: messages[pair.to]?.id ?? '',
      relation: `both mention ${quoted(pair.words.slice(0, 4), 'and')}`,
      strength,
    }));
}

function addPairs(having: readonly number[], surface: string, weight: number, pairs: Map<string, Pair>): void {
  for (const [place, from] of having.entries()) {
    for (const to of having.slice(place + 1)) {
      const pair = pairs.get(`${from} ${to}`);
      if (pair === undefined) pairs.set(`${from} ${to}`, { from, to, words: [surface], weight });
      else {
        pair.words.push(surface);
        pair.weight += weight;
      }
    }
  }
}

function strengthOf(pair: Pair, total: Float64Array): number {
  const smaller = Math.min(total[pair.from] ?? 0, total[pair.to] ?? 0);
  if (smaller === 0) return 0;
  return Math.sqrt(Math.min(1, pair.weight / smaller)) * Math.min(1, pair.words.length / ENOUGH_WORDS);
}

const MAX_ENTITIES = 12;
const MAX_NAME_CHARS = 80;

/** Returns the names that recur in the messages, the most frequent first. */
function* entitiesOf(messages: readonly Message[]): Steps<ObservationReply['entities']> {
  const found = new Map<string, { name: string; times: number; messageIds: Set<string> }>();
  for (const { id, content } of messages) {
    for (const name of namesIn(content)) {
      const key = name.toLowerCase();
      if (name.length > MAX_NAME_CHARS) continue;
      const entity = found.get(key) ?? { name, times: 0, messageIds: new Set<string>() };
      entity.times += 1;
      entity.messageIds.add(id);
      found.set(key, entity);
    }
    yield;
  }
  return [...found.values()]
    .filter(({ name, times }) => times > 1 && stemsOf(name).length > 0)
    .sort((left, right) => right.messageIds.size - left.messageIds.size || right.times - left.times)
    .slice(0, MAX_ENTITIES)
    .map(({ name, messageIds }) => ({ name, messageIds: [...messageIds] }));
}
