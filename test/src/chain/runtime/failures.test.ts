import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, phasesOf, settle, startScripted } from '../../../support/run-chain.ts';

const refused = { failure: { code: 'unauthorized', message: 'the key was refused', retryable: false, status: 401 } };

describe('failures in a run', () => {
  it.each(PHASES)('[E3] a model that fails in %s still leads to an answer that explains it', async (task) => {
    const { run, model } = startScripted({ [task]: refused, synthesis: refused });
    const answer = await run.answer;
    expect(finalAnswerSchema.parse(answer).metadata).toMatchObject({
      reason: 'model_unavailable',
      synthesis: { writtenBy: 'engine', fallback: null, error: null },
    });
    expect(answer.metadata.explanation).toContain('the key was refused');
    expect(model.calls.filter((call) => call.task === task)).toHaveLength(1);
    expect(model.calls.some((call) => call.task === 'synthesis')).toBe(false);
  });

  it('[Y9] a phase whose replies never validate is retried and then skipped', async () => {
    const { run, model } = startScripted({ intention: { text: '{}' } }, { limits: { maxCorrections: 1 } });
    const answer = await run.answer;
    expect(entriesOf(run, 'recovery').map(({ action }) => action)).toEqual(['repeat', 'skip']);
    expect(model.calls.filter(({ task }) => task === 'intention')).toHaveLength(4);
    expect(phasesOf(run)).toEqual([
      'action',
      'experience',
      'intention',
      'intention',
      'observation',
      'understanding',
      'yield',
    ]);
    expect(answer).toMatchObject({
      status: 'degraded',
      metadata: { reason: 'incomplete_state', missingFields: ['intention'], synthesis: { writtenBy: 'model' } },
    });
    expect(answer.metadata.failures).toHaveLength(2);
  });

  it('[Y9] a run whose Yield never validates ends degraded', async () => {
    const { run } = startScripted({ yield: { text: '{}' } });
    const answer = await run.answer;
    expect(entriesOf(run, 'recovery').map(({ action }) => action)).toEqual(['repeat', 'finish']);
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'incomplete_state' } });
    expect(answer.answerText).toBe('It is so, for certain.');
  });

  it('[C3] a failed phase changes nothing and passes its input on', async () => {
    const { run, model } = startScripted(
      { experience: { text: '{}' } },
      { limits: { maxCorrections: 0, maxPhaseRetries: 0 } },
    );
    await run.answer;
    const input = model.calls.find(({ task }) => task === 'intention')?.input as {
      content: string;
      messages: unknown[];
    };
    expect(input.content).toBe(replies.action.response);
    expect(input.messages).toHaveLength(2);
  });

  it('[C8] a phase that exceeds its deadline fails instead of hanging', async () => {
    const { run, clock } = startScripted(
      { observation: { hang: true, text: '{' } },
      { limits: { phaseMs: 1000, chunkMs: 5000, maxPhaseRetries: 0 } },
    );
    await settle();
    clock.increment(999);
    await settle();
    expect(entriesOf(run, 'recovery')).toEqual([]);
    clock.increment(1);
    expect((await run.answer).metadata.failures).toMatchObject([
      { phase: 'observation', failure: { stage: 'deadline' } },
    ]);
    expect(phasesOf(run).slice(3)).toEqual(['observation', 'understanding', 'yield']);
  });

  it('[E3] a run that exceeds its deadline still answers within the reserved time', async () => {
    const { run, clock, model } = startScripted(
      { intention: { hang: true } },
      { limits: { totalMs: 8000, phaseMs: 60_000, firstChunkMs: 60_000 } },
    );
    await settle();
    clock.increment(6000);
    const answer = await run.answer;
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'deadline_passed' } });
    expect(model.calls.at(-1)?.task).toBe('synthesis');
  });

  it('[E3] an unwritten answer is composed when its time is up', async () => {
    const { run, clock } = startScripted({ synthesis: { hang: true } }, { limits: { totalMs: 8000 } });
    await settle();
    clock.increment(2000);
    const answer = await run.answer;
    expect(answer.answerText).toBe(replies.yield.answer);
    expect(answer.metadata).toMatchObject({
      reason: 'synthesis_failed',
      synthesis: { writtenBy: 'engine', fallback: 'model', error: 'it timed out' },
    });
  });

  it('[E4] an invalid final answer is replaced by one composed from existing results, with the error', async () => {
    const { run, model } = startScripted({ synthesis: { answerText: '  ', confidence: 7 } });
    const answer = await run.answer;
    expect(model.calls.filter(({ task }) => task === 'synthesis')).toHaveLength(2);
    expect(answer).toMatchObject({
      status: 'degraded',
      answerText: replies.yield.answer,
      metadata: { reason: 'synthesis_failed', synthesis: { fallback: 'validation' } },
    });
    expect(answer.notes).toContain('does not match the schema');
  });

  it('[E9] the answer is composed without a model if there is no reserve', async () => {
    const { run, model } = startScripted({}, { limits: { synthesisReserveTokens: 0 } });
    const answer = await run.answer;
    expect(model.calls.some(({ task }) => task === 'synthesis')).toBe(false);
    expect(answer).toMatchObject({
      status: 'completed',
      answerText: replies.yield.answer,
      metadata: { synthesis: { writtenBy: 'engine', fallback: null } },
    });
  });

  it('[C5] unavailable documents degrade Experience but do not fail it', async () => {
    const documents = { search: () => Promise.reject(new Error('the disk is gone')) };
    const { run, model } = startScripted({}, { documents });
    const answer = await run.answer;
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'source_failed' } });
    expect(answer.notes).toContain('The documents could not be searched: ');
    expect(entriesOf(run, 'retrieval')).toMatchObject([{ passages: 0, failure: 'the disk is gone' }]);
    expect(model.calls.find(({ task }) => task === 'yield')?.input).toMatchObject({ flags: ['source_failed'] });
  });
});
