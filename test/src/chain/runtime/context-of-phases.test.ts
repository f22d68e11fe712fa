import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage } from '../../../support/contract-samples.ts';
import { assistantMessage, userMessage } from '../../../support/retention.ts';
import { entriesOf, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

type Input = { readonly messages: readonly Message[]; readonly content: string; readonly flags?: readonly string[] };

const documents = { search: async (query: string) => ({ query, passages: [aPassage({ id: 'p1' })], widened: false }) };
const messages = [
  userMessage('u', 'The cellar is damp.'),
  assistantMessage('a', 'It was dug in winter.'),
  assistantMessage('n', 'I will look.'),
];
const pinned = messages.map((one) => ({ ...one, tags: ['pinned'] }));
const connected = (relation: string) => ({
  ...replies.observation,
  connections: [{ from: 'earlier.u', to: 'earlier.a', relation, strength: 0.9 }],
});
const plan = {
  experience: { ...replies.experience, relevantPassageIds: ['p1'] },
  intention: {
    ...replies.intention,
    alignment: [
      { messageId: 'earlier.u', score: 0.9 },
      { messageId: 'earlier.a', score: 0.1 },
    ],
  },
  observation: (call: number) => connected(call === 1 ? 'explains' : 'contradicts'),
  yield: (call: number) => unsureAnswer(call),
};

describe('operations appended by a phase', () => {
  it('[C2] [C3] are visible to the next phase and applied when it ends, in phase order', async () => {
    const { run, model } = startScripted(plan, { documents, limits: { maxCycles: 2 } }, { messages });
    await run.answer;
    const facts = entriesOf(run, 'operations');
    expect(facts.map(({ step }) => step)).toEqual(facts.map((_, at) => at + 1));
    for (const { applied, step } of facts)
      for (const { id } of applied) expect(id).toMatch(new RegExp(`^s${step - 1}\\.o\\d+$`));
    const phases = model.calls.filter(({ task }) => task !== 'synthesis' && task !== 'summary');
    for (const [at, { applied }] of facts.entries()) {
      const { messages: shown = [], content = '' } = (phases[at]?.input ?? {}) as Partial<Input>;
      // Observation reads what Intention read.
      for (const operation of applied)
        if (operation.operation === 'ADD' && phases[at]?.task !== 'observation')
          expect(shown).toContainEqual(expect.objectContaining({ id: operation.target }));
      if (at === 1) expect(content).toBe(replies.action.response);
    }
  });

  it('[C6] [C7] change the priority, tags, and links of their target messages', async () => {
    const { run } = startScripted(plan, { documents }, { messages: pinned });
    await run.answer;
    const byId = new Map(run.actor.getSnapshot().context.messages.map((message) => [message.id, message]));
    expect(byId.get('earlier.u')).toMatchObject({
      importance: 0.9,
      links: [{ to: 'earlier.a', relation: 'explains', strength: 0.9 }],
    });
    expect(byId.get('earlier.a')?.tags).toContain('low_relevance');
    expect(byId.get('p1')?.tags).toContain('relevant');
  });

  it('[C7] never overwrite a link: a contradicting one is reported', async () => {
    const { run } = startScripted(plan, { documents, limits: { maxCycles: 2 } }, { messages: pinned });
    await run.answer;
    const { context } = run.actor.getSnapshot();
    expect(context.messages.find(({ id }) => id === 'earlier.u')?.links).toEqual([
      { to: 'earlier.a', relation: 'explains', strength: 0.9 },
    ]);
    expect(context.results.observation?.conflicts).toEqual([
      expect.stringMatching(/existing relation "explains", proposed "contradicts"/),
    ]);
  });
});

describe('unclear intent', () => {
  const flagsOf = ({ model }: ReturnType<typeof startScripted>) =>
    (model.calls.find(({ task }) => task === 'yield')?.input as Input | undefined)?.flags;

  it.each([
    ['the model reports it', { intention: { ...replies.intention, unclearIntent: true } }, 'Is it so?', true],
    ['the request contradicts itself', {}, 'Describe the bridge in one word. Use at least 200 words.', true],
    ['neither', {}, 'Describe the bridge in at most 200 words.', false],
  ])('[C6] [Y3] is flagged when %s and resolved in the next cycle', async (_, said, request, wanted) => {
    const started = startScripted(
      { ...said, yield: (call: number) => unsureAnswer(call) },
      { limits: { maxCycles: 2 } },
      { request },
    );
    await started.run.answer;
    expect(flagsOf(started)?.includes('unclear_intent')).toBe(wanted);
    expect(entriesOf(started.run, 'decision')[0]?.decision.nextPhase).toBe(wanted ? 'intention' : 'action');
  });
});

describe('what decides reaches the model', () => {
  const promptsOf = ({ model }: ReturnType<typeof startScripted>, task: string): readonly string[] =>
    model.calls.filter((call) => call.task === task).map(({ turns }) => turns.at(-1)?.content ?? '');

  it('[C9] Understanding reads the tags, links, importance, cycle and uses of every message', async () => {
    const started = startScripted(plan, { documents }, { messages: pinned });
    await started.run.answer;
    const [prompt = ''] = promptsOf(started, 'understanding');
    expect(prompt).toContain('\nid="earlier.u" cycle="0" importance="0.9" tags="pinned" links="explains earlier.a"\n');
    expect(prompt).toMatch(/\nid="earlier\.a" .* uses="1" tags="pinned, low_relevance"\n/u);
    expect(prompt).toMatch(/\nid="p1" .* uses="1" tags="relevant"\n/u);
  });

  it('[C9] Yield reads the cycle, confidences, earlier decisions, the size of the context, usage and flags', async () => {
    const unclear = { ...plan, intention: { ...replies.intention, unclearIntent: true } };
    const started = startScripted(unclear, { documents, limits: { maxCycles: 2 } }, { messages: pinned });
    await started.run.answer;
    const [first = '', second = ''] = promptsOf(started, 'yield');
    expect(first).toContain('Cycle 1 of at most 2; so far 5 model calls');
    expect(first).toContain('Confidence: action 0.4, experience 0.7, intention 0.9.');
    expect(first).toContain('Understanding: 9 of 9 messages kept');
    expect(first).toContain('Open: the intent of the request is unclear.');
    expect(first).not.toContain('Cycle 1:');
    expect(second).toMatch(/Cycle 1: continuing with \w+: .* \(confidence 0\.\d+\)\./u);
  });
});
