import type { AnyStateMachine, StateValue } from 'xstate';
import type { AttemptState } from '../../machines/attempt/state.ts';
import type { ActionState } from '../../machines/contracts/action-state.ts';
import type { StopReason } from '../../machines/contracts/capability.ts';
import type { ChainState } from '../../machines/contracts/chain-state.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { DecisionRule } from '../../machines/policies/decisions.ts';
import { addedTokens, attributeChars } from '../../machines/policies/message-attributes.ts';
import { visibleMessages } from '../../machines/policies/progress.ts';
import { actionChart } from '../../src/testing/charts/action-chart.ts';
import { attemptChart } from '../../src/testing/charts/attempt-chart.ts';
import { chainChart } from '../../src/testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties } from '../../src/testing/charts/properties.ts';
import type { Exploration } from '../../src/testing/exploration/exploration.ts';
import { type ExploreOptions, explore } from '../../src/testing/exploration/explore.ts';
import { pathThrough } from '../../src/testing/exploration/paths.ts';
import { describeFinding, findingsOf, type Property } from '../../src/testing/properties/properties.ts';

/**
 * Which way a machine may go, from where and on what: written from the requirements, in words of what happens, without a look at the guards.
 * The first row that fits an edge decides. A row that no edge fits, and an edge that no row allows, are mistakes, here or in the chart.
 */
export interface TransitionRow<Context> {
  readonly from: readonly string[];
  /** What happens, as its name has it. */
  readonly on: RegExp;
  /** How it stood before that; `name` is what happens. */
  readonly when?: (context: Context, name: string) => boolean;
  /** Where it may stand then; `the same` is where it stood. */
  readonly to: readonly string[];
  /** What must be so there: of what tells states from each other, since one state stands for all that are alike. */
  readonly so?: (context: Context, there: string, before: Context) => boolean;
  /** The requirements that say so. */
  readonly by: string;
}

/** States that only hold others: what is in them says enough. */
const WRAPPER_STATES: ReadonlySet<string> = new Set(['cycling', 'synthesizing', 'calling']);

/** The current state of a machine: its innermost state and the phase around it; in a parallel state, those of the unfinished regions. */
function stateName(value: StateValue): string {
  const parts: string[] = [];
  let at: StateValue | undefined = value;
  while (typeof at === 'object') {
    const entries: [string, StateValue | undefined][] = Object.entries(at);
    if (entries.length > 1) at = entries.find(([, region]) => region !== 'finished')?.[1];
    if (typeof at !== 'object') break;
    const [[name, inner] = ['', undefined]] = entries;
    parts.push(name);
    at = inner;
  }
  if (at !== undefined) parts.push(at);
  return parts.filter((part) => !WRAPPER_STATES.has(part)).join('.');
}

/** Where a run begins, `on` the name of its input. */
const START = 'its beginning';

interface ObservedTransition<Context> {
  readonly here: string;
  readonly there: string;
  readonly name: string;
  readonly moves: boolean;
  readonly before: Context;
  readonly after: Context;
  readonly path: () => string;
}

function transitionsOf<Context>(exploration: Exploration): readonly ObservedTransition<Context>[] {
  const { states, edges, starts: beginnings } = exploration;
  const standing = (id: number) => {
    const state = states[id];
    if (state === undefined) throw new RangeError(`no state ${id}`);
    return { place: stateName(state.value), context: state.snapshot.context as Context };
  };
  return [
    ...beginnings.map(({ name, state }) => {
      const { place: there, context } = standing(state);
      return { here: START, there, name, moves: true, before: context, after: context, path: () => name };
    }),
    ...edges.map((edge) => {
      const [from, to] = [standing(edge.from), standing(edge.to)];
      return {
        here: from.place,
        there: to.place,
        name: edge.occurrence.name,
        moves: edge.taken.length > 0,
        before: from.context,
        after: to.context,
        path: () => pathThrough(exploration, edge).name,
      };
    }),
  ];
}

/** Steps that no row allows, each with the shortest path to it. What is ignored is allowed where no row says what comes of it. */
export function forbiddenTransitions<Context>(
  table: readonly TransitionRow<Context>[],
  exploration: Exploration,
): readonly string[] {
  return transitionsOf<Context>(exploration).flatMap((step) => {
    const { here, there, name, moves, before, after, path } = step;
    const row = rowFor(table, step);
    if (row === undefined && (!moves || here === START)) return [];
    const allowed = row?.to.map((place) => (place === 'the same' ? here : place)) ?? [];
    const isSo = row?.so === undefined || row.so(after, there, before);
    if (allowed.includes(there) && isSo && (moves || row?.to.includes('the same') === true)) return [];
    const expected = row === undefined ? 'a row for it' : `${allowed.join(' or ')} [${row.by}]`;
    const what = moves ? `→ ${there}${isSo ? '' : ', but its condition does not hold'}` : 'is ignored';
    return [`${here}, ${name} ${what}; expected ${expected}, after ${path()}`];
  });
}

/** Rows that nothing fits. */
export function unusedRows<Context>(
  table: readonly TransitionRow<Context>[],
  exploration: Exploration,
): readonly string[] {
  const used = new Set(
    transitionsOf<Context>(exploration).map((step) => (step.moves ? rowFor(table, step) : undefined)),
  );
  return table
    .filter((row) => !used.has(row))
    .map(({ from, on, by }) => `nothing fits: ${from.join(', ')}, ${on} [${by}]`);
}

