import { describe, expect, it } from 'vitest';
import { indexText, parseRequest } from '../../../../machines/heuristics/evidence-index.ts';
import { coverageOf, linksOf } from '../../../../machines/heuristics/sufficiency.ts';

const REQUEST = 'Who owns the ship that Henrik Vold steers?';
/** Returns the strongest link per name. */
const strengths = (contents: readonly string[], request = REQUEST) => {
  const asked = parseRequest(request);
  const texts = contents.map((content) => coverageOf(indexText({ content }), asked));
  const strongest = new Map<string, number>();
  for (const { by, strength } of linksOf(texts, asked))
    strongest.set(by.join(' '), Math.max(strength, strongest.get(by.join(' ')) ?? 0));
  return strongest;
};
const steers = 'Henrik Vold steers the Aurora Borealis.';

describe('links between retrieved texts', () => {
  it('[Y3] are strongest when one text is about a name in the other', () => {
    const byTitle = strengths([steers, 'Aurora Borealis\nIt belongs to a bank.']).get('aurora boreali');
    const byName = strengths([steers, 'A bank bought the Aurora Borealis.']).get('aurora boreali');
    expect(byTitle).toBe(1);
    expect(byName).toBeGreaterThan(0);
    expect(byName).toBeLessThan(1);
  });

  it('[Y3] are stronger for a multi-word name than for a single word', () => {
    const several = strengths([steers, 'A bank bought the Aurora Borealis.']).get('aurora boreali') ?? 0;
    const one = strengths(['Henrik Vold steers the Aurora.', 'A bank bought the Aurora.']).get('aurora') ?? 0;
    expect(one).toBeGreaterThan(0);
    expect(one).toBeLessThan(several);
  });

  it('[Y3] weaken with the number of texts that share the name, and vanish at five', () => {
    const shared = [2, 3, 4, 5].map((texts) => {
      const contents = Array.from(
        { length: texts },
        (_, at) => `The ${'old '.repeat(at)}crew left the Aurora Borealis.`,
      );
      return strengths(contents).get('aurora boreali') ?? 0;
    });
    expect(shared).toEqual([0.8, 0.4, expect.closeTo(0.8 / 3), 0]);
    const crew = Array.from({ length: 4 }, (_, at) => `The ${'old '.repeat(at)}crew left the Aurora Borealis.`);
    expect(strengths(['Aurora Borealis\nIt is blue.', ...crew])).toEqual(new Map());
  });

  it('[Y3] are not created for names in the request', () => {
    expect(strengths(['A bank knows Henrik Vold.', 'Henrik Vold sails.', 'Henrik Vold\nHe sails.'])).toEqual(new Map());
  });

  it('[Y3] connect the texts about two names in a request without descriptions', () => {
    const texts = ['Oslo\nA city.', 'Bergen\nA port.'];
    expect(strengths(texts, 'Which is larger, Oslo or Bergen?')).toEqual(new Map([['', 0.8]]));
    expect(strengths(texts, 'Does the road that leaves Oslo reach Bergen?')).toEqual(new Map());
    expect(strengths(['Oslo\nA city.', 'Ships sail to Bergen.'], 'Which is larger, Oslo or Bergen?')).toEqual(
      new Map(),
    );
  });
});
