import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../machines/contracts/message.ts';
import { RELEVANCE_WEIGHTS, recency, referencedIds, relevanceOf } from '../../../machines/policies/relevance.ts';
import { topicWords, wordSet } from '../../../machines/text/words.ts';
import { aMessage } from '../contracts/samples.ts';
import { contextArbitrary, messageArbitrary, prose } from './context.arbitrary.ts';

const inputs = { topic: topicWords('bridge harbour'), referenced: new Set<string>(), cycle: 4, halfLifeCycles: 2 };
const plain = aMessage({ content: 'nothing of it', cycle: 1, importance: 0.2 });
const scoreOf = (message: Message, changes: Partial<typeof inputs> = {}) =>
  relevanceOf(message, { ...inputs, ...changes }).score;

describe('relevance', () => {
  it('[U1] is 0..1, every factor of it too, whatever the message', () => {
    const halfLifeCycles = fc.double({ min: 0.01, max: 1_000, noNaN: true });
    fc.assert(
      fc.property(messageArbitrary('a'), prose, fc.nat(10_000), halfLifeCycles, (message, request, cycle, halfLife) => {
        const shared = { topic: topicWords(request), referenced: new Set(['a']), cycle, halfLifeCycles: halfLife };
        for (const value of Object.values(relevanceOf(message, shared))) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('[U1] rises with each of its factors: match, recency, references, importance, links', () => {
    const links = [{ to: 'x', relation: 'r', strength: 1 }];
    const base = scoreOf(plain);
    expect(scoreOf({ ...plain, content: 'the bridge' })).toBeGreaterThan(base);
    expect(scoreOf({ ...plain, cycle: 3 })).toBeGreaterThan(base);
    expect(scoreOf(plain, { referenced: new Set(['m1']) })).toBeGreaterThan(base);
    expect(scoreOf({ ...plain, importance: 0.9 })).toBeGreaterThan(base);
    expect(scoreOf({ ...plain, links })).toBeGreaterThan(base);
  });

  it('[U1] is 1 when every factor is full, and the weights leave nothing over', () => {
    const links = [1, 2].map((at) => ({ to: `x${at}`, relation: 'r', strength: 1 }));
    const full = aMessage({ content: 'bridge, harbour', cycle: 4, importance: 1, links });
    expect(scoreOf(full, { referenced: new Set(['m1']) })).toBeCloseTo(1, 12);
    expect(Object.values(RELEVANCE_WEIGHTS).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
  });

  it('[U1] counts the words of the request that a message holds, whatever their case, and no common words', () => {
    expect(relevanceOf(aMessage({ content: 'BRIDGE!' }), inputs).match).toBe(0.5);
    expect(relevanceOf(aMessage({ content: 'the of and' }), { ...inputs, topic: topicWords('the of') }).match).toBe(0);
    expect([...wordSet("Don't re-use it, don't")]).toEqual(["don't", 're-use', 'it']);
  });

  it('[U2] knows what was referenced or linked from any phase and any cycle', () => {
    fc.assert(
      fc.property(contextArbitrary, (messages) => {
        const wanted = new Set<string>();
        for (const { references, links } of messages) {
          for (const id of references) wanted.add(id);
          for (const { to } of links) wanted.add(to);
        }
        expect(referencedIds(messages)).toEqual(wanted);
      }),
    );
  });

  it('[U11] halves exactly with each half-life', () => {
    expect([0, 2, 4, 6].map((age) => recency(age, 2))).toEqual([1, 0.5, 0.25, 0.125]);
    fc.assert(fc.property(fc.integer({ min: 1, max: 1_000 }), (halfLife) => recency(halfLife, halfLife) === 0.5));
  });

  it('[U11] never rises with age, and never falls with a longer half-life', () => {
    const age = fc.double({ min: 0, max: 1e6, noNaN: true });
    const life = fc.double({ min: 0.1, max: 1e4, noNaN: true });
    fc.assert(
      fc.property(age, age, life, life, (a, b, c, d) => {
        expect(recency(Math.max(a, b), c)).toBeLessThanOrEqual(recency(Math.min(a, b), c));
        expect(recency(a, Math.max(c, d))).toBeGreaterThanOrEqual(recency(a, Math.min(c, d)));
      }),
    );
  });

  it('[U11] a message from a later cycle counts as new', () => {
    expect(recency(-3, 2)).toBe(1);
  });

  it('[U1] [U11] a newer message is never less relevant than the same one older', () => {
    fc.assert(
      fc.property(messageArbitrary('a'), fc.nat(20), (message, older) => {
        expect(scoreOf({ ...message, cycle: message.cycle + older })).toBeGreaterThanOrEqual(scoreOf(message));
      }),
    );
  });
});
