import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import { PHASES, type Task } from '../../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../../machines/contracts/phase-io.ts';
import { PROFILES } from '../../../../machines/contracts/profile.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import { createPostChain, prompts, replay } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage, sourceOf } from '../../../support/contract-samples.ts';
import { anError, caughtError } from '../../../support/errors.ts';
import {
  capabilityNamed,
  entriesOf,
  type Plan,
  phasesOf,
  settle,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';

const passage = aPassage({ text: 'It is so, for certain.', heading: [], source: { path: 'a.md', startLine: 1 } });
const documents = sourceOf(passage);

/** Starts a run in a profile; the documents support the answer. */
const start = (plan: Plan, options: Omit<PostChainOptions, 'model' | 'clock'>) =>
  startScripted(plan, { documents, ...options });

const tasksOf = ({ model }: ReturnType<typeof startScripted>): readonly Task[] =>
  model.calls.map(({ task }) => task as Task);
const promptOf = ({ turns }: ModelRequest): string => turns.map(({ content }) => content).join('\n');

describe('a profile', () => {
  it.each([
    ['thorough', [...PHASES, 'synthesis']],
    ['balanced', ['experience', 'yield']],
    ['lean', ['experience']],
  ] as const)('%s answers in one cycle with the calls %j', async (profile, tasks) => {
    const started = start({}, { profile });
    const { status } = await started.run.answer;
    expect(status).toBe('completed');
    expect([...tasksOf(started)].sort()).toEqual([...tasks].sort());
    expect(started.run.entries.filter(({ type }) => type === 'attempt-start')).toHaveLength(tasks.length);
  });

  it('is balanced by default', async () => {
    const { run } = createScripted();
    expect((await run.answer).metadata.usage.modelCalls).toBe(1);
    expect(entriesOf(run, 'start')[0]?.input.profile).toEqual({ ...PROFILES.balanced, experience: 'policy' });
  });

  it.each([
    ['balanced', 'yield'],
    ['lean', 'experience'],
  ] as const)('%s takes one call without documents, at %s', async (profile, caller) => {
    const started = startScripted({}, { profile });
    await started.run.answer;
    expect(tasksOf(started)).toEqual([caller]);
    expect(phasesOf(started.run)).toEqual(PHASES);
  });

  it('asks a model in Action only if there are capabilities', async () => {
    const lookup = capabilityNamed('lookup', () => 'It is so.');
    const action = (call: number) => ({
      ...replies.action,
      calls: call === 1 ? [{ capability: 'lookup', arguments: '{}' }] : [],
    });
    const started = start({ action }, { profile: 'lean', capabilities: [lookup] });
    expect((await started.run.answer).status).toBe('completed');
    expect(tasksOf(started)).toEqual(['action', 'experience']);
    expect(Object.keys(Object(started.model.calls[0]?.outputSchema['properties']))).toEqual(
      Object.keys(replies.action),
    );
  });

  it.each(['thorough', 'balanced', 'lean'] as const)(
    '[C1] %s passes the six phases in order, each with a validated result and the call that it is from',
    async (profile) => {
      const { run } = start({}, { profile });
      await run.answer;
      const { results } = run.ref.getSnapshot().context;
      expect(phasesOf(run)).toEqual(PHASES);
      for (const phase of PHASES) expect(replySchemas[phase].safeParse(results[phase]?.reply).success).toBe(true);
      expect(results.yield?.reply.answer).toBe(replies.yield.answer);
      const calls = entriesOf(run, 'attempt-start').map(({ attemptId }) => attemptId);
      for (const { phase, attemptId } of entriesOf(run, 'phase-end'))
        if (profile === 'thorough' || phase !== 'action') expect(calls).toContain(attemptId);
    },
  );

  it('[A7] replays to the same entries', async () => {
    for (const profile of ['thorough', 'balanced', 'lean'] as const) {
      const { run } = start({}, { profile });
      await run.answer;
      expect(replay(run.entries).divergence).toBeNull();
    }
  });

  it('can be set by phase', async () => {
    const started = start(
      {},
      { profile: { extends: 'lean', action: 'always', experience: 'own', observation: 'policy', writing: 'always' } },
    );
    await started.run.answer;
    expect(tasksOf(started)).toEqual(['action', 'experience', 'intention', 'synthesis']);
    expect(started.model.calls[2]?.phases).toEqual(['intention', 'understanding', 'yield']);
    const { results } = started.run.ref.getSnapshot().context;
    expect(results.observation).toMatchObject({ attemptId: null, reply: { insights: [], undigested: false } });
    expect(results.understanding).toMatchObject({ attemptId: 's3.intention' });
  });

  it('with policies instead of a model gives the phases the replies of their policies', async () => {
    const profile = {
      experience: 'policy',
      intention: 'policy',
      observation: 'policy',
      understanding: 'policy',
    } as const;
    const started = startScripted({}, { profile, documents }, { request: 'Answer in one word, and in detail.' });
    await started.run.answer;
    expect(tasksOf(started)).not.toContain('intention');
    expect(started.run.ref.getSnapshot().context.results).toMatchObject({
      experience: { reply: { relevantPassageIds: ['p1'], confidence: 0.9 } },
      intention: { reply: { goal: '', clarity: 1, unclearIntent: false } },
      understanding: { reply: { assessments: [] }, attemptId: null },
    });
  });

  it.each([
    ['best', 'profile: expected one of "thorough" or "balanced" or "lean"; received "best".'],
    [{ understanding: 'never' }, 'profile: expected "thorough"'],
    [{ reading: 'policy' }, 'profile.reading: unknown option; expected one of action, experience,'],
  ])('is rejected if it is %j', (profile, message) => {
    const error = caughtError(() => createPostChain({ profile: profile as never }));
    expect(error).toMatchObject(anError('invalid_option', message));
  });
});

/** A chain with the defaults of `createPostChain`. */
function createScripted() {
  const { model, clock } = startScripted();
  return { run: createPostChain({ model, clock }).run({ request: 'Is it so?' }), model };
}

const LATER = ['intention', 'observation', 'understanding', 'yield'] as const;
const callsOf = ({ model }: ReturnType<typeof startScripted>) =>
  model.calls.map(({ task, phases }) => phases?.join(' ') ?? task);
const READING = 'experience intention observation understanding';
const ONE_CALL = `${READING} yield`;
const unsure = (call: number) => unsureAnswer(call, { confidence: 0.3, informationSufficiency: 0.3 });

describe('a brief reply', () => {
  const lean = { profile: 'lean' } as const;

  it('comes from a prompt with numbered material and a schema with only its own fields', async () => {
    const started = start({}, lean);
    await started.run.answer;
    const [call] = started.model.calls;
    expect(call?.phases).toEqual(['experience', ...LATER]);
    expect(promptOf(call as ModelRequest)).toContain('<passage n="1">');
    expect(Object.keys(Object(call?.outputSchema['properties']))).toEqual(Object.keys(replies.brief));
  });

  it('is the same schema for reading and answering, after the same text', async () => {
    const started = start({}, { profile: 'balanced' });
    await started.run.answer;
    const [reading, answering] = started.model.calls;
    expect(callsOf(started)).toEqual([READING, 'yield']);
    expect(answering?.outputSchema).toEqual(reading?.outputSchema);
    const shared = reading?.turns[1]?.cachedChars ?? 0;
    expect(answering?.turns[1]?.content.slice(0, shared)).toBe(reading?.turns[1]?.content.slice(0, shared));
    expect(promptOf(answering as ModelRequest)).toContain(replies.understanding.integrated);
  });

  it('is corrected once; then each phase of the cycle makes its own call', async () => {
    const experience = (call: number) =>
      call < 3 ? { reply: { ...replies.brief, confidence: 7 } } : replies.experience;
    const started = start({ experience }, lean);
    const answer = await started.run.answer;
    expect(answer.status).toBe('completed');
    expect(callsOf(started)).toEqual([ONE_CALL, ONE_CALL, 'experience', ...LATER]);
    expect(entriesOf(started.run, 'recovery')).toMatchObject([{ phase: 'experience', action: 'repeat' }]);
  });

  it('is not asked for a context that must be rated first', async () => {
    const text = 'It is a long story. '.repeat(900);
    const started = start(
      {},
      { ...lean, documents: sourceOf({ ...passage, text }), thresholds: { windowShare: 0.02 } },
    );
    await started.run.answer;
    expect(callsOf(started).slice(0, 2)).toEqual(['experience intention observation', 'understanding']);
    expect(started.run.ref.getSnapshot().context.results.yield?.reply.answer).toBe(replies.yield.answer);
  });

  it('leads to another cycle if its confidence is low, and to separate reading and answering from cycle 3 on', async () => {
    const experience = { ...replies.experience, missing: ['the opening hours'] };
    const started = start({ yield: unsure, experience }, { ...lean, limits: { maxCycles: 3 } });
    await started.run.answer;
    expect(callsOf(started).slice(0, 4)).toEqual([ONE_CALL, ONE_CALL, READING, 'yield']);
    expect(entriesOf(started.run, 'retrieval')[1]?.query).toContain('the opening hours');
  });

  it('has low confidence if it is prose', async () => {
    const started = start(
      { experience: { text: 'It is so, I think.', replyForm: 'text' } },
      { ...lean, limits: { maxCycles: 1 } },
    );
    const answer = await started.run.answer;
    expect(answer.status).toBe('degraded');
    expect(started.run.ref.getSnapshot().context.results.yield).toMatchObject({
      prose: true,
      reply: { answer: 'It is so, I think.', confidence: 0.2 },
    });
  });

  it('[A11] is charged to the phase that made the call', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 100, estimated: false };
    const prices = { currency: 'EUR', models: { scripted: { inputPerMillion: 1_000, outputPerMillion: 0 } } };
    const started = start({ experience: { reply: replies.experience, usage } }, { ...lean, prices });
    const { metadata } = await started.run.answer;
    expect(metadata.cost?.byTask).toEqual({ experience: 1 });
  });

  it('is not shared by a phase with a prompt of its own', async () => {
    const observation = { ...prompts.observation, version: 99 };
    const started = start({}, { ...lean, prompts: { observation } });
    await started.run.answer;
    expect(callsOf(started)).toEqual(['experience intention', 'observation', 'understanding yield']);
  });
});

