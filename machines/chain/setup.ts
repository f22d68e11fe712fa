import {
  assign,
  cancel,
  type DoneActorEvent,
  type ErrorActorEvent,
  emit,
  enqueueActions,
  raise,
  sendTo,
  setup,
} from 'xstate';
import type { LoopReport } from '../contracts/action-state.ts';
import type { AttemptOutcome, EarlyReply, ModelsReport, UsageReport } from '../contracts/attempt.ts';
import type { ChainInput, ChainState, EarlyCall } from '../contracts/chain-state.ts';
import type { ConsentGiver, ContextMeasures } from '../contracts/context.ts';
import type { Interruption } from '../contracts/decision.ts';
import type { CallApprovalGiven, ChainEvent, EmittedEvent } from '../contracts/events.ts';
import type { Grading } from '../contracts/grading.ts';
import type { Retrieval } from '../contracts/passage.ts';
import type { Phase } from '../contracts/phase.ts';
import type { RecalledSession } from '../contracts/session.ts';
import type { FinalAnswer } from '../contracts/synthesis.ts';
import { guardsOf } from '../guards.ts';
import { applyGrading, withComparison } from '../policies/assessment.ts';
import { applyOverrides, overrule, readChoice, resolveConsent, undoOperation } from '../policies/consent.ts';
import { decideAsDirected, decideToComplete, decideToContinue, direct } from '../policies/decisions.ts';
import { unexpectedFailure } from '../policies/failures.ts';
import * as outcomes from '../policies/outcomes.ts';
import { earlyCall, failedEarlyReply, finishEarlyCall } from '../policies/phase-calls.ts';
import * as progress from '../policies/progress.ts';
import { DEFAULT_PHASE, isPhase } from '../policies/progress.ts';
import { type Direction, questionId, refusedAnswer, refusedDirection, type UserAnswer } from '../policies/questions.ts';
import { backOff, endSearch, searchToStart, sourceError, takeSearch } from '../policies/search.ts';
import { assignSession } from '../policies/session.ts';
import { composedOutcome, failedSynthesis } from '../policies/synthesis/compose.ts';
import { answerOf, failValue, finishValue, interruptValue, timeOutValue } from '../policies/synthesis/value.ts';
import { finishWriting, timeOutWriting } from '../policies/synthesis/writing.ts';
import {
  assignEstimates,
  assignMeasures,
  assignSummaries,
  NOT_RATED,
  proposedEvaluation,
} from '../policies/understanding.ts';
import { adjust, deadlines, phaseDeadlineMs, usageSoFar } from '../policies/usage.ts';
import type { YieldRule } from '../policies/yield-rules.ts';
import { missingChainActors } from './actors.ts';
import { abortEvents, emittedEvents } from './emitted-events.ts';
import { chainGuards } from './guards.ts';

type Thrown = { readonly error: unknown };
type Adjusted = Pick<Extract<ChainEvent, { type: 'run.adjusted' }>, 'limits' | 'thresholds'>;
type Overruled = Extract<ChainEvent, { type: 'context.overruled' }>;
type Undone = Extract<ChainEvent, { type: 'context.undone' }>;
type Consent = {
  readonly choice: string;
  readonly items?: Readonly<Record<string, string>> | undefined;
  readonly by?: ConsentGiver | undefined;
};
/** Why a run stops early; only the user or the host gives a reason. */
type Stop = { readonly kind: Interruption['kind']; readonly reason?: string | undefined };

const base = setup({
  types: {
    context: {} as ChainState,
    input: {} as ChainInput,
    output: {} as FinalAnswer,
    events: {} as
      | ChainEvent
      | LoopReport
      | { readonly type: 'run.expired' }
      | DoneActorEvent<Retrieval, 'search'>
      | ErrorActorEvent<unknown, 'search'>
      | DoneActorEvent<EarlyReply, 'early'>
      | ErrorActorEvent<unknown, 'early'>,
    emitted: {} as EmittedEvent,
  },
  actors: missingChainActors,
  guards: {
    phaseSucceeded: (_, { ok }: AttemptOutcome) => ok,
    ...guardsOf(chainGuards),
  },
  delays: {
    phaseDeadline: ({ context }) => phaseDeadlineMs(context.limits, context.phase),
    runDeadline: ({ context }) => deadlines(context).runMs,
    synthesisDeadline: ({ context }) => deadlines(context).synthesisMs,
    sessionDeadline: ({ context }) => deadlines(context).sessionMs,
    sourceBackoff: ({ context }) => context.sourceRetry?.waitMs ?? 0,
    consentDeadline: ({ context }) => context.limits.consentMs,
  },
});

