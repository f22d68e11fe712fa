import { describe, expect, it } from 'vitest';
import { ONE_CALL_PER_PHASE } from '../../../../machines/contracts/profile.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, phasesOf, settle, startScripted } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const limited = { failure: { code: 'rate_limited', message: 'too many requests', status: 429, retryAfterMs: 300_000 } };
const tooLong = {
  failure: { code: 'prompt_too_long', message: 'the prompt has 9 tokens too many', status: 400, retryable: false },
};

describe('a wait that is longer than its phase', () => {
  it('[A13] is not started: the fallback model is called at once', async () => {
    const first = scriptedModel(() => limited, { id: 'first' });
    const second = scriptedModel({}, { id: 'second', otherwise: replies });
    const chain = createPostChain({
      profile: ONE_CALL_PER_PHASE,
      model: first,
      fallbackModels: [second],
      clock: new TestClock(),
    });
    const run = chain.run({ request: 'Is it so?' });
    await settle(200);
    expect(entriesOf(run, 'attempt-retry')[0]).toMatchObject({ model: 1, delayMs: 0 });
    expect((await run.answer).status).toBe('completed');
  });

  it('[A13] is not started either without a fallback: the run ends with the reason', async () => {
    const { run } = startScripted({ action: limited });
    await settle(200);
    expect(await run.answer).toMatchObject({ status: 'degraded', metadata: { reason: 'model_unavailable' } });
    expect((await run.answer).notes).toContain('too many requests');
  });
});

describe('a prompt that is too long for the model', () => {
  it('[Y9] fails its phase alone, because the model can be reached', async () => {
    const { run } = startScripted({ intention: tooLong });
    expect(await run.answer).toMatchObject({
      status: 'degraded',
      answerText: replies.synthesis.answerText,
      metadata: { reason: 'incomplete_state', missingFields: ['intention'], synthesis: { writtenBy: 'model' } },
    });
    expect(phasesOf(run)).toEqual(['action', 'experience', 'intention', 'observation', 'understanding', 'yield']);
    expect((await run.answer).notes).toContain('the prompt has 9 tokens too many');
  });
});
