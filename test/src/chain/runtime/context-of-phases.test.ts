import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage, sourceOf } from '../../../support/contract-samples.ts';
import { assistantMessage, userMessage } from '../../../support/retention.ts';
import { entriesOf, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

type Input = { readonly messages: readonly Message[]; readonly content: string; readonly flags?: readonly string[] };

const documents = sourceOf(aPassage());
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

  it.each([
    ['the reading of the next cycle', 'balanced' as const, 1, /^n="3" cycle="0" tags="pinned, important, persist"$/mu],
    [
      'its own call',
      { extends: 'balanced' as const, observation: 'own' as const },
      0,
      /^n="1" cycle="0" tags="pinned" links="explains 2"\nn="2" cycle="0" uses="1" tags="pinned"\nn="3" .*important/mu,
    ],
  ])('[C9] in a brief reply, %s shows Understanding what Observation found', async (_, profile, reading, found) => {
    const observation = { ...connected('explains'), importance: [{ messageId: 'earlier.n', score: 0.9 }] };
    const { run, model } = startScripted(
      { ...plan, observation },
      { documents, profile, limits: { maxCycles: 2 } },
      { messages: pinned },
    );
    await run.answer;
    const readings = model.calls.filter(({ phases }) => phases?.includes('understanding'));
    expect(readings[reading]?.turns.at(-1)?.content).toMatch(found);
    if (reading > 0) expect(readings[0]?.turns.at(-1)?.content).not.toMatch(found);
  });
});