interface Enqueuer {
  readonly context: ChainState;
  readonly enqueue: {
    readonly assign: (changes: Partial<ChainState>) => void;
    readonly emit: (event: EmittedEvent) => void;
  };
}

/**
 * Returns an `enqueueActions` callback that assigns the changes returned by a policy, then emits the events built from
 * the new state.
 */
function assignThenEmit<Params>(
  changesOf: (state: ChainState, params: Params) => Partial<ChainState>,
  eventsOf: (state: ChainState, params: Params, before: ChainState) => readonly EmittedEvent[],
) {
  return ({ context, enqueue }: Enqueuer, params: Params): void => {
    const changes = changesOf(context, params);
    enqueue.assign(changes);
    for (const event of eventsOf({ ...context, ...changes }, params, context)) enqueue.emit(event);
  };
}

const interruptionOf = ({ kind, reason = '' }: Stop): Interruption =>
  kind === 'cancelled' || kind === 'interrupted' ? { kind, reason } : { kind };

const ABORT_CAUSES: Readonly<Record<Interruption['kind'], string>> = {
  cancelled: 'the run was canceled',
  interrupted: 'the run was interrupted',
  finished_by_user: 'the run was finished',
  deadline: 'the run reached its deadline',
  budget: 'the budget was used up',
  phase_failed: 'a phase failed',
  model_unavailable: 'the model was unavailable',
};

function endEarly(
  { early }: ChainState,
  enqueue: Enqueuer['enqueue'] & { readonly stopChild: (id: string) => void },
  result: EarlyReply,
): void {
  enqueue.stopChild('early');
  if (early === null) return;
  enqueue.assign({ early: { ...early, result } });
  enqueue.emit(emittedEvents.earlyEnd({ ...early, result }));
}

const phaseEnds = (state: ChainState) => [emittedEvents.phaseEnd(state), emittedEvents.operations(state)];