const rowFor = <Context>(
  table: readonly TransitionRow<Context>[],
  { here, name, before }: ObservedTransition<Context>,
) =>
  table.find(
    ({ from, on, when }) => from.includes(here) && on.test(name) && (when === undefined || when(before, name)),
  );

type AttemptRow = TransitionRow<AttemptState>;

const CALLING = ['opening', 'streaming'];

/** A call to another model is begun at once, and so is a correction; an attempt that is over says why. */
const NEXT_CALL = ['opening'];

/** C4, A14: the other model takes over once, and once more if it is known to answer in prose. */
const hasFallback = ({ execution, policy, models, model, gaveUp }: AttemptState): boolean => {
  const other = 1 - model;
  const status = models[other];
  if (status === undefined || policy.maxFallbacks === 0 || status.hungCalls >= policy.maxHungCalls) return false;
  if (!gaveUp.includes(other)) return true;
  const isProse = status.form === 3 && !status.repliesInJson;
  return isProse && gaveUp.filter((one) => one === other).length < 2 && execution.fallbacks < 4;
};
const mayCorrect = ({ execution, policy }: AttemptState): boolean => execution.corrections < policy.maxCorrections;
/** A14: no form of the reply is left, and prose is no decision. */
const mayCorrectForm = (state: AttemptState): boolean => {
  const { task, policy, models, model } = state;
  const status = models[model];
  const isLastForm = policy.triesReplyForms && status?.repliesInJson === false && status.form > 1;
  return mayCorrect(state) && !(isLastForm && task === 'continuation');
};
/** The model hung once before. */
const hangsAgain = ({ policy, models, model }: AttemptState): boolean =>
  (models[model]?.hungCalls ?? 0) + 1 >= policy.maxHungCalls;
const waitsBefore = ({ policy }: AttemptState): boolean => policy.backoffBaseMs > 0;

/** A4, A13: a retry is left, and its wait is over before the time is. What ran into a timer took as long. */
const mayRetry =
  (tookMs: (context: AttemptState) => number) =>
  (context: AttemptState): boolean => {
    const { execution, policy, elapsedMs } = context;
    const waitMs = Math.min(policy.backoffMaxMs, policy.backoffBaseMs * 2 ** execution.transportRetries);
    return (
      execution.transportRetries < policy.maxTransportRetries && elapsedMs + tookMs(context) + waitMs < policy.totalMs
    );
  };

/** A3: the policy has the last word. */
const givesValue = ({ id }: AttemptState): boolean => id === 'finalized';

/** Where nothing is left to do with this model, the next one; where there is none, the end. */
const fallbackOr = (from: readonly string[], on: RegExp, by: string): readonly AttemptRow[] => [
  { from, on, when: hasFallback, to: NEXT_CALL, by },
  { from, on, when: givesValue, to: ['finalizing'], by: 'A3' },
  { from, on, to: ['failed'], by },
];

const retryRows = (
  from: readonly string[],
  on: RegExp,
  tookMs: (context: AttemptState) => number,
  isOver: (context: AttemptState) => boolean = () => false,
): readonly AttemptRow[] => [
  {
    from,
    on,
    when: (state) => mayRetry(tookMs)(state) && !isOver(state) && waitsBefore(state),
    to: ['backingOff'],
    by: 'A4, A13',
  },
  { from, on, when: (state) => mayRetry(tookMs)(state) && !isOver(state), to: NEXT_CALL, by: 'A4, A13' },
  ...fallbackOr(from, on, 'A4, C4'),
];

const correctionRows = (from: readonly string[], on: RegExp, when = mayCorrect): readonly AttemptRow[] => [
  { from, on, when, to: NEXT_CALL, by: 'A4, A9' },
  ...fallbackOr(from, on, 'A4, C4'),
];

export const ATTEMPT_TABLE: readonly AttemptRow[] = [
  {
    from: [...CALLING, 'validating', 'backingOff'],
    on: /^after totalDeadline$/,
    when: givesValue,
    to: ['finalizing'],
    by: 'A3',
  },
  { from: ['finalizing'], on: /: valid$/, to: ['succeeded'], so: ({ failure }) => failure === null, by: 'A3' },
  {
    from: ['finalizing'],
    on: /: (invalid|error)$|^after totalDeadline$/,
    to: ['failed'],
    so: ({ failure }) => failure !== null,
    by: 'A3',
  },
  // A11: the call that it broke off is told of, and charged; a wait is no call.
  {
    from: [...CALLING, 'validating'],
    on: /^after totalDeadline$/,
    to: ['failed'],
    so: ({ execution }) => execution.attempts.at(-1)?.failure?.code === 'total_deadline',
    by: 'A10, A11',
  },
  {
    from: ['backingOff'],
    on: /^after totalDeadline$/,
    to: ['failed'],
    so: ({ execution, failure }) =>
      failure?.code === 'total_deadline' && execution.attempts.at(-1)?.failure?.code !== 'total_deadline',
    by: 'A10, A11',
  },

  { from: ['opening'], on: /: starts$/, to: ['streaming'], by: 'A1' },
  { from: ['streaming'], on: /: continues$/, to: ['streaming'], by: 'A1' },
  { from: CALLING, on: /: lost$/, to: ['opening'], by: 'A8' },
  { from: CALLING, on: /: unvalidated( prose)?$/, to: ['validating'], by: 'A2, A6, A14' },
  ...retryRows(CALLING, /: connection lost$/, () => 0),
  ...fallbackOr(CALLING, /: (rate limited for an hour|unauthorized|error)$/, 'A13'),
  ...correctionRows(CALLING, /: no JSON$/, mayCorrectForm),
  ...retryRows(['opening'], /^after firstChunkDeadline$/, ({ policy }) => policy.firstChunkMs, hangsAgain),
  ...retryRows(['streaming'], /^after stallDeadline$/, ({ policy }) => policy.chunkMs * 1.125, hangsAgain),

  { from: [...CALLING, 'validating'], on: /: valid( prose)?$/, to: ['succeeded'], by: 'A1, A2, A6, A14' },
  ...correctionRows([...CALLING, 'validating'], /: invalid$/),
  ...fallbackOr(['validating'], /: error$/, 'A10'),

  { from: ['backingOff'], on: /^after backoff$/, to: ['opening'], by: 'A3' },
];

