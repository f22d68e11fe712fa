import type { AnyActorLogic, AnyMachineSnapshot } from 'xstate';

/** A mark, also of another copy of the package. */
const DECLARED = Symbol.for('postchain.outcomes');

/** An outcome as the testing kit has them, without its functions. */
type DeclaredOutcome =
  | { readonly kind: 'done'; readonly name: string; readonly output: unknown }
  | { readonly kind: 'error'; readonly name: string; readonly error: unknown }
  | { readonly kind: 'emitted'; readonly name: string; readonly event: { readonly type: string } };

type Declared = DeclaredOutcomes & { readonly events: readonly string[] };

/** What an actor may do, given its input and the snapshot of the chart that started it. */
export type DeclaredOutcomes = (input: unknown, snapshot: AnyMachineSnapshot) => readonly DeclaredOutcome[];

/**
 * Returns the logic, which declares what its actors may do: `explore` then needs no outcomes for them. `events` are the types of the events
 * that the actors send to the chart, or that the chart raises from their outputs.
 */
export const declareOutcomes = <Logic extends object>(
  logic: Logic,
  outcomes: DeclaredOutcomes,
  events: readonly string[] = [],
): Logic => Object.defineProperty(logic, DECLARED, { value: Object.assign(outcomes, { events }) });

/** Returns the outcomes that logic declares; undefined if it declares none. */
export const declaredOutcomes = (logic: AnyActorLogic): Declared | undefined =>
  (logic as unknown as { readonly [DECLARED]?: Declared })[DECLARED];
