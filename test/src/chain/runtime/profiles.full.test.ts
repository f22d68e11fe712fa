import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import { PHASES, type Task } from '../../../../machines/contracts/phase.ts';
import { PROFILES } from '../../../../machines/contracts/profile.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import { createPostChain, prompts, replay } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { caughtError } from '../../../support/errors.ts';
import {
  entriesOf,
  type Plan,
  phasesOf,
  rulesOf,
  settle,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';

const passage = {
  id: 'p1',
  text: 'It is so, for certain.',
  heading: [],
  source: { path: 'a.md', startLine: 1 },
  relevance: 0.9,
};
const documents = { search: async (query: string) => ({ query, passages: [passage], widened: false }) };

/** Starts a run in a profile; the documents support the answer. */
const start = (plan: Plan, options: Omit<PostChainOptions, 'model' | 'clock'>) =>
  startScripted(plan, { documents, ...options });

const tasksOf = ({ model }: ReturnType<typeof startScripted>): readonly Task[] =>
  model.calls.map(({ task }) => task as Task);
const promptOf = ({ turns }: ModelRequest): string => turns.map(({ content }) => content).join('\n');

describe('a profile', () => {
  it.each([
    ['thorough', [...PHASES, 'synthesis']],
    ['balanced', ['action', 'experience', 'intention', 'yield']],
    ['lean', ['action', 'experience', 'yield']],
  ] as const)('%s answers in one cycle with the calls %j', async (profile, tasks) => {
    const started = start({}, { profile });
    const { status } = await started.run.answer;
    expect(status).toBe('completed');
    expect([...tasksOf(started)].sort()).toEqual([...tasks].sort());
    expect(started.run.journal.filter(({ type }) => type === 'attempt-start')).toHaveLength(tasks.length);
  });

  it('is balanced by default', async () => {
    const { run } = createScripted();
    expect((await run.answer).metadata.usage.modelCalls).toBe(3);
    expect(entriesOf(run, 'run-start')[0]?.profile).toEqual({ ...PROFILES.balanced, experience: 'policy' });
  });

  it.each(['balanced', 'lean'] as const)('%s makes no model call for Experience without documents', async (profile) => {
    const started = startScripted({}, { profile });
    await started.run.answer;
    expect(tasksOf(started)).toEqual(['action', 'intention', 'yield']);
    expect(phasesOf(started.run)).toEqual(PHASES);
  });

  it.each(['thorough', 'balanced', 'lean'] as const)(
    '[C1] %s passes the six phases in order, each with a validated result and the call that it is from',
    async (profile) => {
      const { run } = start({}, { profile });
      await run.answer;
      const { results } = run.actor.getSnapshot().context;
      expect(phasesOf(run)).toEqual(PHASES);
      for (const phase of PHASES) expect(results[phase]?.reply).toEqual(expect.objectContaining(replies[phase]));
      const calls = entriesOf(run, 'attempt-start').map(({ attemptId }) => attemptId);
      for (const { attemptId } of entriesOf(run, 'phase-end')) expect(calls).toContain(attemptId);
    },
  );

  it('[A7] replays to the same entries', async () => {
    for (const profile of ['thorough', 'balanced', 'lean'] as const) {
      const { run } = start({}, { profile });
      await run.answer;
      expect(replay(run.journal).divergence).toBeNull();
    }
  });

  it('can be set by phase', async () => {
    const started = start(
      {},
      { profile: { extends: 'lean', experience: 'own', observation: 'policy', writing: 'always' } },
    );
    await started.run.answer;
    expect(tasksOf(started)).toEqual(['action', 'experience', 'intention', 'yield', 'synthesis']);
    const { results } = started.run.actor.getSnapshot().context;
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
    expect(started.run.actor.getSnapshot().context.results).toMatchObject({
      experience: { reply: { relevantPassageIds: ['p1'], confidence: 0.9 } },
      intention: { reply: { goal: '', clarity: 1, unclearIntent: false } },
      understanding: { reply: { assessments: [] }, attemptId: null },
    });
  });

  it.each([
    ['best', 'profile: expected one of "thorough" or "balanced" or "lean"; received "best".'],
    [{ understanding: 'never' }, 'profile: expected "thorough"'],
    [{ action: 'policy' }, 'profile.action: unknown option; expected one of experience, intention,'],
  ])('is rejected if it is %j', (profile, message) => {
    const error = caughtError(() => createPostChain({ profile: profile as never }));
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(message) });
  });
});