type ActionRow = TransitionRow<ActionState>;

const DECIDING = ['asking', 'thinking'];

/** R3: as many runs as there may be have ended. */
const isAtLimit = ({ runs, maxContinuations }: ActionState): boolean => runs >= maxContinuations;
const canThink = ({ execution: { usage }, maxTokens }: ActionState): boolean =>
  usage.inputTokens + usage.outputTokens < maxTokens;

const stoppedBy =
  (reason: StopReason) =>
  ({ stopReason }: ActionState): boolean =>
    stopReason === reason;

export const ACTION_TABLE: readonly ActionRow[] = [
  // C8: an attempt reports its usage, which is passed on to the chain.
  { from: ['classifying', 'thinking'], on: /: reports its usage$/, to: ['the same'], by: 'C8' },
  // A14: so is what it has learned about its models.
  { from: ['classifying', 'thinking'], on: /: reports its models$/, to: ['the same'], by: 'A14' },
  // R1: the request is classified once, unless it is known what to run.
  { from: [START], on: /calls? .*(is|are) given/, to: ['validatingArguments'], by: 'R1, R2' },
  // R1: a later Action reuses the classification, unless the user gave a new prompt; R3: its runs count toward the same limit.
  {
    from: [START],
    on: /^a later Action at the limit$/,
    to: ['concluded'],
    so: stoppedBy('limit_reached'),
    by: 'R1, R3',
  },
  {
    from: [START],
    on: /^a later Action without a run, a function/,
    to: ['concluded'],
    so: stoppedBy('nothing_to_run'),
    by: 'R1, R5',
  },
  { from: [START], on: /^a later Action.*, a function decides$/, to: ['asking'], by: 'R1' },
  { from: [START], on: /^a later Action.*, the model decides$/, to: ['thinking'], by: 'R1' },
  { from: [START], on: /./, to: ['classifying'], by: 'R1' },
  {
    from: ['classifying'],
    on: /: (a capability|an unknown capability|three capabilities)$/,
    when: isAtLimit,
    to: ['concluded'],
    so: stoppedBy('limit_reached'),
    by: 'R3',
  },
  { from: ['classifying'], on: /: (a capability|three capabilities)$/, to: ['validatingArguments'], by: 'R1, R2' },
  { from: ['classifying'], on: /: an answer$/, to: ['concluded'], so: stoppedBy('nothing_to_run'), by: 'R1' },
  // R5: what cannot be run ends the loop; of the first step it is a result that failed.
  {
    from: ['classifying'],
    on: /: an unknown capability$/,
    to: ['concluded'],
    so: ({ stopReason, results }) =>
      stopReason === 'invalid_next_step' && results.at(-1)?.code === 'unknown_capability',
    by: 'R5',
  },
  { from: ['classifying'], on: /./, to: ['failed'], so: stoppedBy('no_reply'), by: 'C4' },

  { from: ['validatingArguments'], on: /: (valid|only the first valid)$/, to: ['executing'], by: 'R2' },
  {
    from: ['validatingArguments'],
    on: /./,
    when: ({ runs }) => runs === 0,
    to: ['concluded'],
    so: ({ stopReason, results }, _, { calls }) =>
      stopReason === 'invalid_next_step' && results.length === calls.length,
    by: 'R5',
  },
  {
    from: ['validatingArguments'],
    on: /./,
    to: ['concluded'],
    so: ({ stopReason, results }, _, before) =>
      stopReason === 'invalid_next_step' && results.length === before.results.length,
    by: 'R5: the last result is returned',
  },

  // The calls of one reply run at the same time. The decider is asked only after all of them have ended.
  {
    from: ['executing'],
    on: /./,
    when: ({ step }) => step.filter(({ result }) => result === null).length > 1,
    to: ['executing'],
    so: ({ results }, _, before) => results.length === before.results.length,
    by: 'R2',
  },
  {
    from: ['executing'],
    on: /./,
    when: ({ calls }) => calls.length > 0,
    to: ['concluded'],
    so: stoppedBy('limit_reached'),
    by: 'R3: more calls than runs left',
  },
  // R7: whatever came of the run, the decider is asked; R6: where there is one, and where it can be paid.
  { from: ['executing'], on: /./, when: ({ decider }) => decider === 'function', to: ['asking'], by: 'R2, R7' },
  {
    from: ['executing'],
    on: /./,
    when: (state) => state.decider === 'model' && canThink(state),
    to: ['thinking'],
    by: 'R6, R7',
  },
  {
    from: ['executing'],
    on: /./,
    when: ({ decider }) => decider === 'model',
    to: ['concluded'],
    so: stoppedBy('budget_exhausted'),
    by: 'R3, promise 2',
  },
  { from: ['executing'], on: /./, to: ['concluded'], so: stoppedBy('no_decider'), by: 'R5' },

  { from: DECIDING, on: /: stop (there|with an output)$/, to: ['concluded'], so: stoppedBy('done'), by: 'R5' },
  {
    from: DECIDING,
    on: /: (another call|a call of an unknown capability|no next call)$/,
    when: isAtLimit,
    to: ['concluded'],
    so: stoppedBy('limit_reached'),
    by: 'R3',
  },
  {
    from: DECIDING,
    on: /: another call$/,
    when: ({ decider, results, maxSameCalls }) =>
      decider === 'model' && results.filter(({ id }) => id !== null).length >= maxSameCalls,
    to: ['concluded'],
    so: stoppedBy('same_call_repeated'),
    by: 'R5: a loop of identical calls',
  },
  { from: DECIDING, on: /: another call$/, to: ['validatingArguments'], by: 'R2' },
  {
    from: DECIDING,
    on: /: (a call of an unknown capability|no next call)$/,
    to: ['concluded'],
    so: stoppedBy('invalid_next_step'),
    by: 'R5',
  },
  { from: DECIDING, on: /./, to: ['concluded'], so: stoppedBy('decider_failed'), by: 'R7' },
];

