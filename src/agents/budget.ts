import { type AnyActorRef, assign, enqueueActions, type SnapshotFrom, sendParent, setup } from 'xstate';
import * as z from 'zod/mini';
import type { UsageInFlight } from '../../machines/contracts/attempt.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import { MAX_TIMER_MS } from '../../machines/contracts/limits.ts';
import type { Usage } from '../../machines/contracts/usage.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import { addUsage, NO_USAGE, usageSoFar } from '../../machines/policies/usage.ts';
import { declareOutcomes } from '../internal/declared-outcomes.ts';
import { parseOption } from '../internal/options.ts';

/** The code of a call that was refused. */
export const REFUSED = 'budget_exhausted';

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

/** Sent to the chart that invokes a budget when a call is refused or the time is over: the limit, and what was used by then. */
export interface BudgetReached {
  readonly type: 'budget.reached';
  readonly limit: keyof BudgetLimits;
  readonly usage: Usage;
}

/** What one actor has used so far, by its latest report. */
export interface BudgetUse extends UsageInFlight {
  readonly type: 'budget.used';
  readonly id: string;
  /** Whether its call was refused, because nothing was left. */
  readonly isRefused: boolean;
}

interface BudgetState {
  readonly limits: BudgetLimits;
  /** The usage of each actor with a model, by the id of its attempt: a call in progress is an estimate. */
  readonly used: Readonly<Record<string, Usage>>;
}

const NOT_FOUND =
  'budget: expected systemId "budget", by which model calls find it; received another or none. Invoke it with systemId: "budget".';

const budgetMachine = setup({
  types: {
    input: {} as BudgetLimits,
    context: {} as BudgetState,
    events: {} as BudgetUse | { readonly type: 'time.over' },
  },
  guards: { isRefused: (_, { isRefused }: BudgetUse) => isRefused },
  actions: {
    recordUse: assign({ used: ({ context }, use: BudgetUse) => ({ ...context.used, [use.id]: usageSoFar(use) }) }),
    startTimer: enqueueActions(({ context: { limits }, self, system, enqueue }) => {
      if (system.get(BUDGET) !== self) throw new PostChainError('invalid_option', NOT_FOUND);
      if (limits.ms !== undefined) enqueue.raise({ type: 'time.over' }, { delay: limits.ms });
    }),
    report: sendParent(
      ({ context }): BudgetReached => ({
        type: 'budget.reached',
        limit: limitReached(context) ?? 'ms',
        usage: usedOf(context),
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
      description: 'No call was refused yet.',
      on: {
        'budget.used': {
          guard: { type: 'isRefused', params: ({ event }) => event },
          target: 'usedUp',
          actions: { type: 'recordUse', params: ({ event }) => event },
        },
        'time.over': 'usedUp',
      },
    },
    usedUp: {
      description: 'A call was refused, or the time is over. The chart receives `budget.reached`.',
      entry: 'report',
    },
  },
});

/**
 * The logic of an actor that limits what all model calls of its actor system use together. Invoke it at the root of your chart with
 * `systemId: 'budget'`: `generate`, `decide` and `runTools` find it wherever they run in the system, and report their usage. A call starts
 * only while something of each limit is left, so the last one may exceed it. When a call is refused, or the time is over, the chart receives
 * `budget.reached`; if it stays in its state, the refused call fails with `budget_exhausted`. Input: `BudgetLimits`; an invalid one fails
 * with `invalid_option`.
 *
 * @example
 * invoke: { src: 'budget', systemId: 'budget', input: { calls: 20, tokens: 50_000, ms: 600_000 } },
 * on: { 'budget.reached': '.outOfBudget' },
 */
export const budget = declareOutcomes(
  budgetMachine,
  (input) =>
    Object.keys(Object(input)).map((limit) => ({
      kind: 'emitted',
      name: `${limit} used up`,
      event: { type: 'budget.reached', limit, usage: NO_USAGE },
    })),
  ['budget.reached'],
);

const usedOf = ({ used }: BudgetState): Usage => Object.values(used).reduce(addUsage, NO_USAGE);

/** The first limit that is reached, with the calls in progress; null if none. */
function limitReached(state: BudgetState): Exclude<keyof BudgetLimits, 'ms'> | null {
  const { calls, tokens, cost } = state.limits;
  const used = usedOf(state);
  if (calls !== undefined && used.modelCalls >= calls) return 'calls';
  if (tokens !== undefined && used.inputTokens + used.outputTokens >= tokens) return 'tokens';
  return cost !== undefined && (used.cost ?? 0) >= cost ? 'cost' : null;
}

/** Why no model call may start in an actor's system; null if one may. */
export function budgetFailure(self: Pick<AnyActorRef, 'system'>): Failure | null {
  const snapshot = budgetOf(self)?.getSnapshot() as SnapshotFrom<typeof budget> | undefined;
  if (snapshot === undefined) return null;
  const limit = limitReached(snapshot.context) ?? (snapshot.value === 'open' ? null : 'ms');
  if (limit === null) return null;
  const message = `The budget of the actor system is used up: at most ${limitText(snapshot.context.limits, limit)}.`;
  return failureOf('aborted', REFUSED, message, { retryable: false });
}

const limitText = (limits: BudgetLimits, limit: keyof BudgetLimits): string =>
  limit === 'cost' ? `a cost of ${limits.cost}` : `${limits[limit]} ${limit === 'calls' ? 'model calls' : limit}`;

/** The budget of an actor's system, if it has one. */
export function budgetOf({ system }: Pick<AnyActorRef, 'system'>): AnyActorRef | undefined {
  return system.get(BUDGET) as AnyActorRef | undefined;
}
