import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failedReply, invalidReply, reply, startAttempt } from '../../support/attempt-machine.ts';
import { sampleSize } from '../../support/soak.ts';

/** Possible outcomes of one call. */
const KINDS = ['good', 'wrong', 'broken', 'hopeless', 'silent', 'stalled'] as const;
type Kind = (typeof KINDS)[number];

const MAX_WAIT_MS = 1_000;

async function play(rig: ReturnType<typeof startAttempt>, kind: Kind): Promise<void> {
  switch (kind) {
    case 'good':
      return rig.end(reply());
    case 'wrong':
      return rig.end(invalidReply());
    case 'broken':
      return rig.end(failedReply());
    case 'hopeless':
      return rig.end(failedReply({ retryable: false, status: 401 }));
    case 'silent':
      return void rig.clock.increment(1_000);
    case 'stalled':
      rig.call().started();
      return void rig.clock.increment(900);
    default: {
      const never: never = kind;
      throw new Error(never);
    }
  }
}

/** The expected number of calls and whether the last one succeeds: the retry rules in a few lines. */
function expected(kinds: readonly Kind[], maxCorrections: number, maxTransportRetries: number) {
  let [corrections, retries] = [0, 0];
  for (const [index, kind] of kinds.entries()) {
    if (kind === 'good' || kind === 'hopeless') return { calls: index + 1, ok: kind === 'good' };
    if (kind === 'wrong') corrections += 1;
    else retries += 1;
    if (corrections > maxCorrections || retries > maxTransportRetries) return { calls: index + 1, ok: false };
  }
  return { calls: kinds.length + 1, ok: null };
}

describe('any sequence of call outcomes', () => {
  const bound = fc.nat(4);
  const outcomes = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 14 });

  test('[A4] makes as many calls as the two retry budgets allow, each paid from its own budget', async () => {
    await fc.assert(
      fc.asyncProperty(outcomes, bound, bound, async (kinds, maxCorrections, maxTransportRetries) => {
        const rig = startAttempt({ policy: { maxCorrections, maxTransportRetries, maxCalls: 100 } });
        for (const kind of kinds) {
          if (rig.actor.getSnapshot().status === 'done') break;
          await play(rig, kind);
          if (rig.state() === 'backingOff') rig.clock.increment(MAX_WAIT_MS);
        }
        const wanted = expected(kinds, maxCorrections, maxTransportRetries);
        expect(rig.calls).toHaveLength(wanted.calls);
        expect(rig.actor.getSnapshot().output?.ok ?? null).toBe(wanted.ok);
      }),
      { numRuns: sampleSize('sequences of outcomes', 50, 1_000) },
    );
  });

  test('[A11] records and counts every call once and pairs every start with an end', async () => {
    await fc.assert(
      fc.asyncProperty(outcomes, async (kinds) => {
        const rig = startAttempt({ policy: { maxCorrections: 3, maxTransportRetries: 3 } });
        for (const kind of [...kinds, 'hopeless' as const]) {
          if (rig.actor.getSnapshot().status === 'done') break;
          await play(rig, kind);
          rig.clock.increment(rig.state() === 'backingOff' ? MAX_WAIT_MS : 0);
        }
        const { execution } = rig.outcome();
        expect(execution.attempts.map(({ attempt }) => attempt)).toEqual(rig.calls.map((_, index) => index + 1));
        expect(execution.usage.modelCalls).toBe(rig.calls.length);
        const count = (type: string): number => rig.facts.filter((fact) => fact.type === type).length;
        expect([count('attempt-start'), count('attempt-end'), count('attempt-retry')]).toEqual([
          rig.calls.length,
          rig.calls.length,
          rig.calls.length - 1,
        ]);
        for (const context of rig.contexts) expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
      }),
      { numRuns: sampleSize('sequences of records', 40, 1_000) },
    );
  });
});