/** What the table of the chain asks of a run as it stood, in the words of the requirements. */

/** Every end of an attempt charges one call, but for an error, which says nothing of one. A timer may leave a call behind that is lost. */
const isBudgetSpent = ({ usage, limits }: ChainState, name: string): boolean =>
  usage.modelCalls + (/^(attempt|action): (?!error)/.test(name) ? 1 : 0) >= limits.maxModelCalls;

/** Where a phase has its reply from, and what is known before it. */
const hasOwnCall =
  (phase: keyof ChainState['profile']) =>
  ({ profile }: ChainState): boolean =>
    profile[phase] === 'own';
const isPart =
  (phase: Phase) =>
  ({ shared, recursion }: ChainState): boolean =>
    shared?.cycle === recursion.cycle && phase in shared.replies;
/** A phase that is repeated asks for its own reply only; the next one makes a call, unless its reply is known. */
const asksForItself =
  (next: 'intention' | 'observation' | 'understanding') =>
  (state: ChainState): boolean =>
    state.phaseRetries > 0 && state.profile[next] === 'shared' && !isPart(next)(state);
const isSearching = ({ search }: ChainState): boolean => search !== null && search.result === null;
const isRateLimited = ({ search, limits }: ChainState): boolean =>
  search?.result?.error?.status === 429 && limits.maxTransportRetries > 0;
const isUnderWay = ({ early }: ChainState): boolean => early !== null && early.result === null;
const hasReplied = ({ early }: ChainState): boolean => early?.result?.failure === null;
const mayRepeat = ({ phaseRetries, limits }: ChainState): boolean => phaseRetries < limits.maxPhaseRetries;
const isLastCycle = ({ recursion, limits }: ChainState): boolean => recursion.completedCycles + 1 >= limits.maxCycles;
const isInLastCycle = ({ recursion, limits }: ChainState): boolean => recursion.cycle >= limits.maxCycles;
const isManual = ({ mode }: ChainState): boolean => mode === 'manual';
const isDetour = ({ detour }: ChainState): boolean => detour;

/** U10: what is over its share of the window with embeddings or by a first guess of three tokens a character is measured. */
const needsMeasuring = (state: ChainState): boolean => state.hasEmbeddings || isOverWindow(state);
const isOverWindow = (state: ChainState): boolean => !fitsAt(state, 3, (message) => 3 * attributeChars(message));

/** C9, U10: a prompt prints the attributes of each message beside its content. */
function fitsAt(state: ChainState, tokensPerChar: number, attributes: (message: Message) => number): boolean {
  const tokens = visibleMessages(state).reduce(
    (sum, message) => sum + tokensPerChar * message.content.length + attributes(message),
    0,
  );
  return tokens <= state.contextWindowTokens * state.thresholds.windowShare;
}

const fitsAtEstimate = (state: ChainState, tokensPerChar: number): boolean =>
  fitsAt(state, tokensPerChar, (message) => addedTokens(message, tokensPerChar));

/** U7, U10: a model rates what it can be shown; how many tokens a character has is known from what was measured last. */
const fitsWindow = (state: ChainState): boolean => fitsAtEstimate(state, state.tokensPerChar);
const fitsWindowAsMeasured = (state: ChainState): boolean => fitsAtEstimate(state, 1 / 3);

/** U5: the model is asked for summaries exactly where some are planned, and there is a call left for it, and room. */
function isSummarized(state: ChainState, there: string): boolean {
  const { evaluation, limits, usage } = state;
  const isPlanned = evaluation?.operations.some(({ operation }) => operation === 'TRANSFORM') === true;
  return (
    (there === 'understanding.summarizing') ===
    (isPlanned && limits.maxModelCalls - usage.modelCalls > 1 && fitsWindow(state))
  );
}

/** Y2: by which rule the cycles ended. */
const endedBy =
  (rule: DecisionRule) =>
  ({ interruption, decision }: ChainState): boolean =>
    interruption === null && decision?.rule === rule;

/** The same, and a model writes the answer unless the profile says that a good one in Yield is final. */
const answeredBy =
  (rule: DecisionRule) =>
  (state: ChainState, there: string): boolean =>
    endedBy(rule)(state) && (there === 'writing') === (state.profile.writing === 'always' || !QUALITY.has(rule));

/** Rules that hold because the answer is good. */
const QUALITY: ReadonlySet<DecisionRule> = new Set(['confidenceReached', 'answerConverged', 'taskComplete']);

/** Y6: each cycle is counted, whoever says where the next begins. */
const startsNextCycle = (after: ChainState, _: string, before: ChainState): boolean =>
  after.recursion.cycle === before.recursion.cycle + 1;