/** The names that the chart uses. Actions call policies, assign the changes and emit events. */
export const chainSetup = base.extend({
  actions: {
    assignUsageInFlight: assign(({ context }, { finished, call }: UsageReport) => ({
      inFlight: { ...context.inFlight, usage: { finished, call } },
    })),
    assignModels: assign((_, { models }: ModelsReport) => ({ models })),
    assignLoopInFlight: assign((_, { loop }: Extract<LoopReport, { type: 'loop.progressed' }>) => ({
      inFlight: { loop, usage: { finished: loop.execution.usage, call: null } },
    })),
    assignSession: enqueueActions(
      assignThenEmit(assignSession, (_, recalled: RecalledSession, before) => [
        emittedEvents.sessionRecalled(before, recalled),
      ]),
    ),
    startRunDeadline: raise({ type: 'run.expired' }, { id: 'runDeadline', delay: 'runDeadline' }),
    stopRunDeadline: cancel('runDeadline'),
    forwardApproval: sendTo('action', (_, answer: CallApprovalGiven) => answer),
    startDetour: assign({ detour: true }),
    endDetour: assign({ detour: false }),
    adjustLimits: assign(({ context }, adjusted: Adjusted) => adjust(context, adjusted)),

    enterPhase: enqueueActions(
      assignThenEmit(
        (state, { phase }: { phase: Phase }) => progress.enterPhase(state, phase),
        (state) => [emittedEvents.phaseStart(state)],
      ),
    ),
    completePhase: enqueueActions(
      assignThenEmit((state, outcome: AttemptOutcome) => outcomes.finishPhase(state, state.phase, outcome), phaseEnds),
    ),
    failPhase: enqueueActions(
      assignThenEmit(
        (state, outcome: AttemptOutcome) => outcomes.finishPhase(state, state.phase, outcome),
        (state) => [emittedEvents.phaseEnd(state)],
      ),
    ),
    failPhaseByError: enqueueActions(
      assignThenEmit(
        (state, { error }: Thrown) => outcomes.failByError(state, state.phase, error),
        (state, { error }, before) => abortEvents(before, state, unexpectedFailure(error).message),
      ),
    ),
    timeOutPhase: enqueueActions(
      assignThenEmit(
        (state, _: unknown) => outcomes.timeOutPhase(state, state.phase),
        (state, _, before) => abortEvents(before, state, outcomes.phaseTimeout(before, before.phase).message),
      ),
    ),
    closeAborted: assign(({ context }, { cause }: { cause: string }) => outcomes.closeAborted(context, cause)),
    abortPhase: enqueueActions(
      assignThenEmit(
        (state, { cause }: { cause: string }) => outcomes.closeAborted(state, cause),
        (state, { cause }, before) => abortEvents(before, state, cause),
      ),
    ),
    interruptRun: enqueueActions(
      assignThenEmit(
        (state, stop: Stop) => ({
          ...outcomes.closeAborted(state, ABORT_CAUSES[stop.kind]),
          interruption: interruptionOf(stop),
        }),
        (state, { kind }, before) => abortEvents(before, state, ABORT_CAUSES[kind]),
      ),
    ),
    repeatPhase: enqueueActions(({ context, enqueue }) => {
      enqueue.emit(emittedEvents.recovery(context, 'repeat'));
      enqueue.assign(progress.repeatPhase(context));
    }),
    skipPhase: enqueueActions(({ context, enqueue }) => {
      enqueue.emit(emittedEvents.recovery(context, 'skip'));
      enqueue.assign(progress.skipPhase(context));
    }),
    finishDegraded: enqueueActions(
      assignThenEmit(
        (_, { kind }: { kind: 'budget' | 'model_unavailable' | 'phase_failed' }) => ({ interruption: { kind } }),
        (state) => [emittedEvents.recovery(state, 'finish')],
      ),
    ),

    completeKnownPhase: enqueueActions(
      assignThenEmit((state, _: unknown) => outcomes.completeKnownPhase(state), phaseEnds),
    ),
    startSearch: enqueueActions(({ context, enqueue }) => {
      const search = searchToStart(context);
      if (search === null) return;
      enqueue.stopChild('search');
      enqueue.assign({ search });
      enqueue.spawnChild('retrievePassages', { id: 'search', input: search.input });
    }),
    assignFound: enqueueActions(({ context, enqueue }, found: Retrieval) => {
      enqueue.stopChild('search');
      enqueue.assign(endSearch(context, { found, error: null }));
    }),
    assignSearchError: enqueueActions(({ context, enqueue }, { error }: Thrown) => {
      enqueue.stopChild('search');
      enqueue.assign(endSearch(context, { found: null, error: sourceError(error) }));
    }),
    backOff: assign(({ context }) => backOff(context)),
    takeSearch: assign(({ context }) => takeSearch(context)),

    callEarly: enqueueActions(({ context, enqueue }, { task }: { task: EarlyCall['task'] }) => {
      const call = earlyCall(context, task);
      if (call === null) return;
      enqueue.assign({ early: call.early });
      enqueue.emit(emittedEvents.earlyStart(call.early));
      enqueue.spawnChild('callAhead', { id: 'early', input: call.input });
    }),
    assignEarly: enqueueActions(({ context, enqueue }, result: EarlyReply) => endEarly(context, enqueue, result)),
    failEarly: enqueueActions(({ context, enqueue }, { error }: Thrown) =>
      endEarly(context, enqueue, failedEarlyReply(error)),
    ),
    discardEarly: enqueueActions(({ context, enqueue }) => {
      const { early } = context;
      if (early === null) return;
      if (early.result === null) {
        enqueue.stopChild('early');
        enqueue.emit(emittedEvents.earlyEnd(early));
      }
      enqueue.assign(finishEarlyCall(context));
    }),
    stopSearch: enqueueActions(({ context, enqueue }) => {
      if (context.search === null) return;
      enqueue.stopChild('search');
      enqueue.assign({ search: null });
    }),

    assignMeasures: assign(({ context }, measures: ContextMeasures) =>
      assignMeasures(progress.visibleMessages(context), measures),
    ),
    estimateMeasures: assign(({ context }) => assignEstimates(context, progress.visibleMessages(context))),
    evaluateByPolicy: assign(({ context }) => ({
      evaluation: proposedEvaluation(context, NOT_RATED),
    })),
    assignKnownEvaluation: assign(({ context }) => outcomes.recordKnownEvaluation(context)),
    assignEvaluation: assign(({ context }, outcome: AttemptOutcome) => outcomes.recordEvaluation(context, outcome)),
    assignSummaries: assign(({ context }, outcome: AttemptOutcome) => assignSummaries(context, outcome)),
    assignConsent: enqueueActions(
      assignThenEmit(
        ({ evaluation }, { choice, items, by = 'user' }: Consent) => ({
          consentAsked: true,
          evaluation: evaluation && {
            ...evaluation,
            operations: resolveConsent(evaluation.operations, choice, items, by),
          },
        }),
        (state, { by = 'user' }) => [emittedEvents.consentResolved(state, by)],
      ),
    ),
    concludeConsent: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ consentAsked: true });
      enqueue.emit(emittedEvents.consentResolved(context, 'user'));
    }),
    overruleContext: enqueueActions(({ context, enqueue }, { messageId, choice }: Overruled) => {
      const overruled = overrule(context, { messageId, choice: readChoice(choice) });
      enqueue.assign(overruled.changes);
      enqueue.emit(emittedEvents.contextOverruled(overruled, readChoice(choice)));
    }),
    undoOperation: enqueueActions(({ context, enqueue }, { operationId }: Undone) => {
      const undone = undoOperation(context, operationId);
      enqueue.assign(undone.changes);
      enqueue.emit(emittedEvents.contextOverruled(undone, null));
    }),
    applyEvaluation: enqueueActions(
      assignThenEmit(
        (state, _: unknown) => outcomes.applyEvaluation(state),
        (state) => [emittedEvents.contextEvaluated(state), ...phaseEnds(state)],
      ),
    ),

    assignChange: assign(({ context }, { change }: { change: number | null }) => ({
      assessment: withComparison(context.assessment, change),
    })),
    assignGrades: assign(({ context }, grading: Grading) => applyGrading(context, grading)),
    completeRun: enqueueActions(
      assignThenEmit(
        (state, { rule }: { rule: YieldRule }) => decideToComplete(state, rule),
        (state) => [emittedEvents.decision(state)],
      ),
    ),
    continueWith: enqueueActions(
      assignThenEmit(
        (state, { rule = 'nextPhaseChosen', phase }: { rule?: 'nextPhaseChosen' | 'nextPhaseInvalid'; phase: Phase }) =>
          decideToContinue(state, rule, phase),
        (state) => [emittedEvents.decision(state)],
      ),
    ),
    continueAsDirected: enqueueActions(
      assignThenEmit(
        (state, { phase, prompt }: Direction) =>
          decideAsDirected(state, isPhase(phase) ? phase : DEFAULT_PHASE, prompt),
        (state) => [emittedEvents.decision(state)],
      ),
    ),

    directRun: enqueueActions(
      assignThenEmit(
        (state, { phase, prompt }: Direction) => direct(state, isPhase(phase) ? phase : DEFAULT_PHASE, prompt),
        (state, _, before) => (state.decision === before.decision ? [] : [emittedEvents.decision(state)]),
      ),
    ),

    assignSynthesis: assign(({ context }, outcome: AttemptOutcome) => finishWriting(context, outcome)),
    recordSynthesisError: assign(({ context }, { error }: Thrown) => ({
      written: failedSynthesis(error, usageSoFar(context.inFlight.usage)),
      inFlight: progress.NOTHING_IN_FLIGHT,
    })),
    timeOutSynthesis: assign(({ context }) => timeOutWriting(context, usageSoFar(context.inFlight.usage))),
    interruptSynthesis: assign(({ context }, stop: Stop) => ({
      written: composedOutcome('', usageSoFar(context.inFlight.usage)),
      inFlight: progress.NOTHING_IN_FLIGHT,
      interruption: interruptionOf(stop),
    })),
    assignValue: assign(({ context }, outcome: AttemptOutcome) => finishValue(context, outcome)),
    recordValueError: assign(({ context }, { error }: Thrown) => failValue(context, error)),
    timeOutValue: assign(({ context }) => timeOutValue(context)),
    interruptValue: assign(({ context }, stop: Stop) => interruptValue(context, interruptionOf(stop))),
    composeAnswer: assign(({ context }) => ({ answer: answerOf(context) })),

    askForConsent: enqueueActions(
      assignThenEmit(
        (state, _: unknown) => ({ question: questionId(state, 'consent') }),
        (state) => [emittedEvents.consentAsked(state)],
      ),
    ),
    askForDirection: enqueueActions(
      assignThenEmit(
        (state, _: unknown) => ({ question: questionId(state, 'direction') }),
        (state) => [emittedEvents.directionAsked(state)],
      ),
    ),
    closeQuestion: assign({ question: null }),
    emitAnswerRefused: emit(({ context }, answer: UserAnswer) => refusedAnswer(context, answer)),
    emitDirectionRefused: emit(({ context }, direction: Direction) => refusedDirection(context, direction)),
    emitStored: emit(({ context }, { problem }: { problem: string | null }) =>
      emittedEvents.sessionStored(context, problem),
    ),
    emitAnswer: enqueueActions(
      assignThenEmit(
        (state) => applyOverrides(state),
        (state, _, before) => [
          ...(state.history === before.history ? [] : [emittedEvents.operations(state)]),
          emittedEvents.answer(state),
        ],
      ),
    ),
  },
});
