import { describe, expect, it } from 'vitest';
import { createPassageIndex, createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage } from '../../../support/contract-samples.ts';
import { entriesOf, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

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

  const SOME = 'The ferry leaves at noon.';
  const documents = {
    search: async (query: string) => ({ query, passages: [aPassage({ text: SOME })], widened: false }),
  };

  it.each([
    ['reports it', { answer: 'Dazu steht nichts in den Unterlagen.', noEvidence: true }],
    ['says so', { answer: 'I could not find any information about this in the documents.' }],
  ])('[Y14] [Y12] searches again even if the model, which %s, claims completion', async (_, reply) => {
    const yields = { ...replies.yield, ...reply, taskComplete: true, informationSufficiency: 0.2 };
    const synthesis = { ...nothing, answerText: reply.answer };
    const { run } = startScripted({ yield: yields, synthesis }, { documents });
    const { metadata } = await run.answer;
    expect(metadata.reason).toBe('no_evidence');
    expect(entriesOf(run, 'decision').map(({ decision }) => decision.nextPhase)[0]).toBe('experience');
    expect(metadata.decision?.rule).not.toBe('taskComplete');
  });

  it('[Y14] ends with the claim if there is nothing to search', async () => {
    const said = { ...replies.yield, answer: nothing.answerText, noEvidence: true, taskComplete: true };
    const { run } = startScripted({ yield: said, synthesis: nothing });
    expect((await run.answer).metadata).toMatchObject({ cycles: 1, reason: 'no_evidence' });
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