/** Y2: of an answer that is the same. */
const isConverged = ({ thresholds, recursion }: ChainState): boolean =>
  recursion.completedCycles > 0 && thresholds.change > 0;

/** Y2: what started early for Yield counts only if it was asked for the same context; else Yield asks now. */
function takesEarlyAnswer(_: ChainState, there: string, { early }: ChainState): boolean {
  if (early === null || early.result?.failure !== null)
    return there === 'yield.assessing' || isUnderWayAt(early, there);
  return true;
}

const isUnderWayAt = (early: ChainState['early'], there: string): boolean =>
  early !== null && early.result === null && there === 'yield.choosing';

/** U9: whether an event decides about every operation that the user is asked about. */
function isSettledBy({ evaluation }: ChainState, name: string): boolean {
  const asked = (evaluation?.operations ?? []).filter(({ metadata }) => metadata['requiresConsent'] === true);
  return asked.every(({ id, target }) => name.includes(name.startsWith('context.undone') ? `"${id}"` : `"${target}"`));
}

type ChainRow = TransitionRow<ChainState>;

const STOPPING = ['remembering', 'answered'];
/** Through the writing of the answer, where a model may. */
const FINISHING = ['writing', ...STOPPING];
/** Understanding measures, rates, summarizes and asks, each where there is something to do; then comes Yield. */
const AFTER_SUMMARY = ['understanding.awaitingConsent', 'yield.assessing'];
const AFTER_RATING = ['understanding.summarizing', ...AFTER_SUMMARY];
const AFTER_MEASURING = ['understanding.evaluating', ...AFTER_RATING];
const UNDERSTANDING = ['understanding.measuring', ...AFTER_MEASURING];

const ENTRY_STATES: Readonly<Record<string, readonly string[]>> = {
  action: ['action'],
  experience: ['experience.searching', 'experience.backingOff', 'experience.reading', 'intention'],
  intention: ['intention'],
  observation: ['observation', 'observation.choosing'],
  understanding: UNDERSTANDING,
  yield: ['yield.assessing'],
};
const PHASES = Object.keys(ENTRY_STATES);
/** The states that each phase is asked in, and the phase that follows. */
const MODEL_STATES: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  action: ['action', ENTRY_STATES['experience'] ?? []],
  'experience.reading': ['experience', ENTRY_STATES['intention'] ?? []],
  // The reply of the phase after it may be known.
  intention: ['intention', [...(ENTRY_STATES['observation'] ?? []), ...UNDERSTANDING]],
  observation: ['observation', UNDERSTANDING],
  'understanding.evaluating': ['understanding', ENTRY_STATES['yield'] ?? []],
};

const CYCLING = [
  'recalling',
  'action',
  'experience.searching',
  'experience.backingOff',
  'experience.reading',
  'intention',
  'observation.choosing',
  'observation',
  ...UNDERSTANDING,
  'yield.choosing',
  'yield.grading',
  'yield.comparing',
  'yield.awaitingDirection',
];

/** C8, Y9: a phase that failed is done again, once; then it is done without. */
const failureRows = (from: string, on: RegExp, phase: string, next: readonly string[]): readonly ChainRow[] => [
  { from: [from], on, when: mayRepeat, to: ENTRY_STATES[phase] ?? [], by: 'Y9' },
  { from: [from], on, to: next, by: 'Y9' },
];

const modelRows = ([from, [phase, next]]: readonly [
  string,
  readonly [string, readonly string[]],
]): readonly ChainRow[] => [
  { from: [from], on: /: connection lost$/, to: FINISHING, by: 'C4' },
  ...failureRows(from, /: invalid reply$/, phase, next),
  { from: [from], on: /: (refused|error)$/, to: next, by: 'Y9' },
  ...(phase === 'action'
    ? [
        {
          from: [from],
          on: /^after phaseDeadline$/,
          when: ({ inFlight }: ChainState) => inFlight.loop !== null,
          to: next,
          by: 'R7, C8',
        },
      ]
    : []),
  ...failureRows(from, /^after phaseDeadline$/, phase, next),
];

/** Any valid reply. */
const VALID_IN_YIELD = /^attempt: (?!connection lost|invalid reply|refused|error)/;

const WRITING_ENDS = /^(attempt|after synthesisDeadline|run\.(cancelled|interrupted))/;

