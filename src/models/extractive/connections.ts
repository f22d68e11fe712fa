import type { Message } from '../../../machines/contracts/message.ts';
import type { ObservationReply } from '../../../machines/contracts/phases/observation.ts';
import { termWeights } from '../../../machines/text/term-weights.ts';
import { termsOf } from '../../../machines/text/terms.ts';
import { quoted } from './wording.ts';

/** A word in more messages than this, or than half of a few, connects nothing: it keeps the work linear, as pairs are only made within it. */
const RARE_MESSAGES = 5;
const MAX_CONNECTIONS = 20;
const LEAST_STRENGTH = 0.3;
/** Fewer shared words than this are taken for chance in proportion. */
const ENOUGH_WORDS = 4;

interface Pair {
  readonly from: number;
  readonly to: number;
  readonly words: string[];
  weight: number;
}

/**
 * Messages that share rare words, the strongest first. Strength is the square root of the shared weight over the smaller
 * message's weight (the overlap coefficient), so that half of a message said again is 0.7; less for one to three words.
 */
export function connectionsOf(messages: readonly Message[]): ObservationReply['connections'] {
  const places = new Map<string, { surface: string; messages: number[] }>();
  for (const [at, { content }] of messages.entries()) {
    for (const { stem, surface } of termsOf(content)) {
      const place = places.get(stem);
      if (place === undefined) places.set(stem, { surface, messages: [at] });
      else if (place.messages.at(-1) !== at) place.messages.push(at);
    }
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
    .filter(({ strength }) => strength >= LEAST_STRENGTH)
    .sort(
      (left, right) =>
        right.strength - left.strength || left.pair.from - right.pair.from || left.pair.to - right.pair.to,
    )
    .slice(0, MAX_CONNECTIONS)
    .map(({ pair, strength }) => ({
      from: messages[pair.from]?.id ?? '',
      to: messages[pair.to]?.id ?? '',
      relation: `both speak of ${quoted(pair.words.slice(0, 4), 'and')}`,
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