/** A chain with the defaults of `createPostChain`. */
function createScripted() {
  const { model, clock } = startScripted();
  return { run: createPostChain({ model, clock }).run({ request: 'Is it so?' }), model };
}

describe('a shared call', () => {
  const shared = { profile: 'balanced' } as const;
  const callOf = (started: ReturnType<typeof startScripted>, task: Task) =>
    started.model.calls.find((call) => call.task === task) as ModelRequest;

  it('asks for all its phases with one prompt, which ends with the members of the reply', async () => {
    const started = start({}, shared);
    await started.run.answer;
    const call = callOf(started, 'intention');
    expect(call.phases).toEqual(['intention', 'observation', 'understanding']);
    const prompt = promptOf(call);
    for (const name of ['Intention', 'Observation', 'Understanding']) expect(prompt).toContain(`Phase: ${name}`);
    expect(prompt.endsWith('Reply with the members "intention", "observation" and "understanding" only.')).toBe(true);
    expect(call.outputSchema).toEqual(callOf(started, 'action').outputSchema);
  });

  const broken = { insights: 'none' } as never;
  it.each([
    ['is missing', { intention: replies.intention, understanding: replies.understanding }],
    ['is null', { intention: replies.intention, observation: null, understanding: replies.understanding }],
    ['is invalid', { intention: replies.intention, observation: broken, understanding: replies.understanding }],
  ])('[A8] leaves out a phase whose part %s, which then makes its own call', async (_, reply) => {
    const started = start({ intention: { reply } }, shared);
    const answer = await started.run.answer;
    expect(answer.status).toBe('completed');
    expect(tasksOf(started)).toEqual(['action', 'experience', 'intention', 'observation', 'yield']);
    const { results } = started.run.actor.getSnapshot().context;
    expect(results.observation).toMatchObject({ reply: replies.observation, attemptId: 's4.observation' });
    expect(results.understanding).toMatchObject({ attemptId: 's3.intention' });
    expect(answer.metadata.refinements).toBe(0);
  });

  it('[A9] is corrected if the part of its first phase is invalid', async () => {
    const reply = { intention: { goal: 3 }, observation: replies.observation };
    const started = start({ intention: (call: number) => (call === 1 ? { reply } : replies.intention) }, shared);
    const answer = await started.run.answer;
    expect(tasksOf(started)).toEqual(['action', 'experience', 'intention', 'intention', 'yield']);
    expect(promptOf(started.model.calls[3] as ModelRequest)).toContain('intention.goal');
    expect(answer.metadata.refinements).toBe(1);
  });

  it('counts as a reply to its first phase only, if it is in prose', async () => {
    const started = start({ intention: { text: 'They want to know.' } }, shared);
    await started.run.answer;
    expect(tasksOf(started).slice(-3)).toEqual(['intention', 'observation', 'yield']);
    expect(started.run.actor.getSnapshot().context.results.intention).toMatchObject({
      prose: true,
      reply: { goal: 'They want to know.' },
    });
  });

  it('[A11] is charged to the phase that made it', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 100, estimated: false };
    const prices = { currency: 'EUR', models: { scripted: { inputPerMillion: 1_000, outputPerMillion: 0 } } };
    const started = start({ intention: { reply: replies.intention, usage } }, { ...shared, prices });
    const { metadata } = await started.run.answer;
    expect(metadata.cost?.byTask['intention']).toBe(1);
    expect(metadata.cost?.byTask).not.toHaveProperty('observation');
  });

  it('is followed by a call for its first phase only, if it failed', async () => {
    const limits = { maxCorrections: 0, maxPhaseRetries: 1 };
    const started = start(
      { intention: (call: number) => (call === 1 ? { text: '{}' } : replies.intention) },
      { ...shared, limits },
    );
    expect(await started.run.answer).toMatchObject({ status: 'completed' });
    expect(started.model.calls.map(({ task, phases }) => phases ?? task).slice(2)).toEqual([
      ['intention', 'observation', 'understanding'],
      'intention',
      ['observation', 'understanding'],
      'yield',
    ]);
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

  it('[Y2] [Y8] leads to the same decision in every profile', async () => {
    for (const yields of [replies.yield, { ...replies.yield, confidence: 0.5, taskComplete: true }]) {
      const rules = [];
      for (const profile of ['thorough', 'balanced', 'lean'] as const) {
        const { run } = start({ yield: yields }, { profile });
        await run.answer;
        rules.push(rulesOf(run).join());
      }
      expect(new Set(rules).size).toBe(1);
    }
  });
});

