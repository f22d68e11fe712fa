import { describe, expect, it } from 'vitest';
import { failedReply, startAttempt } from '../../support/attempt-machine.ts';

describe('a reply that its reader timed out', () => {
  it.each(['no_reply', 'stalled'])(
    'uses the duration reported with %s instead of the delay of the policy',
    async (code) => {
      const { call, clock, end, actor } = startAttempt({ policy: { firstChunkMs: 60_000, chunkMs: 60_000 } });
      call();
      clock.increment(700);
      await end.call({ call }, failedReply({ code }));
      const [attempt] = actor.getSnapshot().context.execution.attempts;
      expect(attempt).toMatchObject({ failure: { code }, durationMs: 700 });
    },
  );
});
