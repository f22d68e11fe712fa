import { describe, expect, it } from 'vitest';
import { entriesOf, settle, startScripted } from '../../../support/run-chain.ts';

const ID = 'earlier.h1';
const told = `Please look into this. ${'It is a long story. '.repeat(80)}`;
const history = [{ role: 'user' as const, content: told }];
const toldNow = (run: ReturnType<typeof startScripted>['run']) => {
  const { messages, envelope } = run.actor.getSnapshot().context;
  return { message: messages.find(({ id }) => id === ID), operations: envelope.operations };
};

describe('consent', () => {
  it('[U4] [U8] is requested once before a long user message changes', async () => {
    const { run } = startScripted({}, {}, { history });
    await settle();
    const [asked] = entriesOf(run, 'consent-asked');
    expect(asked?.request.items).toMatchObject([{ messageId: ID, chars: told.length }]);
    expect(asked?.request.items[0]?.preview).toHaveLength(51);
    expect(toldNow(run).message?.content).toBe(told);
    run.cancel();
    await run.answer;
  });

  it.each([
    ['summarize', 'TRANSFORM'],
    ['summarize', 'TRANSFORM'],
    ['remove', 'PRUNE'],
    ['keep', 'TAG'],
    ['whatever', 'TAG'],
    ['', 'TAG'],
  ])('[U8] "%s" makes it a %s of the message', async (choice, operation) => {
    const { run, model } = startScripted({ yield: { hang: true } }, {}, { history });
    await settle();
    run.send({ type: 'consent.given', choice });
    await settle();
    expect(toldNow(run).operations.filter(({ target }) => target === ID)).toMatchObject([{ operation }]);
    const seen = model.calls.at(-1)?.input as { messages: { id: string; content: string }[] } | undefined;
    const content = seen?.messages.find(({ id }) => id === ID)?.content;
    if (operation === 'TAG') expect(content).toBe(told);
    if (operation === 'PRUNE') expect(content).toBeUndefined();
    if (operation === 'TRANSFORM') expect(content?.length).toBeLessThanOrEqual(200);
    run.cancel();
    await run.answer;
  });

  it('[U9] for a single message overrides the choice for all', async () => {
    const { run } = startScripted({ yield: { hang: true } }, {}, { history });
    await settle();
    run.send({ type: 'consent.given', choice: 'remove', items: { [ID]: 'keep' } });
    await settle();
    expect(toldNow(run).operations.filter(({ target }) => target === ID)).toMatchObject([{ operation: 'TAG' }]);
    run.cancel();
    await run.answer;
  });

  it('[U8] is not requested again after a timeout, which keeps everything', async () => {
    const { run, clock } = startScripted(
      {
        yield: (call: number) => ({
          answer: `a${call} b${call}`,
          confidence: 0.1,
          taskComplete: false,
          informationSufficiency: 1,
          needsTools: false,
          proposedPhase: null,
          rationale: '',
          usedMessageIds: [],
        }),
      },
      { limits: { maxCycles: 2, consentMs: 5000 } },
      { history },
    );
    await settle();
    clock.increment(4999);
    await settle();
    expect(entriesOf(run, 'consent-resolved')).toEqual([]);
    clock.increment(1);
    await run.answer;
    expect(entriesOf(run, 'consent-resolved')).toMatchObject([{ kept: 1, by: 'time-out' }]);
    expect(entriesOf(run, 'consent-asked')).toHaveLength(1);
    expect(toldNow(run).message?.content).toBe(told);
  });

  it('is not requested for a short message or for the request itself', async () => {
    const short = [{ role: 'user' as const, content: 'Hello.' }];
    const { run } = startScripted({}, {}, { request: told, history: short });
    await run.answer;
    expect(entriesOf(run, 'consent-asked')).toEqual([]);
  });
});