describe('the answer of Yield', () => {
  const lean = { profile: 'lean' } as const;
  const withYield = (changes: object, limits = {}) =>
    start({ yield: { ...replies.yield, ...changes } }, { ...lean, limits });

  it('[E10] is final if a rule finds it good, with its own notes, sources and confidence', async () => {
    const { run } = withYield({ notes: 'One source only.', usedMessageIds: ['p1'] });
    expect(await run.answer).toMatchObject({
      answerText: replies.yield.answer,
      confidence: replies.yield.confidence,
      notes: 'One source only.',
      sources: [{ path: 'a.md' }],
      status: 'completed',
      metadata: { synthesis: { writtenBy: 'model', fallback: null, error: null } },
    });
  });

  it.each([
    ['no rule finds it good', unsureAnswer(1)],
    ['it is in prose', null],
    ['the evidence does not support it', { answer: 'Zebras prefer umbrellas in Venice.' }],
    ['it only says that nothing was found', { noEvidence: true, taskComplete: true }],
  ])('[E3] is written again if %s', async (_, changes) => {
    const started =
      changes === null ? start({ yield: { text: 'It is so, I think.' } }, lean) : withYield(changes, { maxCycles: 1 });
    await started.run.answer;
    expect(tasksOf(started).at(-1)).toBe('synthesis');
  });
});

describe('a prompt for a brief reply that is too long for the model', () => {
  it('fails only that call', async () => {
    const model = scriptedModel({}, { otherwise: replies, contextWindowTokens: 150 });
    const run = createPostChain({ profile: 'lean', model, documents }).run({ request: 'Is it so?' });
    const answer = await run.answer;
    expect(answer.metadata.failures[0]).toMatchObject({ phase: 'experience', failure: { code: 'prompt_too_long' } });
    expect(phasesOf(run).slice(0, 3)).toEqual(['action', 'experience', 'experience']);
  });
});

describe('a run that is directed', () => {
  it('does not use the parts of an earlier call', async () => {
    const started = start({ yield: { hang: true } }, { profile: 'balanced' });
    await settle();
    started.run.send({ type: 'run.directed', phase: 'intention', prompt: 'Say why.' });
    await settle();
    expect(callsOf(started)).toEqual([READING, 'yield', 'intention observation understanding', 'yield']);
  });
});
