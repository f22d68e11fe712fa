import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, phasesOf, sendAnswer, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const decisionsOf = (run: ReturnType<typeof startScripted>['run']) =>
  entriesOf(run, 'decision').map(({ decision }) => decision);

describe('the next phase of a run', () => {
  it.each(PHASES)('[Y4] [Y8] can be %s by proposal of the model, and the decision says so', async (phase) => {
    const { run } = startScripted(
      { yield: (call: number) => unsureAnswer(call, { proposedPhase: phase }) },
      { limits: { maxCycles: 2 } },
    );
    await run.answer;
    expect(decisionsOf(run)[0]).toMatchObject({
      rule: 'nextPhaseChosen',
      nextPhase: phase,
      inputs: { proposedBy: 'model' },
    });
    expect(phasesOf(run).slice(PHASES.length)).toEqual(PHASES.slice(PHASES.indexOf(phase)));
    expect(run.actor.getSnapshot().context.recursion).toMatchObject({ origin: phase, cycle: 2, completedCycles: 2 });
  });

  it.each(PHASES)(
    '[Y4] [Y6] can be %s by direction of the user between two cycles, against the proposal of the model',
    async (phase) => {
      const { run, model } = startScripted(
        { yield: (call: number) => unsureAnswer(call, { proposedPhase: 'experience' }) },
        { limits: { maxCycles: 2 } },
        { mode: 'manual' },
      );
      await settle();
      const calls = model.calls.length;
      sendAnswer(run, { type: 'run.directed', phase, prompt: 'Look there.' });
      await run.answer;
      expect(decisionsOf(run)[0]).toMatchObject({ rule: 'directedByUser', nextPhase: phase, complete: false });
      expect(phasesOf(run).slice(PHASES.length)).toEqual(PHASES.slice(PHASES.indexOf(phase)));
      expect(model.calls[calls]?.input).toMatchObject({ phase, cycle: 2, prompt: 'Look there.' });
    },
  );

  it.each(PHASES)('[Y4] can be %s as the first phase by direction of the user', async (phase) => {
    const { run } = startScripted({}, {}, { startAt: phase });
    expect((await run.answer).answerText).not.toBe('');
    expect(phasesOf(run)).toEqual(PHASES.slice(PHASES.indexOf(phase)));
  });

  it.each(['toString', '__proto__', '', 'ACTION', ' action', 'synthesizing', 'action; yield'])(
    '[Y5] is the default phase for the proposal "%s", and the decision says so',
    async (proposedPhase) => {
      const { run } = startScripted(
        { yield: (call: number) => unsureAnswer(call, { proposedPhase }) },
        { limits: { maxCycles: 2 } },
      );
      await run.answer;
      expect(decisionsOf(run)[0]).toMatchObject({ rule: 'nextPhaseInvalid', nextPhase: 'action' });
      expect(decisionsOf(run)[0]?.rationale).toContain(`"${proposedPhase}" is not a phase`);
    },
  );

  it.each([
    ['experience', { informationSufficiency: 0.69 }],
    ['intention', { informationSufficiency: 0.7 }],
  ])('[Y3] is %s as the first reason that applies: %j', async (phase, said) => {
    const plan = {
      yield: (call: number) => unsureAnswer(call, { ...said, needsTools: true, proposedPhase: 'yield' }),
      intention: { ...replies.intention, unclearIntent: true },
      observation: { ...replies.observation, undigested: true },
    };
    const { run } = startScripted(plan, { limits: { maxCycles: 2 }, thresholds: { crowdedMessages: 1 } });
    await run.answer;
    expect(decisionsOf(run)[0]).toMatchObject({ nextPhase: phase, inputs: { proposedBy: 'policy' } });
  });

  it('[Y3] [Y12] is not Understanding repeatedly when nothing more may be removed', async () => {
    const history = Array.from({ length: 12 }, (_, at) => ({ role: 'user' as const, content: `Wish number ${at}.` }));
    const plan = { yield: (call: number) => unsureAnswer(call, { proposedPhase: 'action' }) };
    const { run } = startScripted(plan, { limits: { maxCycles: 4 } }, { history });
    await run.answer;
    expect(decisionsOf(run).map(({ nextPhase }) => nextPhase)).toContain('action');
  });
});
