import type { SnapshotFrom } from 'xstate';
import { initialActionState } from '../../../machines/action/setup.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { ActionInput, Approval, LoopReport, StepCall } from '../../../machines/contracts/action-state.ts';
import type { AttemptInput, CallAheadInput } from '../../../machines/contracts/attempt.ts';
import type { ChainInput, ChainState, Search, SharedReplies } from '../../../machines/contracts/chain-state.ts';
import type { CompareAnswersInput, MeasureContextInput } from '../../../machines/contracts/context.ts';
import type { ChainEvent } from '../../../machines/contracts/events.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { PHASES, type Task } from '../../../machines/contracts/phase.ts';
import type { Replies } from '../../../machines/contracts/phase-io.ts';
import { consentRequest } from '../../../machines/policies/consent.ts';
import { NO_FAILURE } from '../../../machines/policies/failures.ts';
import { modelMayRate } from '../../../machines/policies/phase-calls.ts';
import { visibleMessages } from '../../../machines/policies/progress.ts';
import { measuringPays, summariesWanted } from '../../../machines/policies/understanding.ts';
import { NO_USAGE } from '../../../machines/policies/usage.ts';
import { createBareChain } from '../../chain/runtime/bare-chain.ts';
import type { PostChainOptions } from '../../chain/runtime/options.ts';
import type { RunOptions } from '../../chain/runtime/run-options.ts';
import type { ExploredChart } from '../exploration/explore.ts';
import { type ActorOutcome, done, fails, sends } from '../exploration/occurrences.ts';
import { replies } from '../replies.ts';
import { attemptOutcomes, CLOCK, LOOKUP, proseOutcome, reportsModels, reportsUsage } from './stand-ins.ts';

/** A capability loop that waits for approval, and after that. */
function loopThatAsks(input: ActionInput, state: Approval['state']): LoopReport {
  const { loop } = loopInProgress(input);
  const approval = { questionId: `${input.id}.approval1`, identity: '', digest: 'd', state, by: null, reason: '' };
  return { type: 'loop.progressed', loop: { ...loop, step: loop.step.map((call) => ({ ...call, approval })) } };
}

/** A capability loop while its first capability runs. */
function loopInProgress(input: ActionInput): Extract<LoopReport, { type: 'loop.progressed' }> {
  const call: StepCall = { capability: LOOKUP.name, arguments: {}, id: `${input.id}.1`, slot: 1, result: null };
  return { type: 'loop.progressed', loop: { ...initialActionState(input), step: [call], begun: 1 } };
}

type ChainSnapshot = SnapshotFrom<typeof chainMachine>;

const LONG_TEXT = 'The cellar has been damp ever since the winter flood. '.repeat(80);

/** Relevant enough to be kept, and too long to be kept unchanged. */
const LONG_MESSAGE: Message = {
  id: 'long',
  role: 'assistant',
  phase: 'action',
  content: 'It was dug beside the well, as far as I know. '.repeat(5),
  createdAtMs: 0,
  cycle: 1,
  tags: ['relevant'],
  importance: 1,
  references: [],
  source: null,
  links: ['one', 'other'].map((to) => ({ to, relation: 'r', strength: 1 })),
};

function inputOf(options: PostChainOptions, run: Partial<RunOptions> = {}, rest: Partial<ChainInput> = {}): ChainInput {
  const limits = { maxCycles: 3, ...options.limits };
  const whole = { clock: CLOCK, newId: () => 'explored', ...options, limits };
  return { ...createBareChain(whole).createInput({ request: 'Is it so?', ...run }), ...rest };
}

