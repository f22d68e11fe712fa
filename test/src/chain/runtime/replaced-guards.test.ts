import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import type { chainMachine } from '../../../../machines/chain/chain.machine.ts';
import type { Decision } from '../../../../machines/contracts/decision.ts';
import { createBareChain } from '../../../../src/chain/runtime/bare-chain.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';

type Guards = NonNullable<Parameters<typeof chainMachine.provide>[0]['guards']>;

/** Runs the chain with these guards on answers of low confidence. */
async function runWith(guards: Guards, limits: { readonly maxCycles?: number } = {}) {
  const reply = { ...replies.yield, confidence: 0.6, proposedPhase: 'observation' };
  const model = scriptedModel({}, { otherwise: { ...replies, yield: reply } });
  const chain = createBareChain({ model, limits });
  const machine = chain.createMachine().provide({ guards });
  const actor = createActor(machine, { input: chain.createInput({ request: 'Is it so?' }) });
  const decisions: Decision[] = [];
  actor.on('decision', ({ decision }) => void decisions.push(decision));
  actor.start();
  const answer = await toPromise(actor);
  return { answer, decisions };
}

describe('the decision of a replaced guard', () => {
  it.each<[string, Guards]>([
    ['confidenceReached', { confidenceReached: () => true }],
    ['taskComplete', { taskComplete: () => true }],
    ['cycleLimitReached', { cycleLimitReached: () => true }],
    ['budgetExhausted', { budgetExhausted: () => true }],
    ['loopDetected', { loopDetected: () => true }],
    ['answerIsProse', { answerIsProse: () => true }],
  ])('[Y8] claims nothing that its built-in policy did not find: %s', async (rule, guards) => {
    const { answer, decisions } = await runWith(guards);
    expect(decisions).toMatchObject([
      {
        rule,
        complete: true,
        rationale: `decided by the guard ${rule}, which replaces the built-in one`,
        inputs: { guardReplaced: true },
      },
    ]);
    expect(answer.ttlExhausted).toBe(false);
    expect(answer.notes).not.toMatch(/limit|budget|repeat|prose/);
  });

  it('[Y8] has the values of the policy if that agrees', async () => {
    const { decisions } = await runWith(
      { cycleLimitReached: ({ context }) => context.recursion.completedCycles > 0 },
      { maxCycles: 1 },
    );
    expect(decisions[0]?.rationale).toBe('the cycle limit is reached (completedCycles 1, maxCycles 1)');
  });

  it.each<[string, Guards, string]>([
    [
      'nextPhaseIs',
      { nextPhaseIs: (_, { phase }) => phase === 'experience' },
      'continuing with experience: decided by the guard nextPhaseIs, which replaces the built-in one',
    ],
    [
      'nextPhaseInvalid',
      { nextPhaseIs: () => false, nextPhaseInvalid: () => true },
      'continuing with action: decided by the guard nextPhaseInvalid, which replaces the built-in one',
    ],
  ])('[Y5] [Y8] names a phase that no policy proposed: %s', async (_, guards, rationale) => {
    const { decisions } = await runWith(guards, { maxCycles: 2 });
    expect(decisions[0]?.rationale).toBe(rationale);
  });
});