describe('a shared call in which the task of one phase throws', () => {
  it('omits that phase, and only that phase fails', async () => {
    const broken = {
      ...prompts.observation,
      version: 99,
      task: () => {
        throw new Error('boom');
      },
    };
    const { experience, intention, understanding } = replies;
    const plan = { experience: { reply: { experience, intention, understanding } } };
    const started = start(plan, { profile: 'lean', prompts: { observation: broken } });
    const { metadata } = await started.run.answer;
    expect(metadata.failures.map(({ phase }) => phase)).toEqual(['observation']);
    expect(started.model.calls[1]?.phases).toEqual(['experience', 'intention', 'observation', 'understanding']);
    expect(promptOf(started.model.calls[1] as ModelRequest)).toContain('"experience", "intention" and "understanding"');
  });
});

describe('a shared call that is too long for the model', () => {
  it('is repeated for its own phase only, whose prompt is shorter', async () => {
    const request = { request: 'Is it so?' };
    const model = scriptedModel({}, { otherwise: replies });
    await createPostChain({ profile: 'lean', model, documents }).run(request).answer;
    const tokens = ({ turns }: ModelRequest) =>
      Math.ceil(turns.reduce((sum, { content }) => sum + content.length, 0) / 4);
    const [shared] = model.calls.filter(({ phases }) => phases !== undefined);
    const contextWindowTokens = tokens(shared as ModelRequest) - 20;
    const small = scriptedModel({}, { otherwise: replies, contextWindowTokens });
    const run = createPostChain({ profile: 'lean', model: small, documents }).run(request);
    const answer = await run.answer;
    expect(answer.metadata.failures[0]).toMatchObject({ phase: 'experience', failure: { code: 'prompt_too_long' } });
    expect(phasesOf(run).slice(0, 3)).toEqual(['action', 'experience', 'experience']);
    expect(run.actor.getSnapshot().context.results.experience?.reply).toMatchObject({
      summary: replies.experience.summary,
    });
  });
});

describe('a run that is resumed or directed', () => {
  it('does not use the parts of a call from before the user directed it', async () => {
    const hangs = { hang: true } as const;
    const started = start({ yield: hangs }, { profile: 'balanced' });
    await settle();
    started.run.send({ type: 'run.directed', phase: 'intention', prompt: 'Say why.' });
    await settle();
    expect(tasksOf(started).filter((task) => task === 'intention')).toHaveLength(2);
    started.run.cancel();
    await started.run.answer;
  });

  it('does not use a part that is left over from an earlier cycle', async () => {
    const reply = { intention: replies.intention, understanding: replies.understanding };
    const started = start({ intention: { reply }, observation: { hang: true } }, { profile: 'balanced' });
    await settle();
    expect(tasksOf(started).at(-1)).toBe('observation');
    started.run.send({ type: 'run.directed', phase: 'intention' });
    await settle();
    const [, second] = started.model.calls.filter(({ task }) => task === 'intention');
    expect(second?.phases).toEqual(['intention', 'observation', 'understanding']);
    started.run.cancel();
    await started.run.answer;
  });
});