export const CHAIN_TABLE: readonly ChainRow[] = [
  // C5: the search starts with Action, and its result waits for Experience. A search outlives a phase that the user leaves out.
  { from: ['experience.searching'], on: /^retrievePassages: done$/, to: ['experience.reading'], by: 'C5' },
  {
    from: ['experience.searching'],
    on: /: too many requests$/,
    when: ({ sourceRetry, limits }) => (sourceRetry?.retries ?? 0) < limits.maxTransportRetries,
    to: ['experience.backingOff'],
    by: 'C5',
  },
  { from: ['experience.searching'], on: /^retrievePassages: /, to: ['experience.reading'], by: 'C5' },
  { from: [...CYCLING, 'yield.assessing'], on: /^retrievePassages: /, to: ['the same'], by: 'C5' },
  // C1: a call that started early waits for its phase.
  { from: ['observation.choosing'], on: /^callAhead: done$/, to: UNDERSTANDING, by: 'C1' },
  { from: ['observation.choosing'], on: /^callAhead: /, to: ['observation'], by: 'C1' },
  {
    from: ['yield.choosing'],
    on: /^callAhead: done$/,
    when: isLastCycle,
    to: FINISHING,
    so: endedBy('cycleLimitReached'),
    by: 'Y2',
  },
  { from: ['yield.choosing'], on: /^callAhead: done$/, to: FINISHING, so: answeredBy('confidenceReached'), by: 'Y2' },
  { from: ['yield.choosing'], on: /^callAhead: /, to: ['yield.assessing'], by: 'C1' },
  { from: [...CYCLING, 'yield.assessing'], on: /^callAhead: /, to: ['the same'], by: 'C1' },

  // C8: what is in flight reports to the chain; nothing else changes.
  {
    from: [...CYCLING, 'yield.assessing', 'writing'],
    on: /^(attempt|action): reports /,
    to: ['the same'],
    by: 'C8',
  },

  // U9, U12: the user may overrule or undo at any time. A question of which nothing is left is settled.
  {
    from: ['understanding.awaitingConsent'],
    on: /^context\./,
    when: isSettledBy,
    to: ['yield.assessing', 'yield.choosing', ...FINISHING],
    so: takesEarlyAnswer,
    by: 'U9',
  },
  {
    from: ['observation.choosing', 'yield.choosing'],
    on: /^context\.(overruled|undone)/,
    to: ['the same', 'observation', 'yield.assessing'],
    by: 'U9, U12: another context is another prompt',
  },
  {
    from: [...CYCLING, 'yield.assessing', 'writing', 'remembering'],
    on: /^context\.(overruled|undone)/,
    to: ['the same'],
    by: 'U9, U12',
  },

  // Promise 1: from anywhere in the cycles to an answer.
  { from: CYCLING, on: /^run\.(cancelled|interrupted)/, to: STOPPING, by: 'E3, E9' },
  { from: CYCLING, on: /^run\.finished/, to: FINISHING, by: 'E3' },
  { from: CYCLING, on: /^after runDeadline/, to: FINISHING, by: 'E3, E9' },
  // Y4: the user chooses the next phase, in another cycle if one is left; a name that is not a phase changes nothing.
  { from: ['recalling'], on: /^run\.directed .*(experience)/, to: ['recalling'], by: 'Y4' },
  { from: CYCLING, on: /^run\.directed .*nowhere/, to: ['the same'], by: 'Y4, Y5' },
  { from: CYCLING, on: /^run\.adjusted/, to: ['the same'], by: 'Y4' },
  ...PHASES.map((phase) => ({
    from: ['yield.awaitingDirection'],
    on: new RegExp(`^run\\.directed .*"${phase}"`),
    to: ENTRY_STATES[phase] ?? [],
    so: startsNextCycle,
    by: 'Y4, Y6',
  })),
  { from: ['action'], on: /^run\.directed .*"experience"/, to: ENTRY_STATES['experience'] ?? [], by: 'Y4: ahead' },
  {
    from: CYCLING,
    on: /^run\.directed .*"experience"/,
    when: (state) => !isDetour(state) && isInLastCycle(state),
    to: ['the same'],
    by: 'Y2, Y4: the cycle limit bounds the user, too',
  },
  {
    from: CYCLING,
    on: /^run\.directed .*"experience"/,
    when: isDetour,
    to: ENTRY_STATES['experience'] ?? [],
    by: 'Y4',
  },
  {
    from: CYCLING,
    on: /^run\.directed .*"experience"/,
    to: ENTRY_STATES['experience'] ?? [],
    so: startsNextCycle,
    by: 'Y4, Y6',
  },
  // Y1: while the budget lasts, the user's grader comes before the rules.
  {
    from: ['yield.assessing'],
    on: VALID_IN_YIELD,
    when: (state, name) => state.hasGrader && !isBudgetSpent(state, name),
    to: ['yield.grading'],
    by: 'Y1',
  },
  // Y2: the bounds come before what was said; the last cycle before the last call.
  {
    from: ['yield.assessing'],
    on: VALID_IN_YIELD,
    when: isLastCycle,
    to: FINISHING,
    so: endedBy('cycleLimitReached'),
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: VALID_IN_YIELD,
    when: isBudgetSpent,
    to: FINISHING,
    so: endedBy('budgetExhausted'),
    by: 'Y2, E9',
  },
  // Y2, E9: the budget ends the cycles, whatever a call came to.
  { from: CYCLING, on: /: /, when: isBudgetSpent, to: FINISHING, by: 'Y2, E9' },

  { from: [START], on: /^(with session, documents and embeddings|a long history)$/, to: ['recalling'], by: 'R4' },
  { from: [START], on: /./, to: ['action'], by: 'C1' },
  {
    from: ['recalling'],
    on: /^(recallSession|after sessionDeadline)/,
    when: isOverWindow,
    to: ['understanding.measuring'],
    by: 'U10: before anything else',
  },
  {
    from: ['recalling'],
    on: /^(recallSession|after sessionDeadline)/,
    to: ['action', ...(ENTRY_STATES['experience'] ?? [])],
    by: 'C4',
  },

  // C1: the order of the phases, wherever a reply is from.
  { from: ['action'], on: /: replied$/, when: isSearching, to: ['experience.searching'], by: 'C1, C5' },
  { from: ['action'], on: /: replied$/, when: isRateLimited, to: ['experience.backingOff'], by: 'C1, C5' },
  {
    from: ['action'],
    on: /: replied$/,
    when: ({ profile }) => profile.experience === 'policy',
    to: ['intention'],
    by: 'C1: nothing to read',
  },
  { from: ['action'], on: /: replied$/, to: ['experience.reading'], by: 'C1' },
  { from: ['experience.reading'], on: /: replied$/, when: hasOwnCall('experience'), to: ['intention'], by: 'C1' },
  { from: ['experience.reading'], on: /, intention invalid$/, to: ['intention'], by: 'C1' },
  { from: ['experience.reading'], on: /, observation invalid$/, to: ['observation'], by: 'C1' },
  {
    from: ['intention'],
    on: /: replied$/,
    when: (state) => hasOwnCall('observation')(state) && isUnderWay(state),
    to: ['observation.choosing'],
    by: 'C1',
  },
  {
    from: ['intention'],
    on: /: replied$/,
    when: (state) => hasOwnCall('observation')(state) && !hasReplied(state),
    to: ['observation'],
    by: 'C1',
  },
  { from: ['intention'], on: /, observation invalid$/, to: ['observation'], by: 'C1' },
  { from: ['experience.reading'], on: /: replied$/, when: asksForItself('intention'), to: ['intention'], by: 'C1, Y9' },
  { from: ['intention'], on: /: replied$/, when: asksForItself('observation'), to: ['observation'], by: 'C1, Y9' },
  {
    from: ['observation'],
    on: /: replied$/,
    when: asksForItself('understanding'),
    to: ['understanding.measuring', ...AFTER_MEASURING],
    by: 'C1, Y9',
  },
  {
    from: ['experience.reading', 'intention', 'observation'],
    on: /: replied/,
    when: needsMeasuring,
    to: ['understanding.measuring'],
    by: 'C1, U10',
  },
  ...['intention', 'observation'].flatMap((from): readonly ChainRow[] => [
    {
      from: [from],
      on: /, understanding invalid$/,
      to: ['understanding.measuring', ...AFTER_MEASURING],
      by: 'C1, U7, U10: a part that is invalid is asked for',
    },
    {
      from: [from],
      on: /: replied$/,
      when: (state) => fitsWindow(state) && hasOwnCall('understanding')(state),
      to: ['understanding.measuring', 'understanding.evaluating'],
      // The reply is a message too.
      so: (after, there) => (there === 'understanding.measuring') === needsMeasuring(after),
      by: 'C1, U7, U10',
    },
    { from: [from], on: /: replied$/, to: ['understanding.measuring', ...AFTER_RATING], by: 'C1, U10' },
  ]),
  { from: ['understanding.evaluating'], on: /: replied$/, to: AFTER_RATING, so: isSummarized, by: 'C1, U5, U7' },

  // C5: after a rate limit, the search is repeated.
  { from: ['experience.backingOff'], on: /^after sourceBackoff$/, to: ['experience.searching'], by: 'C5' },
  ...failureRows('experience.searching', /^after phaseDeadline$/, 'experience', ['intention']),
  ...failureRows('experience.backingOff', /^after phaseDeadline$/, 'experience', ['intention']),

  // A phase that is done again makes its call itself.
  { from: ['observation.choosing'], on: /^after phaseDeadline$/, to: ['observation'], by: 'Y9' },
  { from: ['yield.choosing'], on: /^after phaseDeadline$/, to: ['yield.assessing'], by: 'Y9' },

  ...Object.entries(MODEL_STATES).flatMap(modelRows),

  // U: measured or not, rated or not, Understanding goes on; only the user's word is waited for.
  {
    from: ['understanding.awaitingConsent'],
    on: /^(consent\.given|after consentDeadline)/,
    when: isDetour,
    to: ['action', ...(ENTRY_STATES['experience'] ?? [])],
    by: 'U8, U10',
  },
  {
    from: ['understanding.awaitingConsent'],
    on: /^(consent\.given|after consentDeadline)/,
    to: ['yield.assessing', 'yield.choosing', ...FINISHING],
    so: takesEarlyAnswer,
    by: 'U8',
  },
  {
    from: ['understanding.measuring'],
    on: /^(measureContext|after phaseDeadline)/,
    when: isDetour,
    to: AFTER_RATING,
    by: 'U10: no model before it fits',
  },
  {
    from: ['understanding.measuring'],
    on: /: measured$/,
    when: (state) => fitsWindowAsMeasured(state) && !isPart('understanding')(state),
    to: ['understanding.evaluating'],
    by: 'U7, U10',
  },
  { from: ['understanding.measuring'], on: /^(measureContext|after phaseDeadline)/, to: AFTER_MEASURING, by: 'U10' },
  { from: ['understanding.summarizing'], on: /^(attempt|after phaseDeadline)/, to: AFTER_SUMMARY, by: 'U5' },

  // Y4: in manual mode the user decides within the limits, once the answers are compared, if they must be.
  {
    from: ['yield.assessing'],
    on: VALID_IN_YIELD,
    when: isManual,
    to: ['yield.awaitingDirection'],
    by: 'Y4: a rule is a recommendation',
  },
  // A14: an answer in prose cannot be assessed, in another cycle neither.
  {
    from: ['yield.assessing'],
    on: /: in prose$/,
    when: ({ hasEmbeddings, assessment }) => !hasEmbeddings || assessment === null,
    to: FINISHING,
    so: answeredBy('answerIsProse'),
    by: 'A14',
  },
  // Y2: when a cycle is the last.
  {
    from: ['yield.assessing'],
    on: /: confident$/,
    to: FINISHING,
    so: answeredBy('confidenceReached'),
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: (?!connection lost|invalid reply|refused|error)/,
    when: ({ hasEmbeddings, assessment }) => hasEmbeddings && assessment !== null,
    to: ['yield.comparing'],
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: same answer$/,
    when: isConverged,
    to: FINISHING,
    so: answeredBy('answerConverged'),
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: same answer, task complete$/,
    when: isConverged,
    to: FINISHING,
    so: answeredBy('answerConverged'),
    by: 'Y2: before the task',
  },
  {
    from: ['yield.assessing'],
    on: /task complete$/,
    to: FINISHING,
    so: answeredBy('taskComplete'),
    by: 'Y1, Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: same answer$/,
    when: ({ recursion: { history }, assessment, thresholds }) =>
      history.filter((turn) => turn.target === 'yield' && turn.fingerprint === assessment?.fingerprint).length + 1 >=
      thresholds.loopRepeats,
    to: FINISHING,
    so: answeredBy('loopDetected'),
    by: 'Y7',
  },
  // Y3, Y4, Y5: where the next one begins.
  {
    from: ['yield.assessing'],
    on: /: (unsure|same answer)/,
    when: ({ hasDocuments }) => hasDocuments,
    to: ENTRY_STATES['experience'] ?? [],
    by: 'Y3: nothing was found',
  },
  { from: ['yield.assessing'], on: /no proposal$/, to: ['action', ...UNDERSTANDING], by: 'Y3' },
  { from: ['yield.assessing'], on: /an unknown phase$/, to: ['action', ...UNDERSTANDING], by: 'Y5' },
  ...PHASES.map((phase) => ({
    from: ['yield.assessing'],
    on: new RegExp(`proposes ${phase}$`),
    to: [...(ENTRY_STATES[phase] ?? []), ...UNDERSTANDING],
    by: 'Y4',
  })),
  { from: ['yield.assessing'], on: /: same answer$/, to: ['yield.assessing', ...UNDERSTANDING], by: 'Y4' },
  { from: ['yield.assessing'], on: /: connection lost$/, to: FINISHING, by: 'C4' },
  ...failureRows('yield.assessing', /: invalid reply$/, 'yield', FINISHING),
  ...failureRows('yield.assessing', /^after phaseDeadline$/, 'yield', FINISHING),
  { from: ['yield.assessing'], on: /: (refused|error)$/, to: FINISHING, by: 'Y9' },
  {
    from: ['yield.grading'],
    on: /^(gradeAnswer|after phaseDeadline)/,
    when: isInLastCycle,
    to: FINISHING,
    so: endedBy('cycleLimitReached'),
    by: 'Y1, Y2',
  },
  {
    from: ['yield.grading'],
    on: /^(gradeAnswer|after phaseDeadline)/,
    to: [...FINISHING, 'yield.comparing', ...PHASES.flatMap((phase) => ENTRY_STATES[phase] ?? [])],
    by: 'Y1, Y2',
  },
  {
    from: ['yield.comparing'],
    on: /^(compareAnswers|after phaseDeadline)/,
    to: [...FINISHING, ...PHASES.flatMap((phase) => ENTRY_STATES[phase] ?? [])],
    by: 'Y2',
  },

  // E: the answer cannot fail.
  {
    from: ['writing'],
    on: WRITING_ENDS,
    when: ({ sessionId }) => sessionId !== null,
    to: ['remembering'],
    by: 'E4, E7',
  },
  { from: ['writing'], on: WRITING_ENDS, to: ['answered'], by: 'E4, E7' },
  {
    from: ['remembering'],
    on: /^(appendTurn|after sessionDeadline|run\.(cancelled|interrupted))/,
    to: ['answered'],
    by: 'E7',
  },
];

