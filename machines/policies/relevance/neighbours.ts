import type { Message } from '../../contracts/message.ts';

/** What a message has of the match of one that is one, two or three places away. */
const SHARES = [0.8, 0.6, 0.4];

/**
 * How well the neighbours of each message match, on the scale of `match`: the best of the three before and after it, less with each place. Turns of one
 * conversation are neighbours, and passages of one document: an answer stands beside its question, and often has none of its words.
 */
export function neighbours(messages: readonly Message[], match: readonly number[]): readonly number[] {
  return messages.map((message, at) => {
    let best = 0;
    for (const [place, share] of SHARES.entries())
      for (const next of [at - place - 1, at + place + 1]) {
        const other = messages[next];
        if (other !== undefined && together(message, other)) best = Math.max(best, share * (match[next] ?? 0));
      }
    return best;
  });
}

/** What a phase made stands alone: it is about the request as a whole. */
function together(one: Message, other: Message): boolean {
  if (one.role === 'search' || other.role === 'search')
    return one.role === other.role && one.source !== null && one.source.path === other.source?.path;
  return one.phase === null && other.phase === null;
}
