import type { SnapshotFrom } from 'xstate';
import { initialActionState } from '../../../machines/action/setup.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { ActionInput, LoopReport } from '../../../machines/contracts/action-state.ts';
import type { AttemptInput } from '../../../machines/contracts/attempt.ts';
import type { ChainInput, ChainState } from '../../../machines/contracts/chain-state.ts';
import type { CompareAnswersInput, MeasureContextInput } from '../../../machines/contracts/context.ts';
import type { ChainEvent } from '../../../machines/contracts/events.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { PHASES, type Task } from '../../../machines/contracts/phase.ts';
import type { Replies } from '../../../machines/contracts/phase-io.ts';
import { consentRequest } from '../../../machines/policies/consent.ts';
import { visibleMessages } from '../../../machines/policies/progress.ts';
import { modelMayRate } from '../../../machines/policies/prompt-window.ts';
import { measuringPays, summariesWanted } from '../../../machines/policies/understanding.ts';
import { chainInput } from '../../engine/runtime/bare-chain.ts';
import type { PostChainOptions } from '../../engine/runtime/options.ts';
import type { RunOptions } from '../../engine/runtime/run-options.ts';
import type { ExploredChart } from '../exploration/explore.ts';
import { done, fails, type Outcome, sends } from '../exploration/occurrences.ts';
import { replies } from '../replies.ts';
import { attemptOutcomes, reportsUsage } from './attempt-outcomes.ts';
import { CLOCK, LOOKUP } from './explored-world.ts';

/** A capability loop while its first capability runs. */
function loopInProgress(input: ActionInput): LoopReport {
  const call = { capability: LOOKUP.name, arguments: '{}' };
  return { type: 'loop.progressed', loop: { ...initialActionState(input), call, begun: 1 } };
}

type ChainSnapshot = SnapshotFrom<typeof chainMachine>;

const LONG = 'It is so about the cellar, and it was so in winter. '.repeat(80);

/** Relevant enough to stay, and too long to stay as it is. */
const WORTH_A_SUMMARY: Message = {
  ...{ id: 'long', role: 'assistant', phase: 'action', content: 'It was so, as far as anybody remembers. '.repeat(6) },
  ...{ createdAtMs: 0, cycle: 1, tags: ['relevant'], importance: 1, references: [], source: null },
  links: ['one', 'other'].map((to) => ({ to, relation: 'r', strength: 1 })),
};

function inputOf(options: PostChainOptions, run: Partial<RunOptions> = {}, rest: Partial<ChainInput> = {}): ChainInput {
  const whole = { clock: CLOCK, newId: () => 'explored', ...options };
  return { ...chainInput({ request: 'Is it so?', ...run }, whole), ...rest };
}

/** What the model may say in Yield: each way that a cycle can end. */
function yieldReplies({ recursion: { cycle }, assessment }: ChainState): Readonly<Record<string, Replies['yield']>> {
  const unsure = { ...replies.yield, answer: `Number ${cycle} it may be.`, confidence: 0.2 };
  return {
    'sure of it': replies.yield,
    'the task is done': { ...unsure, confidence: 0.5, taskComplete: true },
    'unsure, nothing proposed': unsure,
    'unsure, proposes what is no phase': { ...unsure, proposedPhase: 'nowhere' },
    ...Object.fromEntries(PHASES.map((phase) => [`unsure, proposes ${phase}`, { ...unsure, proposedPhase: phase }])),
    ...(assessment !== null && {
      'the same again': { ...unsure, answer: assessment.answer, proposedPhase: 'yield' },
      'the same, and the task is done': {
        ...{ ...unsure, answer: assessment.answer, proposedPhase: 'yield' },
        ...{ confidence: 0.5, taskComplete: true },
      },
    }),
  };
}

/** What the model may say in each task: what a guard looks at, and one reply where none does. */
function repliesTo(task: Task, state: ChainState): Readonly<Record<string, unknown>> {
  if (task === 'yield') return yieldReplies(state);
  return { replied: replies[task] };
}

function measured({ messages }: MeasureContextInput): readonly Outcome[] {
  const tokens = messages.map(({ content }) => Math.ceil(content.length / 4));
  const measures = { tokens, estimated: false, similarity: messages.map(() => 0.5), failure: null };
  const heavy = { ...measures, tokens: tokens.map((count) => count * 1_000) };
  return [done(measures, 'measured'), done(heavy, 'far more than there can be'), fails()];
}

const TOO_MANY = Object.assign(new Error('too many requests'), { status: 429 });

/** What a user, or a host, may say at any time. */
const SAID: readonly ChainEvent[] = [
  { type: 'run.cancelled' },
  { type: 'run.interrupted' },
  { type: 'run.finished' },
  { type: 'run.adjusted', limits: {} },
  { type: 'run.directed', phase: 'experience' },
  { type: 'run.directed', phase: 'nowhere' },
  { type: 'consent.given', choice: 'remove' },
];

