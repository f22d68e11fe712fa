import type { Message } from '../../contracts/message.ts';

/** What of a message's relevance is not in its words. Each factor is 0..1. */

/** Half as much with each half-life; a clock or cycle that goes back, or is no number, counts as now [U11]. */
export function recency(age: number, halfLife: number): number {
  return age > 0 ? 0.5 ** (age / halfLife) : 1;
}

/** Ids that other messages were made from or are linked to, and not only themselves [U2]. */
export function referencedIds(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { id: own, references, links } of messages) {
    for (const id of references) if (id !== own) ids.add(id);
    for (const { to } of links) if (to !== own) ids.add(to);
  }
  return ids;
}

const RAISING: ReadonlySet<string> = new Set(['relevant', 'important', 'persist']);
const LOWERING = 'low_relevance';
const TAG_SHARE = 0.25;

/** The importance that a message was given; a tag that says so moves it by a quarter. */
export function importance({ importance: given, tags }: Message): number {
  const raised = tags.some((tag) => RAISING.has(tag)) ? TAG_SHARE : 0;
  const lowered = tags.includes(LOWERING) ? TAG_SHARE : 0;
  return Math.min(1, Math.max(0, finite(given) + raised - lowered));
}

/** Two links are as good as more. */
export function linked({ links }: Message): number {
  return Math.min(1, links.length / 2);
}

/** A score that is no number counts as nothing. */
export function finite(score: number): number {
  return Number.isFinite(score) ? score : 0;
}
