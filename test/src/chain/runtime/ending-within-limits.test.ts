import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies, scriptedModel } from '../../../../src/entries/testing.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { entriesOf, settle, startScripted } from '../../../support/run-chain.ts';
import { neverSettles, stubSessions } from '../../../support/sessions.ts';

const turn = (at: number) =>
  ({
    role: 'assistant',
    content: `Turn ${at}: ${`the council of town ${at} met about bridge ${at}. `.repeat(30)}`,
  }) as const;
const history = Array.from({ length: 20 }, (_, at) => turn(at));
const replyOf = (task: string) => replies[task as keyof typeof replies];
const calling = { ...replies.action, calls: [{ capability: 'read', arguments: '{}' }] };
const reading = (execute: () => unknown, more = {}) =>
  defineCapability({ name: 'read', description: 'Reads.', arguments: z.object({}), execute, ...more });

async function toTheEnd({ run, clock }: ReturnType<typeof startScripted>) {
  let done = false;
  void run.answer.then(() => {
    done = true;
  });
  for (let seconds = 0; seconds < 600 && !done; seconds += 1) {
    await settle();
    clock.increment(1_000);
  }
  return run.answer;
}

describe('the default reserve with a context of about 8,000 tokens', () => {
  it('[A4] [E9] allows one correction of the final answer', async () => {
    let asked = 0;
    const model = scriptedModel(({ task }) => {
      if (task !== 'synthesis') return replyOf(task);
      asked += 1;
      return asked === 1 ? { text: '{"answerText": 3}' } : replies.synthesis;
    });
    const chain = createPostChain({ model, limits: { maxCycles: 1 } });
    const { metadata } = await chain.run({ request: 'How long is the bridge?', history }).answer;
    expect(metadata.synthesis).toMatchObject({ writtenBy: 'model' });
  });

  it('[E9] shows the writer at least part of a capability result, even with a small reserve', async () => {
    const read = reading(() => `NEEDLE ${'The bridge is long. '.repeat(1_200)}`);
    const scripted = startScripted(
      { action: calling },
      { capabilities: [read], limits: { maxCycles: 1, synthesisReserveTokens: 4_000 } },
    );
    await toTheEnd(scripted);
    const prompt = scripted.model.calls.find(({ task }) => task === 'synthesis')?.turns.map(({ content }) => content);
    expect(prompt?.join()).toContain('NEEDLE');
  });
});

describe('a session', () => {
  it('does not delay a canceled run, whatever its store does', async () => {
    const sessions = stubSessions({ append: () => neverSettles });
    const { run, clock } = startScripted({ action: { hang: true } }, { sessions }, { sessionId: 's' });
    let done = false;
    void run.answer.then(() => {
      done = true;
    });
    await settle();
    run.cancel();
    await settle();
    clock.increment(250);
    await settle();
    expect(done).toBe(true);
  });
});

describe('an aborted phase', () => {
  it('[C8] is reported with its deadline as the cause, also in the answer', async () => {
    const read = reading(() => new Promise(() => {}), { timeoutMs: 300_000 });
    const scripted = startScripted({ action: calling }, { capabilities: [read] });
    const answer = await toTheEnd(scripted);
    const [ended] = entriesOf(scripted.run, 'capability-end');
    expect(ended?.result).toMatchObject({ code: 'aborted', error: expect.stringContaining('120000 ms') });
    expect(answer.metadata.failures).not.toEqual([]);
  });
});
