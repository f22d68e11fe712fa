import { describe, expect, it } from 'vitest';
import { createPassageIndex, createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { startScripted } from '../../../support/run-chain.ts';

const nothing = { ...replies.synthesis, answerText: 'Dazu steht nichts in den Unterlagen.' };

describe('an answer that says that nothing was found', () => {
  it('[Y14] ends with the claim if there is nothing to search', async () => {
    const said = { ...replies.yield, answer: nothing.answerText, noEvidence: true, taskComplete: true };
    const { run } = startScripted({ yield: said, synthesis: nothing });
    expect((await run.answer).metadata).toMatchObject({ cycles: 1, reason: 'no_evidence' });
  });

  it('[Y14] is degraded if the extractive model gives it', async () => {
    const chain = createPostChain({ documents: createPassageIndex([]) });
    const { status, metadata } = await chain.run({ request: 'Who painted the ceiling of the old town hall?' }).answer;
    expect({ status, reason: metadata.reason }).toEqual({ status: 'degraded', reason: 'no_evidence' });
  });

  it('[Y14] is degraded if synthesis writes it over a confident draft', async () => {
    const { run } = startScripted({ synthesis: { ...replies.synthesis, answerText: 'Nothing was found.' } });
    const { status, metadata, confidence } = await run.answer;
    expect({ status, reason: metadata.reason }).toEqual({ status: 'degraded', reason: 'no_evidence' });
    expect(confidence).toBeLessThanOrEqual(0.5);
  });
});