/** Returns the replies in Yield that end a cycle differently. */
function yieldReplies({ recursion: { cycle }, assessment }: ChainState): Readonly<Record<string, Replies['yield']>> {
  const unsure = { ...replies.yield, answer: `Answer ${cycle}.`, confidence: 0.2 };
  return {
    confident: replies.yield,
    'task complete': { ...unsure, confidence: 0.5, taskComplete: true },
    'unsure, no proposal': unsure,
    'unsure, proposes an unknown phase': { ...unsure, proposedPhase: 'nowhere' },
    ...Object.fromEntries(PHASES.map((phase) => [`unsure, proposes ${phase}`, { ...unsure, proposedPhase: phase }])),
    ...(assessment !== null && {
      'same answer': { ...unsure, answer: assessment.answer, proposedPhase: 'yield' },
      'same answer, task complete': {
        ...unsure,
        answer: assessment.answer,
        proposedPhase: 'yield',
        confidence: 0.5,
        taskComplete: true,
      },
    }),
  };
}

/** Returns the replies to a task that guards distinguish: guards read only Yield's replies. */
function repliesTo({ task, phases = [] }: AttemptInput, state: ChainState): Readonly<Record<string, unknown>> {
  const [only, ...others] = phases;
  if (only === undefined || others.length === 0)
    return task === 'yield' ? yieldReplies(state) : { replied: replies[task as Task] };
  const parts = Object.fromEntries(phases.map((phase) => [phase, replies[phase]]));
  if (!phases.includes('yield')) return { replied: parts };
  return Object.fromEntries(
    Object.entries(yieldReplies(state)).map(([name, reply]) => [name, { ...parts, yield: reply }]),
  );
}

function earlyReplies({ task }: CallAheadInput): readonly ActorOutcome[] {
  const usage = { inputTokens: 10, outputTokens: 5, estimated: false };
  const reply = { value: replies[task as Task], failure: null, usage, openedAtMs: 0, atMs: 0 };
  return [done(reply), done({ ...reply, value: null, failure: NO_FAILURE }, 'no valid reply'), fails()];
}

const answers = ({ task, phases = [] }: AttemptInput): boolean => task === 'yield' || phases.includes('yield');

function proseAnswer(input: AttemptInput): ActorOutcome {
  const { task, phases = [] } = input;
  const answer = { ...replies.yield, answer: 'It is so.', confidence: 0.2 };
  const parts = Object.fromEntries(phases.map((phase) => [phase, phase === 'yield' ? answer : replies[phase]]));
  return proseOutcome(input, task === 'yield' ? answer : parts, 'in prose');
}

function measured({ messages }: MeasureContextInput): readonly ActorOutcome[] {
  const tokens = messages.map(({ content }) => Math.ceil(content.length / 4));
  const measures = { tokens, estimated: false, similarity: messages.map(() => 0.5), failure: null };
  const tooMany = { ...measures, tokens: tokens.map((count) => count * 1_000) };
  return [done(measures, 'measured'), done(tooMany, 'far over the limit'), fails()];
}

const RATE_LIMITED = Object.assign(new Error('too many requests'), { status: 429 });

/** Events that a user or host may send at any time. Their answers name a question that is no longer pending. */
const USER_EVENTS: readonly ChainEvent[] = [
  { type: 'run.cancelled' },
  { type: 'run.interrupted' },
  { type: 'run.finished' },
  { type: 'run.adjusted', limits: {} },
  { type: 'run.directed', phase: 'experience' },
  { type: 'run.directed', phase: 'nowhere' },
  { type: 'run.finished', questionId: 's0.direction' },
  { type: 'run.directed', phase: 'experience', questionId: 's0.direction' },
  { type: 'consent.given', questionId: 's0.consent', choice: 'remove' },
  { type: 'approval.given', questionId: 's0.approval1', digest: 'd', decision: 'approve' },
  { type: 'context.overruled', messageId: 'earlier.h1', choice: 'keep' },
  { type: 'context.undone', operationId: 's1.o1' },
];

/** Returns the answers to an open question, and those that are refused: of another kind, or about other messages. */
const answersTo = (questionId: string): readonly ChainEvent[] => [
  { type: 'consent.given', questionId, choice: 'remove' },
  { type: 'consent.given', questionId, choice: '', items: { x: '' } },
  { type: 'run.finished', questionId },
  ...['nowhere', ...PHASES].map((phase) => ({ type: 'run.directed' as const, phase, questionId })),
];

