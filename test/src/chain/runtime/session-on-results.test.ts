import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { entriesOf, startScripted } from '../../../support/run-chain.ts';

const sessions: (string | null)[] = [];
const work = defineCapability({
  name: 'work',
  description: 'Works.',
  arguments: z.object({}),
  execute: (_, { sessionId }) => {
    sessions.push(sessionId);
    if (sessionId === 'broken') throw new Error('no pen');
    return 'done';
  },
});
const call = { capability: 'work', arguments: '{}' };

describe('the session of a request', () => {
  it.each(['u42', 'broken', undefined])(
    '[R2] is recorded on the capability result and passed to the capability: %s',
    async (sessionId) => {
      sessions.length = 0;
      const action = { ...replies.action, calls: [call] };
      const { run } = startScripted({ action }, { capabilities: [work] }, { ...(sessionId && { sessionId }) });
      await run.answer;
      expect(entriesOf(run, 'capability-end').map(({ result }) => result.sessionId)).toEqual([sessionId ?? null]);
      expect(sessions).toEqual([sessionId ?? null]);
    },
  );

  it('[R2] is recorded on a rejected step and on the results of a standalone loop', async () => {
    const action = { ...replies.action, calls: [{ ...call, capability: 'play' }] };
    const { run } = startScripted({ action }, { capabilities: [work] }, { sessionId: 'u42' });
    await run.answer;
    expect(entriesOf(run, 'capability-end').map(({ result }) => result.sessionId)).toEqual(['u42']);
    const { result } = await createCapabilityLoop({ capabilities: [work] }).run({ request: 'x', sessionId: 'u7', call })
      .outcome;
    expect(result).toMatchObject({ success: true, sessionId: 'u7' });
  });
});
