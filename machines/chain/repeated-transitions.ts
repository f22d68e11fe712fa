import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { Phase } from '../contracts/phase.ts';
import { phaseAttempt } from '../policies/phase-calls.ts';
import type { YieldRule } from '../policies/yield-rules.ts';

const outputOf = ({ event }: { event: { output: AttemptOutcome } }) => event.output;

/** Calls the model for the phase. A failure leads to `recovering`. */
export const phaseCall = <Target extends string>(
  target: Target,
  {
    id,
    success = 'completePhase',
  }: { readonly id?: string; readonly success?: 'completePhase' | 'assignEvaluation' | 'applyEvaluation' } = {},
) =>
  ({
    src: 'attempt',
    ...(id !== undefined && { id }),
    input: ({ context }: { context: ChainState }) => phaseAttempt(context),
    onDone: [
      { guard: { type: 'phaseSucceeded', params: outputOf }, target, actions: { type: success, params: outputOf } },
      { target: '#recovering', actions: { type: 'failPhase', params: outputOf } },
    ],
    onError: {
      target: '#recovering',
      actions: { type: 'failPhaseByError', params: ({ event }: { event: { error: unknown } }) => event },
    },
  }) as const;

/** If the rule holds, the run is complete, and the answer is written. */
export const completes = <Rule extends YieldRule>(rule: Rule) =>
  ({ guard: rule, target: '#synthesizing', actions: { type: 'completeRun', params: { rule } } }) as const;

/** If Yield has chosen the phase, the next cycle begins with it. */
export const continues = <Next extends Phase>(phase: Next) =>
  ({
    guard: { type: 'nextPhaseIs', params: { phase } },
    target: `#${phase}`,
    actions: { type: 'continueWith', params: { phase } },
  }) as const;

/** Returns the transitions with which the user or the host ends what is in progress. */
export const interruptions = <
  Target extends string,
  Action extends 'interruptRun' | 'interruptSynthesis' | 'interruptValue',
>(
  target: Target,
  type: Action,
) => {
  const by = <Kind extends 'cancelled' | 'interrupted'>(kind: Kind) =>
    ({ target, actions: { type, params: ({ event }: Stopped) => ({ kind, reason: event.reason }) } }) as const;
  return { 'run.cancelled': by('cancelled'), 'run.interrupted': by('interrupted') };
};

interface Stopped {
  readonly event: { readonly reason?: string | undefined };
}