const PRICES = { currency: 'EUR', models: { 'offline-extractive': { inputPerMillion: 0, outputPerMillion: 200_000 } } };

/** The chain with every outcome of its phases and sources, and every event of its user. */
export const chainChart = {
  machine: chainMachine,
  inputs: {
    'a question': inputOf({ profile: 'thorough' }),
    'with session, documents and embeddings': inputOf(
      { profile: 'lean' },
      { sessionId: 's' },
      { hasDocuments: true, hasEmbeddings: true },
    ),
    'with documents': inputOf({ profile: 'thorough', limits: { maxCycles: 2 } }, {}, { hasDocuments: true }),
    'with a capability': inputOf({ capabilities: [LOOKUP] }),
    'manual mode': inputOf({ thresholds: { change: 0 } }, { mode: 'manual' }),
    'a long history': inputOf(
      { consent: 'ask' },
      {
        sessionId: 's',
        history: [
          { role: 'user', content: LONG_TEXT },
          { role: 'assistant', content: LONG_TEXT },
          { role: 'user', content: LONG_TEXT },
        ],
      },
      { contextWindowTokens: 3_000 },
    ),
    'a long history, few model calls': inputOf(
      { consent: 'ask', limits: { maxModelCalls: 4 } },
      { history: [{ role: 'user', content: LONG_TEXT }] },
      { contextWindowTokens: 3_000 },
    ),
    'long messages, nobody is asked': inputOf(
      {},
      {
        messages: [
          { ...LONG_MESSAGE, id: 'user', role: 'user', phase: null, content: LONG_TEXT },
          LONG_MESSAGE,
          { ...LONG_MESSAGE, id: 'newest', content: 'So it was.' },
        ],
      },
    ),
    'with a grader': inputOf({ limits: { maxCycles: 2 } }, {}, { hasGrader: true, hasEmbeddings: true }),
    'few model calls': inputOf({ profile: 'thorough', limits: { maxModelCalls: 5 } }),
    // Each call costs 1: see the stand-ins. An early call has 5 output tokens.
    'with a cost limit': inputOf(
      { profile: 'thorough', consent: 'ask', limits: { maxCost: 3.5, maxCycles: 2 }, prices: PRICES },
      { history: [{ role: 'user', content: LONG_TEXT }] },
      { contextWindowTokens: 3_000, maxOutputTokens: [5] },
    ),
    'no convergence': inputOf({ thresholds: { change: 0 } }),
    'with a value': inputOf({ limits: { maxCycles: 1 } }, {}, { requestedValue: { schema: {}, hasModel: true } }),
  },
  outcomes: {
    attempt: (input, { context }) => {
      const { policy } = input as AttemptInput;
      const outcomes = [
        ...attemptOutcomes(input as AttemptInput, repliesTo(input as AttemptInput, context as ChainState)),
        ...(answers(input as AttemptInput) && (policy.maxCost ?? 1) >= 1 ? [proseAnswer(input as AttemptInput)] : []),
      ];
      // A report affects only how many calls are left after an abort, which matters only if few are left.
      const { maxModelCalls, maxCost } = (context as ChainState).limits;
      return maxModelCalls > FEW_CALLS && maxCost === null ? [...outcomes, reportsUsage, reportsModels] : outcomes;
    },
    action: (input) => [
      ...attemptOutcomes(input as AttemptInput, {
        replied: {
          reply: replies.action,
          prose: false,
          results: [],
          stopReason: 'nothing_to_run',
          problem: null,
          memory: [],
        },
      }),
      ...((input as ActionInput).input.capabilities.length > 0
        ? [
            sends(loopInProgress(input as ActionInput), 'reports a capability run'),
            sends(loopThatAsks(input as ActionInput, 'pending'), 'asks for approval'),
            sends(loopThatAsks(input as ActionInput, 'approved'), 'is approved'),
          ]
        : []),
    ],
    callAhead: (input) => earlyReplies(input as CallAheadInput),
    retrievePassages: (input) => {
      const { query } = input as { readonly query: string };
      return [done({ query, passages: [], widened: false }), fails(RATE_LIMITED, 'too many requests'), fails()];
    },
    measureContext: (input) => measured(input as MeasureContextInput),
    compareAnswers: (input) => {
      const { previous, current } = input as CompareAnswersInput;
      return [done(previous === current ? 0 : 0.5, 'compared'), done(null, 'not comparable'), fails()];
    },
    gradeAnswer: [
      done({ grades: { grounding: 0, completion: 0 }, problem: null, usage: NO_USAGE }, 'disbelieved'),
      done({ grades: {}, problem: 'no reply', usage: NO_USAGE }, 'not graded'),
      fails(),
    ],
    recallSession: [done({ turns: [], problem: null }), fails()],
    appendTurn: [done(undefined), fails()],
  },
  events: ({ context }) => {
    const { question } = context as ChainState;
    return question === null ? USER_EVENTS : [...USER_EVENTS, ...answersTo(question)];
  },
  abstraction: decidingContext,
  limit: 50_000,
} satisfies ExploredChart<typeof chainMachine>;

