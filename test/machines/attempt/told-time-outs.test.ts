import { describe, expect, it } from 'vitest';
import { attemptRig, brokenReply } from './attempt-rig.ts';

describe('a reply that its reader gave up', () => {
  it.each(['no_reply', 'stalled'])(
    'with %s took as long as the reply says, not as long as the policy waits',
    async (code) => {
      const { call, clock, end, actor } = attemptRig({ policy: { firstChunkMs: 60_000, chunkMs: 60_000 } });
      call();
      clock.increment(700);
      await end.call({ call }, brokenReply({ code }));
      const [attempt] = actor.getSnapshot().context.execution.attempts;
      expect(attempt).toMatchObject({ failure: { code }, durationMs: 700 });
    },
  );
});
