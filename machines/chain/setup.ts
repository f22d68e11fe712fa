import { type AnyMachineSnapshot, assign, emit, enqueueActions, setup } from 'xstate';
import { brokenOffFacts } from '../action/emitted-events.ts';
import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainInput, ChainState } from '../contracts/chain-state.ts';
import type { ConsentGiver, ContextMeasures } from '../contracts/context.ts';
import type { DecisionRule, Interruption } from '../contracts/decision.ts';
import type { ChainEvent, EmittedEvent } from '../contracts/events.ts';
import type { Retrieval } from '../contracts/passage.ts';
import type { Phase } from '../contracts/phase.ts';
import type { RecalledSession } from '../contracts/session.ts';
import type { FinalAnswer } from '../contracts/synthesis.ts';
import { guardsOf } from '../guards.ts';
import { withComparison } from '../policies/assessment.ts';
import { consentRequest, readChoice, resolveConsent } from '../policies/consent.ts';
import { type CompletingRule, decideAsDirected, decideToComplete, decideToContinue } from '../policies/decisions.ts';
import { unexpectedFailure } from '../policies/failures.ts';
import { adjust, deadlines } from '../policies/limits.ts';
import * as outcomes from '../policies/outcomes.ts';
import { DEFAULT_PHASE, isPhase } from '../policies/phase-selection.ts';
import * as progress from '../policies/progress.ts';
import { takeSession } from '../policies/session.ts';
import { nextSourceRetry } from '../policies/source-retry.ts';
import { brokenOutcome, composedOutcome } from '../policies/synthesis/outcome.ts';
import { answerOf, settleWriting, timeOutWriting } from '../policies/synthesis/state.ts';
import { evaluateContext, NOT_RATED, noteUnmeasured, takeMeasures, takeSummaries } from '../policies/understanding.ts';
import { emittedEvents } from './emitted-events.ts';
import { chainGuards } from './guards.ts';
import { inFlight } from './in-flight.ts';
import { chainPorts } from './ports.ts';

type OfPhase = { readonly phase: Phase };
type Settled = OfPhase & { readonly outcome: AttemptOutcome };
type Adjusted = Extract<ChainEvent, { type: 'run.adjusted' }>;
type Consent = {
  readonly choice: string;
  readonly items?: Readonly<Record<string, string>> | undefined;
  readonly by: ConsentGiver;
};

const vocabulary = setup({
  types: {
    context: {} as ChainState,
    input: {} as ChainInput,
    output: {} as FinalAnswer,
    events: {} as ChainEvent,
    emitted: {} as EmittedEvent,
  },
  actors: chainPorts,
  guards: {
    phaseSucceeded: (_, { ok }: AttemptOutcome) => ok,
    ...guardsOf(chainGuards),
  },
  delays: {
    phaseDeadline: ({ context }) => context.limits.phaseMs,
    runDeadline: ({ context }) => deadlines(context).runMs,
    synthesisDeadline: ({ context }) => deadlines(context).synthesisMs,
    sessionDeadline: ({ context }) => deadlines(context).sessionMs,
    sourceBackoff: ({ context }) => context.sourceRetry?.waitMs ?? 0,
    consentDeadline: ({ context }) => context.limits.consentMs,
  },
});

