import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerMaterialSchema, synthesisInputSchema } from '../../../../machines/contracts/synthesis.ts';
import { basisOf, basisOfContract, bestDraft } from '../../../../machines/policies/synthesis/basis.ts';
import { modelMayWrite } from '../../../../machines/policies/synthesis/writing.ts';
import { aBasis, aSynthesisInput } from '../../../support/answer-basis.ts';
import { chainStateArbitrary } from '../../../support/arbitraries.ts';
import { aDecision, anAssessment, aState, deepFreeze, results, someLimits } from '../../../support/contract-samples.ts';

const done = aState({
  results,
  assessment: anAssessment({ change: 0.05, confidence: 0.95 }),
  decision: aDecision(),
  decisions: [aDecision()],
  corrections: 2,
  recursion: { cycle: 2, completedCycles: 2, continuationPrompt: 'Answer again.' },
});
const ofContract = (changes: Parameters<typeof aSynthesisInput>[0]) =>
  basisOfContract(synthesisInputSchema.parse(aSynthesisInput(changes)), 8_000).material;

describe('the basis of a chain’s answer', () => {
  it('[E6] [E8] has material that fits the prompt in any state, and does not mutate the state', () => {
    fc.assert(
      fc.property(chainStateArbitrary, (state) => {
        const before = structuredClone(state);
        const { material } = basisOf(deepFreeze(state));
        expect(answerMaterialSchema.parse(JSON.parse(JSON.stringify(material)))).toEqual(material);
        expect(state).toEqual(before);
      }),
    );
  });

  it('[E1] contains the results of the run', () => {
    expect(basisOf(done)).toMatchObject({
      material: {
        request: done.request,
        draft: { text: 'In 1932.', confidence: 0.95, usedMessageIds: ['p1'] },
        steps: [
          { stepId: 's1', phase: 'action', content: 'It was 1932.\na draft' },
          { stepId: 's2', phase: 'experience', content: 'The papers say 1932.' },
          { stepId: 's3', phase: 'intention', content: 'the year of opening' },
          { stepId: 's4', phase: 'observation', content: '1932 is named twice' },
          { stepId: 's5', phase: 'understanding', content: 'Opened in 1932.' },
          { stepId: 's6', phase: 'yield', content: 'In 1932.' },
        ],
        converged: true,
        cycles: 2,
        corrections: 2,
        notes: {
          ending: `rationale: ${aDecision().rationale}\nconfidence: 0.95\nchange: 0.05`,
          plan: 'goal: the year of opening\nalternatives: ["the year of design"]',
          task: 'currentTask: Answer again.\nclarity: 0.9',
          passes: JSON.stringify({
            cycle: 1,
            rule: aDecision().rule,
            nextPhase: null,
            rationale: aDecision().rationale,
          }),
          validation: '',
        },
      },
      answer: 'In 1932.',
      cyclesLeft: 3,
    });
  });

  it('[E3] is complete for a run without results too', () => {
    expect(basisOf(aState())).toMatchObject({
      material: {
        draft: { text: '' },
        steps: [],
        converged: false,
        cycles: 0,
        notes: { ending: 'rationale: no decision was reached\nconfidence: 0', plan: '', task: '', passes: '' },
      },
      answer: null,
      cyclesLeft: 5,
      elapsedMs: 0,
    });
  });

  it.each<[boolean, Parameters<typeof aDecision>[0], number]>([
    [true, { rule: 'confidenceReached' }, 0.95],
    [true, { rule: 'answerConverged' }, 0.5],
    [true, { rule: 'taskComplete' }, 0.5],
    [true, { rule: 'cycleLimitReached' }, 0.95],
    [false, { rule: 'cycleLimitReached' }, 0.5],
    [false, { rule: 'budgetExhausted' }, 0.5],
    [false, { rule: 'loopDetected' }, 0.5],
    [false, { rule: 'nextPhaseChosen', complete: false }, 0.5],
  ])('[E1] has converged: %s, after the decision %j with confidence %d', (converged, decision, confidence) => {
    const state = { ...done, assessment: anAssessment({ confidence }), decision: aDecision(decision) };
    expect(basisOf(state).material.converged).toBe(converged);
  });
});

