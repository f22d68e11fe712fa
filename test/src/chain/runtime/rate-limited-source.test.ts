import { describe, expect, it } from 'vitest';
import type { PassageSource } from '../../../../machines/contracts/passage.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';

const limited = (more: object = { status: 429 }) => Object.assign(new Error('too many requests'), more);

/** A source that throws these errors, one per search, and then finds nothing. */
function throwing(errors: readonly unknown[]): PassageSource & { readonly searches: () => number } {
  let searches = 0;
  return {
    searches: () => searches,
    async search(query) {
      const error = errors[searches];
      searches += 1;
      if (searches <= errors.length) throw error;
      return { query, passages: [], widened: false };
    },
  };
}

async function startWith(errors: readonly unknown[], limits = {}) {
  const documents = throwing(errors);
  const scripted = startScripted({}, { documents, limits });
  await settle(100);
  const failure = () => scripted.run.ref.getSnapshot().context.results.experience?.sourceFailure;
  return { ...scripted, documents, failure };
}

describe('a rate-limited source', () => {
  it.each([{ status: 429 }, { status: 503 }, { code: 'rate_limited' }])(
    '[C5] is retried with exponential backoff without a valid requested delay: %j',
    async (says) => {
      const { clock, documents, run, failure } = await startWith([limited(says), limited(says)]);
      for (const [wait, searches] of [
        [499, 1],
        [1, 2],
        [999, 2],
        [1, 3],
      ] as const) {
        clock.increment(wait);
        await settle(100);
        expect(documents.searches()).toBe(searches);
      }
      await run.answer;
      expect(failure()).toBeNull();
    },
  );

  it.each<[string, unknown]>([
    ['a requested delay longer than half of the phase timeout', limited({ retryAfterMs: 60_001 })],
    ['another error', new Error('down')],
    ['an error with another status', limited({ status: 500 })],
    ['a thrown undefined', null],
    [
      'an error that throws when it is read',
      {
        get status() {
          throw new Error('no');
        },
      },
    ],
  ])('[C5] is skipped immediately for %s', async (_, error) => {
    const { documents, run } = await startWith([error]);
    await run.answer;
    expect(documents.searches()).toBe(1);
  });

  it('[C8] leaves no timer when the run is canceled during the backoff', async () => {
    const { clock, run } = await startWith([limited({ retryAfterMs: 700 })]);
    run.cancel();
    await run.answer;
    expect(clock.openTimers).toBe(0);
  });
});
