import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { phaseAttempt } from '../../../machines/policies/phase-calls.ts';
import { planNextCall } from '../../../machines/policies/retry.ts';
import { aFailure, anExecution, aState } from '../../support/contract-samples.ts';

const { policy, models = [] } = phaseAttempt(aState());
const route = { task: 'action', models, model: 0, gaveUp: [] };

/** Returns the feedback that the next call gets. */
const feedbackFor = (text: string, failure: Failure) =>
  planNextCall(anExecution(), failure, text, policy, { hooks: {}, elapsedMs: 0, route }).next?.feedback;

const issues = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ path: `items.${at}`, message: 'too long' }));

/** Nothing in it is repeated at once. */
const wordsOf = (length: number) =>
  Array.from({ length }, (_, at) => `x${at} `)
    .join('')
    .slice(0, length);

describe('feedback to the model', () => {
  it('[A9] lists at most ten errors and counts the others', () => {
    const lines = feedbackFor('{}', aFailure({ issues: issues(25) }))?.problem.split('\n') ?? [];
    expect(lines.length).toBe(12);
    expect(lines.at(-1)).toBe('- and 15 more');
    expect(feedbackFor('{}', aFailure({ issues: issues(10) }))?.problem).not.toContain('more');
    const root = aFailure({ issues: [{ path: '', message: 'expected an object' }] });
    expect(feedbackFor('{}', root)?.problem).toContain('\n- (root): expected an object');
  });

  it('[A9] shows the start and end of a long reply in about 4,000 characters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4_001, max: 100_000 }), (length) => {
        const { previousReply = '' } = feedbackFor(`<${wordsOf(length - 3)}x>`, aFailure()) ?? {};
        expect(previousReply.length).toBeLessThan(4_100);
        expect(previousReply).toMatch(/^<x/);
        expect(previousReply).toMatch(/x>$/);
        expect(previousReply).toContain(`${length - 4_000} characters left out`);
      }),
    );
  });

  it('[A9] shows a reply of 4,000 characters whole', () => {
    expect(feedbackFor(wordsOf(4_000), aFailure())?.previousReply).toBe(wordsOf(4_000));
  });

  it('does not show a model what it repeated again and again', () => {
    const reply = `{"comment": ")${';'.repeat(140)}`;
    expect(feedbackFor(reply, aFailure())?.previousReply).toBe('{"comment": ");[repeated 140 times]');
    const captain = 'The captain of the ferry is Captain Jameson. ';
    expect(feedbackFor(captain.repeat(3), aFailure())?.previousReply).toBe(captain.repeat(3));
  });

  it('[A9] never splits a surrogate pair in the reply', () => {
    const { previousReply = '' } = feedbackFor(`x${'😀'.repeat(3_000)}`, aFailure()) ?? {};
    expect(/\p{Cs}/u.test(previousReply)).toBe(false);
  });
});
