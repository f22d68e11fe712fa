import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf } from '../../internal/printable.ts';
import type { Exploration, ExploredEdge, ExploredState, StartState } from '../../testing/exploration/exploration.ts';
import { eventOf, handledIn, type Occurrence } from '../../testing/exploration/occurrences.ts';
import { describeTransition } from '../../testing/structure/chart-structure.ts';
import type { InstrumentedStep } from '../../testing/structure/instrumented-machine.ts';
import { activeActors } from '../../testing/structure/running-actors.ts';
import { activeNodes } from '../../xstate/actors.ts';
import { stateText } from '../state-text.ts';
import { outcomeOf } from './explore-file.ts';
import type { SimulatedPath, Step } from './tool-schemas.ts';

/** A path that was simulated: the places after each step, and the steps as edges between them. */
export interface Simulation {
  readonly start: StartState;
  readonly places: readonly ExploredState[];
  readonly edges: readonly ExploredEdge[];
}

/** Takes the steps of a path, from an exploration that contains at least the start. Throws `path_failed` if one cannot occur. */
export function simulate(exploration: Exploration, { start: name, steps }: SimulatedPath): Simulation {
  const { starts, states, instrumented, stepFrom } = exploration;
  const start = name === undefined ? starts[0] : starts.find((one) => one.name === name);
  const first = states[start?.state ?? -1];
  if (start === undefined || first === undefined)
    throw new PostChainError(
      'invalid_option',
      `start: expected one of ${starts.map((one) => one.name).join(', ')}; received "${name}"`,
    );
  const places = [{ ...first, id: 0 }];
  const edges: ExploredEdge[] = [];
  instrumented.drainStep();
  for (const [at, step] of steps.entries()) {
    const from = places[at] as ExploredState;
    const occurrence = occurrenceOf(exploration, from, step, at);
    const next = stepFrom(from, occurrence);
    const did = instrumented.drainStep();
    edges.push({ id: at, from: at, to: at + 1, occurrence, ...did });
    places.push({ id: at + 1, value: next.snapshot.value, reachedBy: at, depth: at + 1, ...next });
  }
  return { start: { ...start, state: 0 }, places, edges };
}

/** Returns what a step of the caller means in a state. */
function occurrenceOf(exploration: Exploration, place: ExploredState, step: Step, at: number): Occurrence {
  const possible = exploration.possibleIn(place);
  const fail = (what: string): PostChainError =>
    new PostChainError(
      'path_failed',
      `Step ${at + 1}: ${what} in ${stateText(place.value)}; possible: ${possible.map(({ name }) => name).join(', ') || 'nothing'}`,
    );
  if (place.snapshot.status !== 'active') throw fail(`the machine has ended (${place.snapshot.status})`);
  if (typeof step === 'object' && 'actor' in step && typeof step['actor'] === 'string' && !('type' in step)) {
    const { actor: name, ...outcome } = step as { readonly actor: string };
    const actor = activeActors(place.snapshot, place.ended).find((one) => one.name === name || one.id === name);
    if (actor === undefined) throw fail(`the actor "${name}" is not running`);
    const given = outcomeOf(outcome as Parameters<typeof outcomeOf>[0]);
    const { kind } = given;
    return {
      kind: kind === 'snapshot' ? 'emitted' : kind,
      name: `${name}: ${given.name}`,
      event: eventOf(given, actor.id),
      state: actor.state,
      actor,
    };
  }
  const event = (typeof step === 'string' ? { type: step } : step) as EventObject;
  const named = typeof step === 'string' ? possible.find(({ name }) => name === step) : undefined;
  if (named !== undefined) return named;
  const isOfActor = /^xstate\.|^after |: /u.test(event.type);
  if (isOfActor) throw fail(`"${event.type}" cannot occur`);
  return { kind: 'sent', name: event.type, event, state: null, actor: null };
}

/** What the machine did in a step. */
export function stepView({ chart }: Exploration, { taken, guards }: InstrumentedStep) {
  return {
    transitions: taken.map((index) => describeTransition(chart, index)),
    guards: guards.map(({ transition, holds }) => `${describeTransition(chart, transition)}: ${holds}`),
  };
}

/** A state as the caller sees it. `accepts` lists the events that the active states handle; their guards decide. */
export function placeView({ possibleIn }: Exploration, place: ExploredState) {
  const { snapshot } = place;
  const { status, context, output, error } = snapshot as AnyMachineSnapshot;
  const isActive = status === 'active';
  return {
    state: stateText(snapshot.value),
    status,
    context,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: firstLineOf(error) }),
    accepts: isActive ? handledIn(activeNodes(snapshot)) : [],
    mayOccur: possibleIn(place).flatMap(({ kind, name }) => (kind === 'sent' ? [] : [name])),
  };
}