export interface ChartSuite {
  readonly machine: AnyStateMachine;
  readonly options: ExploreOptions<AnyStateMachine>;
  readonly table: readonly TransitionRow<never>[];
  readonly properties: readonly Property[];
  /** Not all of the chart can be reached: rows that nothing fits, and what is dead, say nothing. */
  readonly isPart?: boolean;
}

/** Where most mistakes show. */
const FIRST_DEPTH = 7;

/** What our own charts are held against: the table and the properties; at first where a look is cheap. */
export function suiteCheck({ options, table, properties, isPart = false }: ChartSuite) {
  const told = (exploration: Exploration, asked: readonly Property[]): void => {
    throwFirst(forbiddenTransitions(table, exploration));
    const findings = findingsOf(exploration, asked).filter(({ witness }) => witness !== null);
    throwFirst(findings.map(describeFinding));
  };
  return (machine: AnyStateMachine): void => {
    told(exploreBounded(machine, { ...options, depth: FIRST_DEPTH }), properties);
    const exploration = exploreBounded(machine, options);
    told(
      exploration,
      isPart ? properties.filter(({ name }) => !/dead transition|unreachable/u.test(name)) : properties,
    );
    if (!isPart) throwFirst(unusedRows(table, exploration));
  };
}

/** The real ones have fewer states than that: a machine with more has lost a bound. */
const MAX_STATES = 12_000;

const exploreBounded = (machine: AnyStateMachine, options: ExploreOptions<AnyStateMachine>): Exploration =>
  explore(machine, { ...options, limit: MAX_STATES });

function throwFirst([first]: readonly string[]): void {
  if (first !== undefined) throw new Error(first);
}

export const chartSuites = {
  attempt: {
    machine: attemptChart.machine,
    options: attemptChart,
    table: ATTEMPT_TABLE,
    properties: attemptProperties,
  },
  actionLoop: { machine: actionChart.machine, options: actionChart, table: ACTION_TABLE, properties: actionProperties },
  postChain: { machine: chainChart.machine, options: chainChart, table: CHAIN_TABLE, properties: chainProperties },
} as unknown as Readonly<Record<string, ChartSuite>>;