/** The chart's vocabulary: every name that `chain.machine.ts` uses, each a line to a policy. */
export const chainSetup = vocabulary.extend({
  actions: {
    takeSession: assign(({ context }, recalled: RecalledSession) => takeSession(context, recalled)),
    enterPhase: assign(({ context }) => progress.enterPhase(context)),
    takePassages: assign((_, { found }: { found: Retrieval }) => ({ retrieval: { found, failure: null } })),
    noteRateLimit: assign(({ context }, { error }: { error: unknown }) => ({
      sourceRetry: nextSourceRetry(context, error),
    })),
    noteDeadSource: assign((_, { error, query }: { error: unknown; query: string }) => ({
      retrieval: { found: { query, passages: [], widened: false }, failure: unexpectedFailure(error).message },
    })),
    takePhase: assign(({ context }, { phase, outcome }: Settled) => outcomes.settlePhase(context, phase, outcome)),
    takeMeasures: assign(({ context }, measures: ContextMeasures) =>
      takeMeasures(progress.visibleMessages(context), measures),
    ),
    noteUnmeasured: assign(({ context }) => noteUnmeasured(context, progress.visibleMessages(context))),
    evaluateAlone: assign(({ context }) => ({
      evaluation: evaluateContext(context, progress.visibleMessages(context), NOT_RATED),
    })),
    takeDetour: assign({ detour: true }),
    endDetour: assign({ detour: false }),
    takeSummaries: assign(({ context }, outcome: AttemptOutcome) => takeSummaries(context, outcome)),
    takeChange: assign(({ context }, { change }: { change: number | null }) => ({
      assessment: withComparison(context.assessment, change),
    })),
    takeEvaluation: assign(({ context }, { outcome }: Settled) => outcomes.settleEvaluation(context, outcome)),
    takeAssessment: assign(({ context }, { outcome }: Settled) => outcomes.settleAssessment(context, outcome)),
    takeConsent: assign(({ context }, { choice, items, by }: Consent) => ({
      consentAsked: true,
      evaluation: context.evaluation && {
        ...context.evaluation,
        operations: resolveConsent(context.evaluation.operations, readChoice(choice), items, by),
      },
    })),
    applyEvaluation: assign(({ context }) => outcomes.applyEvaluation(context)),
    breakPhase: assign(({ context }, { phase, error }: OfPhase & { error: unknown }) =>
      outcomes.breakPhase(context, phase, error),
    ),
    timeOutPhase: enqueueActions(({ context, enqueue }, { phase }: OfPhase) => {
      enqueue.assign(outcomes.timeOutPhase(context, phase));
      if (!outcomes.isSaved(context, phase)) enqueue.emit(({ context: state }) => emittedEvents.phaseEnd(state, phase));
    }),
    repeatPhase: assign(({ context }) => progress.repeatPhase(context)),
    skipPhase: assign(({ context }) => progress.skipPhase(context)),
    complete: assign(({ context }, { rule }: { rule: CompletingRule }) => decideToComplete(context, rule)),
    goOn: assign(({ context }, { rule, phase }: { rule: DecisionRule; phase: Phase }) =>
      decideToContinue(context, rule, phase),
    ),
    goOnAsDirected: assign(({ context }, { phase, prompt }: { phase: string; prompt: string | undefined }) =>
      decideAsDirected(context, isPhase(phase) ? phase : DEFAULT_PHASE, prompt),
    ),
    takeDirection: assign(({ context }, { phase, prompt }: { phase: string; prompt: string | undefined }) => ({
      direction: isPhase(phase) ? phase : DEFAULT_PHASE,
      detour: false,
      phaseRetries: 0,
      recursion: { ...context.recursion, continuationPrompt: prompt || context.recursion.continuationPrompt },
    })),
    takeBrokenOff: enqueueActions(({ context, enqueue, self }, { cause }: { cause: string }) => {
      const broken = inFlight(self.getSnapshot() as AnyMachineSnapshot);
      enqueue.assign(outcomes.takeBrokenOff(context, broken, cause));
      if (broken.loop === null) return;
      for (const fact of brokenOffFacts(broken.loop, cause)) enqueue.emit(fact);
      enqueue.emit(({ context: state }) => emittedEvents.phaseEnd(state, 'action'));
      enqueue.emit(({ context: state }) => emittedEvents.operations(state, 'action'));
    }),
    adjust: assign(({ context }, { limits, thresholds }: Adjusted) => adjust(context, { limits, thresholds })),
    interrupt: assign((_, interruption: Interruption) => ({ interruption })),
    takeSynthesis: assign(({ context }, outcome: AttemptOutcome) => settleWriting(context, outcome)),
    breakSynthesis: assign((_, { error }: { error: unknown }) => ({ written: brokenOutcome(error) })),
    breakOffSynthesis: assign(({ self }) => ({
      written: composedOutcome('', inFlight(self.getSnapshot() as AnyMachineSnapshot).usage),
    })),
    timeOutSynthesis: assign(({ context, self }) =>
      timeOutWriting(context, inFlight(self.getSnapshot() as AnyMachineSnapshot).usage),
    ),
    composeAnswer: assign(({ context }) => ({ answer: answerOf(context) })),
    announceRecalled: emit(({ context }, recalled: RecalledSession) =>
      emittedEvents.sessionRecalled(context, recalled),
    ),
    announceStored: emit(({ context }, { problem }: { problem: string | null }) =>
      emittedEvents.sessionStored(context, problem),
    ),
    announcePhase: emit(({ context }, { phase }: OfPhase) => emittedEvents.phaseStart(context, phase)),
    announceEnd: emit(({ context }, { phase }: OfPhase) => emittedEvents.phaseEnd(context, phase)),
    announceOperations: emit(({ context }, { phase }: OfPhase) => emittedEvents.operations(context, phase)),
    announceRecovery: emit(({ context }, { how }: { how: 'again' | 'skip' | 'finish' }) =>
      emittedEvents.recovery(context, how),
    ),
    announceEvaluation: emit(({ context }) => emittedEvents.contextEvaluated(context)),
    askConsent: emit(({ context }) => ({
      type: 'consent-asked' as const,
      request: consentRequest(context.evaluation?.operations ?? [], progress.visibleMessages(context)) ?? { items: [] },
    })),
    announceConsent: emit(({ context }, { by }: { by: ConsentGiver }) => emittedEvents.consentResolved(context, by)),
    askDirection: emit(({ context }) => ({
      type: 'direction-asked' as const,
      cycle: context.recursion.cycle,
      proposal: context.assessment?.proposal ?? DEFAULT_PHASE,
      answer: context.assessment?.answer ?? '',
      confidence: context.assessment?.confidence ?? 0,
    })),
    refuseDirection: emit((_, { phase }: { phase: string }) => ({ type: 'direction-refused' as const, got: phase })),
    announceDecision: emit(({ context }) => emittedEvents.decision(context)),
    announceAnswer: emit(({ context }) => emittedEvents.answer(context)),
  },
});
