import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import type { Task } from '../../../../machines/contracts/phase.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import { replay } from '../../../../src/entries/index.ts';
import type { ScriptEntry } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, type Plan, sendAnswer, settle, startScripted } from '../../../support/run-chain.ts';

type Started = ReturnType<typeof startScripted>;

const HANGS = { hang: true } as const;
const tasksOf = ({ model }: Started): readonly Task[] => model.calls.map(({ task }) => task as Task);
const countOf = (started: Started, task: Task): number => tasksOf(started).filter((one) => one === task).length;
const start = (plan: Plan = {}, options: Omit<PostChainOptions, 'model' | 'clock'> = {}) =>
  startScripted(plan, { profile: 'thorough', ...options });

/** The first call of a task does this, the others reply. */
const firstOnly =
  (task: Task, first: ScriptEntry) =>
  (call: number): ScriptEntry =>
    call === 1 ? first : { reply: replies[task] };

describe('the call of Observation', () => {
  it('is waited for if Intention ends first', async () => {
    const started = start({ observation: HANGS });
    await settle();
    expect(started.run.ref.getSnapshot().value).toEqual({ cycling: { observation: 'choosing' } });
    expect(countOf(started, 'observation')).toBe(1);
  });

  it.each([
    ['fails', { failure: {} }],
    ['is invalid', { text: '{}' }],
    ['is in prose', { text: 'It is so.' }],
  ])('is made again, by the phase, if it %s', async (_, first) => {
    const started = start({ observation: firstOnly('observation', first) });
    const { status, metadata } = await started.run.answer;
    expect(status).toBe('completed');
    expect(countOf(started, 'observation')).toBe(2);
    expect(metadata.usage.modelCalls).toBe(8);
  });

  it('[A13] is made again if no part of its reply arrives in time', async () => {
    const started = start({ observation: firstOnly('observation', HANGS) }, { limits: { firstChunkMs: 500 } });
    await settle();
    expect(countOf(started, 'observation')).toBe(1);
    started.clock.increment(500);
    expect((await started.run.answer).status).toBe('completed');
    expect(countOf(started, 'observation')).toBe(2);
  });

  it('is made again, and both are charged, if the context has changed meanwhile', async () => {
    const history = [{ role: 'user' as const, content: 'Look into the cellar.' }];
    const { model, run } = startScripted(
      { intention: firstOnly('intention', HANGS) },
      { profile: 'thorough' },
      { history },
    );
    await settle();
    run.send({ type: 'context.overruled', messageId: 'earlier.h1', choice: 'remove' });
    sendAnswer(run, { type: 'run.directed', phase: 'observation' });
    const { metadata } = await run.answer;
    expect(model.calls.filter(({ task }) => task === 'observation')).toHaveLength(2);
    expect(metadata.usage.modelCalls).toBe(8);
  });

  it.each([
    ['calls', { maxModelCalls: 4 }],
    ['tokens', { maxTokens: 1_000 }],
  ])('[E9] does not start early if the run may have too few %s to make it twice', async (_, limits) => {
    const started = start({ intention: HANGS }, { limits });
    await settle();
    expect(countOf(started, 'observation')).toBe(0);
  });

  it('[A7] replays to the same entries, however the early call ended', async () => {
    for (const plan of [{}, { observation: firstOnly('observation', { failure: {} }) }]) {
      const { run } = start(plan);
      await run.answer;
      expect(replay(run.entries).divergence).toBeNull();
    }
  });

  it('ends and is charged when the actor is stopped', async () => {
    const { run } = start({ intention: HANGS, observation: HANGS });
    await settle();
    run.ref.stop();
    const { metadata } = await run.answer;
    const ends = entriesOf(run, 'attempt-end').filter(({ task }) => task === 'observation');
    expect(ends).toMatchObject([{ attemptId: 's4.observation.early', failure: { code: 'aborted' } }]);
    expect(metadata.usage.modelCalls).toBe(4);
  });
});

describe('the call of Yield', () => {
  const history = [
    { role: 'user' as const, content: `Please look into the cellar. ${'The cellar is a long story. '.repeat(60)}` },
    { role: 'assistant' as const, content: 'I will look.' },
  ];
  const asked = (plan: Plan = {}, options: Omit<PostChainOptions, 'model' | 'clock'> = {}) =>
    startScripted(plan, { profile: 'balanced', ...options }, { history });

  it.each([
    ['by the user', { type: 'consent.given', choice: 'keep' } as const],
    ['because nobody answers', null],
  ])('starts while the user is asked for consent, and its reply is used if everything is kept %s', async (_, event) => {
    const started = asked();
    await settle();
    expect(entriesOf(started.run, 'consent-asked')).toHaveLength(1);
    expect(tasksOf(started).at(-1)).toBe('yield');
    if (event === null) started.clock.increment(120_000);
    else sendAnswer(started.run, event);
    expect((await started.run.answer).status).toBe('completed');
    expect(countOf(started, 'yield')).toBe(1);
  });

  it('[U8] is made again for the context that the user chose', async () => {
    const started = asked();
    await settle();
    sendAnswer(started.run, { type: 'consent.given', choice: 'remove' });
    const { metadata } = await started.run.answer;
    expect(countOf(started, 'yield')).toBe(2);
    const [early, own] = started.model.calls.filter(({ task }) => task === 'yield');
    const idsIn = (request: ModelRequest | undefined) =>
      (Object(request?.input) as { readonly messages: readonly Message[] }).messages.map(({ id }) => id);
    expect(idsIn(early)).toContain('earlier.h1');
    expect(idsIn(own)).not.toContain('earlier.h1');
    expect(metadata.usage.modelCalls).toBe(4);
  });
});
