import { type AnyActorRef, assign, enqueueActions, type SnapshotFrom, sendParent, setup } from 'xstate';
import * as z from 'zod/mini';
import type { UsageInFlight } from '../../machines/contracts/attempt.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import { MAX_TIMER_MS } from '../../machines/contracts/limits.ts';
import type { Usage } from '../../machines/contracts/usage.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import { addUsage, NO_USAGE, usageSoFar } from '../../machines/policies/usage.ts';
import { declareOutcomes } from '../internal/declared-outcomes.ts';
import { parseOption } from '../internal/options.ts';

/** The `systemId` of a budget. */
const BUDGET = 'budget';

/** What the model calls of an actor system may use together. What is left out has no limit. */
export interface BudgetLimits {
  /** Model calls, failed ones included. */
  readonly calls?: number;
  /** Tokens of prompts and replies. */
  readonly tokens?: number;
  /** In the currency of the prices that the actors are given. */
  readonly cost?: number;
  /** Milliseconds from the start of the budget. */
  readonly ms?: number;
}

const limitsSchema = z.strictObject({
  calls: z.optional(z.int().check(z.gte(1))),
  tokens: z.optional(z.int().check(z.gte(1))),
  cost: z.optional(z.number().check(z.gt(0))),
  ms: z.optional(z.number().check(z.gt(0), z.lte(MAX_TIMER_MS))),
});

/** Sent to the chart that invokes a budget when a limit is reached: which one, and what was used by then. */
export interface BudgetReached {
  readonly type: 'budget.reached';
  readonly limit: keyof BudgetLimits;
  readonly usage: Usage;
}

/** What one actor has used so far, by its latest report. */
export interface BudgetUse extends UsageInFlight {
  readonly type: 'budget.used';
  readonly id: string;
}

interface BudgetState {
  readonly limits: BudgetLimits;
  /** By the id of the report: the usage of its finished calls, and with the call in progress. */
  readonly used: Readonly<Record<string, { readonly finished: Usage; readonly started: Usage }>>;
}

const budgetMachine = setup({
  types: {
    input: {} as BudgetLimits,
    context: {} as BudgetState,
    events: {} as BudgetUse | { readonly type: 'time.over' },
  },
  guards: { isUsedUp: ({ context }) => limitReached(context, 'finished') !== null },
  actions: {
    recordUse: assign({
      used: ({ context }, use: BudgetUse) => ({
        ...context.used,
        [use.id]: { finished: use.finished, started: usageSoFar(use) },
      }),
    }),
    startTimer: enqueueActions(({ context: { limits }, enqueue }) => {
      if (limits.ms !== undefined) enqueue.raise({ type: 'time.over' }, { delay: limits.ms });
    }),
    report: sendParent(
      ({ context }): BudgetReached => ({
        type: 'budget.reached',
        limit: limitReached(context, 'finished') ?? 'ms',
        usage: usedOf(context, 'finished'),
      }),
    ),
  },
}).createMachine({
  id: 'budget',
  description: 'Limits what the model calls of an actor system use together.',
  context: ({ input }) => ({ limits: parseOption(limitsSchema, input ?? {}, 'budget') as BudgetLimits, used: {} }),
  initial: 'open',
  entry: 'startTimer',
  on: { 'budget.used': { actions: { type: 'recordUse', params: ({ event }) => event } } },
  states: {
    open: {
      description: 'Something of each limit is left.',
      always: { guard: 'isUsedUp', target: 'usedUp' },
      on: { 'time.over': 'usedUp' },
    },
    usedUp: { description: 'A limit is reached: no call starts any more.', entry: 'report' },
  },
});

/**
 * The logic of an actor that limits what all model calls of its actor system use together. Invoke it at the root of your chart with
 * `systemId: 'budget'`: `generate`, `decide` and `useTools` find it wherever they run in the system, and report their usage. A call starts
 * only while something of each limit is left, so the last one may exceed it; other calls fail with `budget_exhausted`. When a limit is
 * reached, the chart receives `budget.reached`. Input: `BudgetLimits`; an invalid one fails with `invalid_option`.
 *
 * @example
 * invoke: { src: 'budget', systemId: 'budget', input: { calls: 20, tokens: 50_000, ms: 600_000 } },
 * on: { 'budget.reached': '.outOfBudget' },
 */
export const budget = declareOutcomes(budgetMachine, (input) =>
  Object.keys(Object(input)).map((limit) => ({
    kind: 'emitted',
    name: `${limit} used up`,
    event: { type: 'budget.reached', limit, usage: NO_USAGE },
  })),
);

type Calls = 'finished' | 'started';

function usedOf({ used }: BudgetState, calls: Calls): Usage {
  return Object.values(used)
    .map((one) => one[calls])
    .reduce(addUsage, NO_USAGE);
}

/** The first limit that the finished calls, or all started ones, have reached; null if none. */
function limitReached(state: BudgetState, which: Calls): Exclude<keyof BudgetLimits, 'ms'> | null {
  const { calls, tokens, cost } = state.limits;
  const used = usedOf(state, which);
  if (calls !== undefined && used.modelCalls >= calls) return 'calls';
  if (tokens !== undefined && used.inputTokens + used.outputTokens >= tokens) return 'tokens';
  return cost !== undefined && (used.cost ?? 0) >= cost ? 'cost' : null;
}

/** Why no model call may start in an actor's system; null if one may. */
export function budgetFailure(self: Pick<AnyActorRef, 'system'>): Failure | null {
  const snapshot = budgetOf(self)?.getSnapshot() as SnapshotFrom<typeof budget> | undefined;
  if (snapshot === undefined) return null;
  const limit = limitReached(snapshot.context, 'started') ?? (snapshot.value === 'open' ? null : 'ms');
  if (limit === null) return null;
  const message = `The budget of the actor system is used up: at most ${limitText(snapshot.context.limits, limit)}.`;
  return failureOf('aborted', 'budget_exhausted', message, { retryable: false });
}

const limitText = (limits: BudgetLimits, limit: keyof BudgetLimits): string =>
  limit === 'cost' ? `a cost of ${limits.cost}` : `${limits[limit]} ${limit === 'calls' ? 'model calls' : limit}`;

/** The budget of an actor's system, if it has one. */
export function budgetOf({ system }: Pick<AnyActorRef, 'system'>): AnyActorRef | undefined {
  return system.get(BUDGET) as AnyActorRef | undefined;
}