/** The chain with everything that its phases, its sources and its user can do to it. */
export const chainChart = {
  machine: chainMachine,
  inputs: {
    'a question': inputOf({}),
    'with everything': inputOf({}, { sessionId: 's' }, { hasDocuments: true, hasEmbeddings: true }),
    'a capability at work': inputOf({ capabilities: [LOOKUP] }),
    'by hand': inputOf({ thresholds: { change: 0 } }, { mode: 'manual' }),
    'a long history': inputOf(
      {},
      {
        sessionId: 's',
        history: [
          { role: 'user', content: LONG },
          { role: 'assistant', content: LONG },
          { role: 'user', content: LONG },
        ],
      },
      { contextWindowTokens: 3_000 },
    ),
    'a long history, few calls': inputOf(
      { limits: { maxModelCalls: 8 } },
      { history: [{ role: 'user', content: LONG }] },
      { contextWindowTokens: 3_000 },
    ),
    'worth a summary': inputOf(
      {},
      { messages: [WORTH_A_SUMMARY, { ...WORTH_A_SUMMARY, id: 'newest', content: 'So it was.' }] },
    ),
    'few calls': inputOf({ limits: { maxModelCalls: 8 } }),
    'any change is one': inputOf({ thresholds: { change: 0 } }),
  },
  outcomes: {
    attempt: (input, { context }) => {
      const { task } = input as AttemptInput;
      const outcomes = attemptOutcomes(input as AttemptInput, repliesTo(task as Task, context as ChainState));
      // A report changes how many calls are left after an abort, which only few calls make a difference to.
      return (context as ChainState).limits.maxModelCalls > FEW_CALLS ? [...outcomes, reportsUsage] : outcomes;
    },
    action: (input) => [
      ...attemptOutcomes(input as AttemptInput, {
        replied: { reply: replies.action, results: [], stopReason: 'nothing_to_run', memory: [] },
      }),
      ...((input as ActionInput).input.capabilities.length > 0
        ? [sends(loopInProgress(input as ActionInput), 'reports a capability run')]
        : []),
    ],
    retrievePassages: (input) => {
      const { query } = input as { readonly query: string };
      return [done({ query, passages: [], widened: false }), fails(TOO_MANY, 'too many requests'), fails()];
    },
    measureContext: (input) => measured(input as MeasureContextInput),
    compareAnswers: (input) => {
      const { previous, current } = input as CompareAnswersInput;
      return [done(previous === current ? 0 : 0.5, 'compared'), done(null, 'cannot tell'), fails()];
    },
    recallSession: [done({ turns: [], problem: null }), fails()],
    appendTurn: [done(undefined), fails()],
  },
  events: (snapshot) =>
    snapshot.matches({ cycling: { yield: 'awaitingDirection' } })
      ? [
          ...SAID,
          ...PHASES.filter((phase) => phase !== 'experience').map((phase) => ({
            type: 'run.directed' as const,
            phase,
          })),
        ]
      : SAID,
  abstraction: whatDecides,
  limit: 50_000,
} satisfies ExploredChart<typeof chainMachine>;

/**
 * What of a run decides how it goes on, where it stands. Which cycle it is always does: by that the graph grows with `maxCycles`. A failure
 * and a decision are gone by at once, in states that nothing rests in, and so is a direction, but while a session is recalled; what was said in
 * a phase is looked at in that phase. Left out, for the graph's size, though it decides: how often an answer was given in earlier cycles, and
 * what Understanding let go in them. Of such runs only the first to come to a state is followed.
 */
function whatDecides({ context, value }: ChainSnapshot): unknown {
  // The way to the answer looks back at nothing but what ended the cycles.
  if (typeof value !== 'object' || !('cycling' in value)) return context.interruption?.kind ?? context.decision?.rule;
  const { recursion, assessment, evaluation, limits, usage } = context;
  const phase = typeof value.cycling === 'object' ? Object.keys(value.cycling)[0] : value.cycling;
  const callsLeft = limits.maxModelCalls - usage.modelCalls;
  return {
    ...{ cycle: recursion.cycle, completed: recursion.completedCycles, phaseRetries: context.phaseRetries },
    ...{ detour: context.detour, consentAsked: context.consentAsked, repeats: assessment?.repeats },
    callsLeft: callsLeft > FEW_CALLS ? 'enough' : callsLeft,
    ...{ isToMeasure: measuringPays(context, visibleMessages(context)).holds, isToRate: modelMayRate(context).holds },
    within:
      (phase === 'recalling' && context.direction) ||
      (phase === 'action' && context.inFlight.loop !== null) ||
      (phase === 'experience' && context.sourceRetry?.retries) ||
      (phase === 'understanding' && evaluation && planOf(context)) ||
      (phase === 'yield' && assessment && [assessment.proposal, assessment.confidence, assessment.toCompare !== null]),
  };
}

const FEW_CALLS = 8;

const planOf = (context: ChainState) => [
  consentRequest(context.evaluation?.operations ?? [], visibleMessages(context)) !== null,
  summariesWanted(context).holds,
];