describe('the basis of another program’s answer', () => {
  it('[E1] [E2] reads a step under the names that other programs use', () => {
    const executionResults = [
      { step_id: 1, tool: 'search', output: 'Found two.' },
      { id: 'b', result: { rows: 2 } },
      { status: 'done', note: undefined },
    ];
    expect(ofContract({ executionResults }).steps).toEqual([
      { stepId: '1', phase: 'search', content: 'Found two.' },
      { stepId: 'b', phase: '', content: '{"rows":2}' },
      { stepId: 'step 3', phase: '', content: '{"status":"done"}' },
    ]);
  });

  it('[E2] notes dictionaries of any form, without their empty members', () => {
    const { notes } = ofContract({
      planState: { steps: [{ id: 1, done: true }], owner: null, goal: 'Opened\nin 1932', tags: [] },
      executionPasses: [{ pass: 1 }, { pass: 2 }],
      semanticValidation: null,
      taskProfile: undefined,
    });
    expect(notes).toEqual({
      ending: 'confidence: 0.9\nrationale: first cycle',
      plan: 'steps: [{"id":1,"done":true}]\ngoal: Opened\nin 1932',
      task: '',
      passes: '{"pass":1}\n{"pass":2}',
      validation: '',
    });
  });
});

describe('the best text of a run', () => {
  const step = (phase: string, content = phase) => ({ stepId: phase, phase, content });
  const bestOf = (steps: readonly ReturnType<typeof step>[], request = 'Is it so?') =>
    bestDraft({ request, steps, draft: { text: ' ', confidence: 0.8, usedMessageIds: [], notes: '' } });

  it('[E3] is its draft', () => {
    const { material } = aBasis();
    expect(bestDraft(material)).toBe(material.draft);
  });

  it.each([
    [
      'the step that is closest to an answer',
      [step('understanding'), step('experience'), step('other')],
      'understanding',
    ],
    ['the only step', [step('deploy'), step('report', ' ')], 'deploy'],
    ['neither a goal nor a list of insights', [step('build'), step('intention'), step('observation')], 'build'],
  ])('[E3] is without a draft %s', (_, steps, text) => {
    expect(bestOf(steps)).toMatchObject({ text, confidence: 0.8 });
  });

  it.each([
    ['Which port?', ['Deployed at port 80.', 'Lint was irrelevant.'], 'Deployed at port 80.'],
    ['Is it deployed?', ['Lint was irrelevant.', 'Deploying failed.', 'All done.'], 'Deploying failed.'],
    ['What about the port?', ['The port is 80.', 'The port is 81.', 'Bye.'], 'The port is 81.'],
    [
      'Who?',
      ['Deployed at port 80.', 'Lint was irrelevant.'],
      'Results:\n- Deployed at port 80.\n- Lint was irrelevant.',
    ],
  ])('[E3] concerns the request "%s", or lists the results', (request, contents, text) => {
    const { text: given, confidence } = bestOf(
      contents.map((content) => step('tool', content)),
      request,
    );
    expect(given).toBe(text);
    expect(confidence).toBe(text.startsWith('Results') ? 0.5 : 0.8);
  });

  it('[E3] is empty without results', () => {
    expect(bestOf([])).toMatchObject({ text: '', confidence: 0 });
  });
});

it.each([
  ['a reserve is kept', {}, true],
  ['the reserve is zero', { limits: someLimits({ synthesisReserveTokens: 0 }) }, false],
  ['the user canceled', { interruption: { kind: 'cancelled', reason: '' } }, false],
  ['the host interrupted the run', { interruption: { kind: 'interrupted', reason: '' } }, false],
  ['the model is unavailable', { interruption: { kind: 'model_unavailable' } }, false],
  ['the phases used up their budget', { interruption: { kind: 'budget' } }, true],
  ['the phase deadline passed', { interruption: { kind: 'deadline' } }, true],
  ['the user requested the answer now', { interruption: { kind: 'finished_by_user' } }, true],
] as const)('[E9] calling a model for the answer depends on whether %s', (_, changes, wanted) => {
  expect(modelMayWrite(aState(changes)).holds).toBe(wanted);
});
