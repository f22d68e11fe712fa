import type { EvidenceText } from '../../contracts/evidence-text.ts';
import { isGeneral } from '../../text/term-weights.ts';
import { type Asked, askedOf } from './asked.ts';
import { chainOf } from './chain.ts';
import { type Closest, closestTo } from './closest.ts';
import { linksOf } from './links.ts';
import { singlePassageScore } from './single-passage-score.ts';

/** Whether what was gathered is enough to answer. */
export interface Sufficiency {
  /** 0..1; from 0.7 on it is enough. */
  readonly score: number;
  /** What the score was made of, each 0..1. */
  readonly factors: Readonly<Record<string, number>>;
  /** Words of the request that nothing gathered has, at most 8, as they stand in it. */
  readonly missing: readonly string[];
}

/** What each factor adds to the evidence, which a logistic curve turns into 0..1. */
export const SUFFICIENCY_WEIGHTS = { names: 2, link: 1, complement: 4, together: 1, steps: 4 } as const;
/** So much evidence is a score of one half; 0.7 is reached 0.85 above it. */
const EVIDENCE_FOR_HALF = 5.5;
const MOST_MISSING = 8;
/** Links are looked for among this many texts, those with the most words of the request. */
const MOST_LINKED = 32;

/**
 * Information sufficiency [Y3, Y12]: whether the gathered texts answer a request, by the words and names that they share with
 * it and with one another. Two ways lead there, and the better one counts. Either one passage has what was asked for
 * (`alone`), or several do together: each name of the request is found (`names`, the one that is found worst; without names,
 * its words), a text about one is linked to another (`link`) which has other words of the request (`complement`), both have
 * them where the link is (`together`), and there are as many linked texts as the request describes things (`steps`). Nothing
 * gathered gives 0. Linear but for one sort. A text is read once as an object: give the same objects again.
 */
export function sufficiencyOf(request: string, gathered: readonly EvidenceText[]): Sufficiency {
  const asked = askedOf(request);
  const closest = closestTo(asked, gathered);
  const factors = factorsOf(closest, asked);
  const missing = asked.terms.filter(({ stem }, bit) => (closest.words & (1 << bit)) === 0 && !isGeneral(stem));
  return {
    score: closest.words === 0 ? 0 : Math.max(scoreOf(factors), factors.alone),
    factors,
    missing: missing.slice(0, MOST_MISSING).map(({ surface }) => surface),
  };
}

type Factor = keyof typeof SUFFICIENCY_WEIGHTS;

function factorsOf({ texts, words }: Closest, asked: Asked): Record<Factor | 'alone', number> {
  const most = texts.slice(0, MOST_LINKED);
  const found = asked.names.map((_, name) => texts.reduce((best, { named }) => Math.max(best, named[name] ?? 0), 0));
  return {
    names: found.length > 0 ? Math.min(...found) : asked.share(words),
    ...chainOf(most, linksOf(most, asked), asked),
    alone: singlePassageScore(texts, asked),
  };
}

function scoreOf(factors: Readonly<Record<Factor, number>>): number {
  const evidence = Object.entries(SUFFICIENCY_WEIGHTS).reduce(
    (sum, [factor, weight]) => sum + weight * factors[factor as Factor],
    0,
  );
  return 1 / (1 + Math.exp(EVIDENCE_FOR_HALF - evidence));
}
