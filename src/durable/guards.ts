import type { AnyStateMachine, AnyTransitionDefinition, EventObject, GuardArgs, MachineContext } from 'xstate';
import { described, portOf } from '../xstate/ports.ts';
import { nodesOf, outgoingTransitions } from './charts/chart-nodes.ts';
import { guardLabel } from './charts/guard-label.ts';
import { currentStep } from './step-log.ts';

/** A guard's result, and the values that it compared. */
export interface GuardResult {
  readonly holds: boolean;
  /** JSON. */
  readonly inputs?: unknown;
}

/** A guard that also returns the values that it compared. */
interface ExplainedGuard {
  (args: never, params: never): boolean;
  readonly explain: (args: never, params: never) => GuardResult;
}

/**
 * Returns a guard for `setup` or `provide` whose compared values are recorded in the journal of a durable actor.
 * In any other actor, it is an ordinary guard.
 *
 * @example
 * guards: {
 *   isAffordable: defineGuard(({ context }) => ({
 *     holds: context.amount <= context.limit,
 *     inputs: { amount: context.amount, limit: context.limit },
 *   })),
 * }
 */
export function defineGuard<Context extends MachineContext, Event extends EventObject, Params = undefined>(
  explain: (args: GuardArgs<Context, Event>, params: Params) => GuardResult,
): (args: GuardArgs<Context, Event>, params: Params) => boolean {
  return Object.assign((args: GuardArgs<Context, Event>, params: Params) => explain(args, params).holds, { explain });
}

const labels = new WeakMap<AnyTransitionDefinition, string>();

/** The name of a guard of an instrumented machine, `inline` for an anonymous function, or null. */
export const labelOf = (transition: AnyTransitionDefinition): string | null => labels.get(transition) ?? null;

const inlineGuards = new WeakSet<AnyTransitionDefinition>();

/** Whether the guard of a transition of an instrumented machine is a function in place of a name. */
export const hasInlineGuard = (transition: AnyTransitionDefinition): boolean => inlineGuards.has(transition);

const instrumented = new WeakMap<AnyStateMachine, AnyStateMachine>();

/** Returns a copy of a machine that behaves the same and reports each guard that it evaluates, named, inline or composed. One copy per machine. */
export function withRecordedGuards(machine: AnyStateMachine): AnyStateMachine {
  const known = instrumented.get(machine);
  if (known !== undefined) return known;
  const copy = machine.provide({ guards: explainedGuards(machine) } as never) as AnyStateMachine;
  for (const transition of nodesOf(copy).flatMap(outgoingTransitions)) {
    if (transition.guard === undefined) continue;
    const label = guardLabel(transition.guard);
    labels.set(transition, label);
    if (typeof transition.guard === 'function') inlineGuards.add(transition);
    record(transition, label);
  }
  instrumented.set(machine, copy);
  instrumented.set(copy, copy);
  return copy;
}

function explainedGuards(machine: AnyStateMachine): Record<string, unknown> {
  const guards = Object.entries(described(machine).implementations.guards as Record<string, Partial<ExplainedGuard>>);
  return Object.fromEntries(
    guards.flatMap(([name, { explain }]) => (explain === undefined ? [] : [[name, explained(name, explain)]])),
  );
}

function explained(name: string, explain: ExplainedGuard['explain']) {
  return (args: never, params: never): boolean => {
    const { holds, inputs } = explain(args, params);
    if (inputs !== undefined) currentStep()?.inputs.push([name, inputs]);
    return holds;
  };
}

/** Makes the guard of a transition report its result to the step in progress. */
function record(transition: AnyTransitionDefinition, label: string): void {
  const { explain } = Object(transition.guard) as Partial<ExplainedGuard>;
  const guard = explain === undefined ? transition.guard : explained('inline', explain);
  const begin = (): void => {
    const step = currentStep();
    if (step !== null && step.inputs.length > 0) step.inputs = [];
  };
  const end = (holds: boolean): void => {
    const step = currentStep();
    step?.evaluated.push({ transition, holds, inputs: inputsOf(step.inputs) });
  };
  portOf(transition.source.machine).observeGuard(transition, { guard, label }, { begin, end });
}

function inputsOf(inputs: readonly [string, unknown][]): unknown {
  const [first] = inputs;
  if (first === undefined) return null;
  return inputs.length === 1 ? first[1] : Object.fromEntries(inputs);
}