/**
 * Returns the part of the context that decides how a run continues from its current state. The cycle always does, so the graph grows with
 * `maxCycles`. Failures, decisions and directions are consumed by transient states at once (a direction also waits while a session is
 * recalled), and each phase reads only its own results. Two things that do decide are left out to keep the graph small: how often an answer
 * was given in earlier cycles, and what Understanding removed in them. Of runs that differ only in these, the first is followed.
 */
function decidingContext({ context, value }: ChainSnapshot): unknown {
  // After the cycles, only the reason for their end matters.
  if (typeof value !== 'object' || !('cycling' in value)) return context.interruption?.kind ?? context.decision?.rule;
  const { recursion, assessment, evaluation, limits, usage } = context;
  const phase = typeof value.cycling === 'object' ? Object.keys(value.cycling)[0] : value.cycling;
  const callsLeft = limits.maxModelCalls - usage.modelCalls;
  return {
    cycle: recursion.cycle,
    completed: recursion.completedCycles,
    phaseRetries: context.phaseRetries,
    detour: context.detour,
    early: context.early && [context.early.task, context.early.result && context.early.result.failure === null],
    search: context.search && statusOf(context.search),
    shared: context.shared?.cycle === recursion.cycle && sharedParts(context.shared),
    failed: context.failures.some(({ cycle }) => cycle === recursion.cycle),
    consentAsked: context.consentAsked,
    repeats: assessment?.repeats,
    callsLeft: callsLeft > FEW_CALLS ? 'enough' : callsLeft,
    ...(limits.maxCost !== null && { cost: usage.cost }),
    shouldMeasure: measuringPays(context, visibleMessages(context)).holds,
    modelRates: modelMayRate(context).holds,
    within:
      (phase === 'recalling' && context.direction) ||
      (phase === 'action' && context.inFlight.loop !== null) ||
      (phase === 'experience' && context.sourceRetry?.retries) ||
      (phase === 'understanding' && evaluation && planOf(context)) ||
      (phase === 'yield' &&
        assessment && [
          assessment.proposal,
          assessment.confidence,
          assessment.toCompare !== null,
          assessment.toGrade,
          context.results.yield?.prose,
        ]),
  };
}

/** Returns the phases that have a reply, and what Yield's rules read of Yield's reply. */
function sharedParts({ prose, replies }: SharedReplies): unknown {
  const { answer, confidence, proposedPhase, taskComplete } = Object(replies.yield) as Partial<Replies['yield']>;
  return [prose, Object.keys(replies), answer, confidence, proposedPhase, taskComplete];
}

const FEW_CALLS = 8;

const statusOf = ({ result }: Search) =>
  result === null ? 'in progress' : (result.error?.status ?? result.error !== null);

const planOf = (context: ChainState) => [
  consentRequest(context.evaluation?.operations ?? [], visibleMessages(context)) !== null,
  summariesWanted(context).holds,
];
