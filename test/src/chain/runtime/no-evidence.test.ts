import { describe, expect, it } from 'vitest';
import { createPassageIndex, createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const nothing = { ...replies.synthesis, answerText: 'Dazu steht nichts in den Unterlagen.' };

describe('an answer that says that nothing was found', () => {
  it('[Y14] is degraded if the model reports it, in any language', async () => {
    const said = { ...replies.yield, answer: nothing.answerText, noEvidence: true };
    const { run } = startScripted({ yield: said, synthesis: nothing });
    const { status, metadata, answerText } = await run.answer;
    expect({ status, reason: metadata.reason, answerText }).toEqual({
      status: 'degraded',
      reason: 'no_evidence',
      answerText: nothing.answerText,
    });
    expect(metadata.cycles).toBeGreaterThan(1);
  });

  it('[Y14] is degraded at the cycle limit for that reason', async () => {
    const { run } = startScripted(
      { yield: (call: number) => unsureAnswer(call, { noEvidence: true }), synthesis: nothing },
      { limits: { maxCycles: 2 } },
    );
    expect((await run.answer).metadata.reason).toBe('no_evidence');
  });

  it('[Y14] is degraded if its text reads like it', async () => {
    const text = 'I could not find any information about this in the documents.';
    const { run } = startScripted({
      yield: { ...replies.yield, answer: text },
      synthesis: { ...replies.synthesis, answerText: text },
    });
    expect((await run.answer).metadata.reason).toBe('no_evidence');
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

  it('[Y14] is not assumed of any other answer', async () => {
    const { run } = startScripted();
    expect((await run.answer).status).toBe('completed');
  });
});
