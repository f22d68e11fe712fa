import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../machines/contracts/message.ts';
import { relevanceOf, usesOf } from '../../../machines/policies/relevance.ts';
import { contextArbitrary, prose } from '../../support/arbitraries.ts';
import { aMessage } from '../../support/contract-samples.ts';

const inputs = {
  request: 'bridge harbour',
  cycle: 4,
  nowMs: 0,
  halfLifeCycles: 2,
  halfLifeMs: 1_000,
  similarity: null,
};
const plain = aMessage({ id: 'm1', content: 'nothing of it', cycle: 1, importance: 0.2 });
const other = aMessage({ id: 'm2', content: 'the harbour and the bridge of old', cycle: 1 });
const factorsOf = (message: Message, changes: Partial<typeof inputs> = {}, beside: readonly Message[] = [other]) =>
  relevanceOf([message, ...beside], { ...inputs, ...changes })[0] as ReturnType<typeof relevanceOf>[number];
const scoreOf = (...given: Parameters<typeof factorsOf>) => factorsOf(...given).score;

describe('relevance', () => {
  it('[U1] is in 0..1 with every factor for any messages', () => {
    const halfLifeCycles = fc.double({ min: 0.01, max: 1_000, noNaN: true });
    fc.assert(
      fc.property(contextArbitrary, prose, fc.nat(10_000), halfLifeCycles, (messages, request, cycle, halfLife) => {
        const similarity = messages.map(() => 0.5);
        const shared = { request, cycle, nowMs: 0, halfLifeCycles: halfLife, halfLifeMs: halfLife, similarity };
        for (const relevance of relevanceOf(messages, shared))
          for (const value of Object.values(relevance)) {
            expect(value).toBeGreaterThanOrEqual(0);
            expect(value).toBeLessThanOrEqual(1);
          }
      }),
    );
  });

  it('[U1] rises with each factor: match, recency, references, importance, links, similarity', () => {
    const links = [{ to: 'x', relation: 'r', strength: 1 }];
    const base = scoreOf(plain);
    expect(scoreOf({ ...plain, content: 'the bridge' })).toBeGreaterThan(base);
    expect(scoreOf({ ...plain, cycle: 3 })).toBeGreaterThan(base);
    expect(scoreOf(plain, {}, [{ ...other, references: ['m1'] }])).toBeGreaterThan(base);
    expect(scoreOf({ ...plain, importance: 0.9 })).toBeGreaterThan(base);
    expect(scoreOf({ ...plain, tags: ['important'] })).toBeGreaterThan(base);
    expect(scoreOf({ ...plain, tags: ['low_relevance'] })).toBeLessThan(base);
    expect(scoreOf({ ...plain, links })).toBeGreaterThan(base);
    const [near, far] = [
      [0.9, 0],
      [0.1, 0],
    ].map((similarity) => relevanceOf([plain, other], { ...inputs, similarity })[0]);
    expect(near?.score).toBeGreaterThan(far?.score ?? 1);
  });

  it('[U1] is 1 when every factor is full', () => {
    const links = [1, 2].map((at) => ({ to: `x${at}`, relation: 'r', strength: 1 }));
    const full = aMessage({ id: 'm1', content: 'Harbour: bridge, harbour', cycle: 4, importance: 1, links });
    const references = Array.from({ length: 60 }, (_, at) =>
      aMessage({ id: `r${at}`, content: 'something longer than that', cycle: 4, references: ['m1'] }),
    );
    expect(scoreOf(full, {}, references)).toBe(1);
  });

  it('[U1] matches words of the request by stem, weights rare ones more, and ignores stop words', () => {
    expect(factorsOf(aMessage({ content: 'BRIDGES!' }), {}, [plain]).match).toBeGreaterThan(0.2);
    expect(factorsOf(aMessage({ content: 'the of and' }), { request: 'what of the and' }).match).toBe(0);
    const others = ['harbour one', 'harbour two', 'harbour three'].map((content, at) =>
      aMessage({ id: `o${at}`, content }),
    );
    const rare = factorsOf(aMessage({ content: 'bridge only' }), {}, others).match;
    const common = factorsOf(aMessage({ content: 'harbour only' }), {}, others).match;
    expect(rare).toBeGreaterThan(common);
  });

  it('[U1] shares part of a match with neighboring turns, less with distance, and not across documents', () => {
    const turn = (id: string, content: string) => aMessage({ id, role: 'user', phase: null, content });
    const talk = [
      turn('a', 'Where is the bridge?'),
      turn('b', 'Over there.'),
      turn('c', 'Ah.'),
      turn('d', 'Yes.'),
      turn('e', 'So.'),
    ];
    const shares = relevanceOf(talk, inputs).map(({ neighbors }) => neighbors);
    expect(shares.slice(1, 4)).toEqual([...shares.slice(1, 4)].sort((one, next) => next - one));
    expect([shares[0], shares[4]]).toEqual([0, 0]);
    const passage = (id: string, path: string, content: string) =>
      aMessage({ id, role: 'search', content, source: { path, startLine: 1, endLine: 2 } });
    const found = [passage('a', 'one.md', 'the bridge'), passage('b', 'one.md', 'it'), passage('c', 'two.md', 'it')];
    expect(relevanceOf(found, inputs).map(({ neighbors }) => neighbors > 0)).toEqual([false, true, false]);
  });

  it('[U1] is higher for a message that shares a name with a match', () => {
    const request = 'Who founded the observatory on the hill?';
    const found = [
      aMessage({ id: 'a', role: 'search', content: 'The observatory on the hill was founded by Maria Orlova.' }),
      aMessage({ id: 'b', role: 'search', content: 'Orlova was born in a village by the sea.' }),
      aMessage({ id: 'c', role: 'search', content: 'Peterson was born in a village by the sea.' }),
    ];
    const [, orlova, peterson] = relevanceOf(found, { ...inputs, request });
    expect(orlova?.names).toBeGreaterThan(0);
    expect(peterson?.names).toBe(0);
  });

  it('[U1] is higher for a message of a person whom the request names', () => {
    const request = 'What did Ada say?';
    expect(scoreOf(aMessage({ content: 'Ada: It was late.' }), { request })).toBeGreaterThan(
      scoreOf(aMessage({ content: 'Bob: It was late.' }), { request }),
    );
  });

  it('[U1] reads every message once: one more message costs one more read', () => {
    let readings = 0;
    const watched = (id: string): Message => {
      const message = aMessage({ id, content: '' });
      return Object.defineProperty({ ...message }, 'content', {
        get: () => {
          readings += 1;
          return `the bridge of ${id}`;
        },
      });
    };
    const messages = Array.from({ length: 50 }, (_, at) => watched(`m${at}`));
    relevanceOf(messages, inputs);
    readings = 0;
    relevanceOf([...messages, watched('new')], { ...inputs, request: 'another harbour' });
    expect(readings).toBe(1);
  });

  it('[U2] counts references by their number, recency and phase, and links', () => {
    const from = (id: string, changes: Partial<Message>) => aMessage({ id, content: 'so', cycle: 4, ...changes });
    const used = usesOf(
      [
        from('a', { references: ['m1', 'm1', 'm2', 'a'], phase: 'experience' }),
        from('b', { references: ['m1'], phase: 'yield', cycle: 2 }),
        from('c', { links: [{ to: 'm3', relation: 'r', strength: 1 }], cycle: 1 }),
      ],
      inputs,
    );
    expect([...used]).toEqual([
      ['m1', { weight: 1.5, lastPhase: 25 }],
      ['m2', { weight: 1, lastPhase: 25 }],
      ['m3', { weight: 1, lastPhase: Number.POSITIVE_INFINITY }],
    ]);
  });

  it('[U2] rises with every reference, less with each, and falls as they age', () => {
    const referred = (times: number, cycle = 4) =>
      factorsOf(
        plain,
        {},
        Array.from({ length: times }, (_, at) => aMessage({ id: `r${at}`, content: 'so', cycle, references: ['m1'] })),
      ).reference;
    const factors = [0, 1, 2, 10].map((times) => referred(times));
    expect(factors).toEqual([0, 0.5, 0.75, 1 - 0.5 ** 10]);
    expect(referred(1, 2)).toBeLessThan(referred(1, 4));
  });

  it('[U11] falls with wall time within one cycle', () => {
    const at = (createdAtMs: number) => factorsOf({ ...plain, cycle: 4, createdAtMs }, { nowMs: 4_000 });
    expect([4_000, 3_000, 2_000].map((ms) => at(ms).recency)).toEqual([1, 0.5, 0.25]);
    expect(at(2_000).score).toBeLessThan(at(4_000).score);
    expect(at(9_000).recency).toBe(1);
  });

  it('[U11] halves exactly after each half-life', () => {
    const recencyAt = (cycle: number, halfLifeCycles: number) =>
      factorsOf({ ...plain, cycle: 0 }, { cycle, halfLifeCycles }).recency;
    expect([0, 2, 4, 6].map((cycle) => recencyAt(cycle, 2))).toEqual([1, 0.5, 0.25, 0.125]);
    fc.assert(fc.property(fc.integer({ min: 1, max: 1_000 }), (halfLife) => recencyAt(halfLife, halfLife) === 0.5));
  });

  it('[U11] treats a message from a later cycle or without a valid cycle as new', () => {
    expect([7, Number.NaN].map((cycle) => factorsOf({ ...plain, cycle }).recency)).toEqual([1, 1]);
  });
});
