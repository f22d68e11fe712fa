import type { AnyMachineSnapshot } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf } from '../../internal/printable.ts';
import { parentOf } from '../../internal/xstate-internals.ts';
import {
  activeActors,
  childOf,
  hasGeneratedId,
  inputOf,
  type RunningActor,
  spawnedActors,
} from '../structure/running-actors.ts';
import { type ActorIds, exactJson, exactText, isTagged } from './exact-json.ts';
import type { Place } from './occurrences.ts';
import { timerKey } from './timers.ts';

export interface StateKey {
  /** Identifies a snapshot's abstract state. */
  of(snapshot: AnyMachineSnapshot): string;
  /** Identifies the rest of a place: which actors have ended and which delays are running. */
  ofRest(place: Place): string;
}

/**
 * Returns a function that identifies a snapshot's abstract state as JSON: its state value and status, its history states, its spawned
 * actors, and the abstraction; without an abstraction, the entire context and output, and the inputs of actors whose outcomes depend on them.
 */
export function createStateKey(
  abstraction: ((snapshot: AnyMachineSnapshot) => unknown) | undefined,
  readsInput: (actor: RunningActor) => boolean,
): StateKey {
  const idsOf = (snapshot: AnyMachineSnapshot): ActorIds => ({
    names: namesOfIds(snapshot, abstraction !== undefined),
    // The machine itself may be in its own context.
    isRunning: (ref) => parentOf(ref) === undefined || ref === childOf(snapshot, ref.id),
    varies: (id) => abstraction !== undefined || hasGeneratedId({ id }),
  });

  function of(snapshot: AnyMachineSnapshot): string {
    const { value, status, context, output, error } = snapshot;
    const ids = idsOf(snapshot);
    const spawned = spawnedActors(snapshot).map(({ id, name }) => ids.names.get(id) ?? `${name} ${id}`);
    const known = new Map<object, string>();
    try {
      const [rest, inputs] =
        abstraction === undefined
          ? [
              { context: exactJson(context, 'context', ids, known), output: exactJson(output, 'output', ids, known) },
              inputsOf(snapshot, ids),
            ]
          : [exactJson(abstraction(snapshot), 'abstraction', ids), []];
      const failure = status === 'error' ? firstLineOf(error) : '';
      return JSON.stringify([value, status, rest, historyOf(snapshot), failure, inputs, ...spawned.sort()]);
    } catch (cause) {
      throw new PostChainError(
        'exploration_failed',
        `The abstraction of ${JSON.stringify(value)} is not JSON (${firstLineOf(cause)}); pass an "abstraction" that returns JSON`,
        { cause },
      );
    }
  }

  function inputsOf(snapshot: AnyMachineSnapshot, ids: ActorIds): readonly unknown[] {
    return activeActors(snapshot)
      .filter(readsInput)
      .map(({ id }) => [ids.names.get(id) ?? id, exactJson(inputOf(childOf(snapshot, id)), `the input of ${id}`, ids)]);
  }

  return {
    of,
    ofRest({ snapshot, ended, timers }) {
      const { names } = idsOf(snapshot);
      const ids = ended.map((id) => names.get(id) ?? id).sort();
      return `${ids.join()} ${timers.map(timerKey).sort().join()}`;
    },
  };
}

/**
 * Names spawned actors by their logic and number. With an abstraction, it decides whether their ids matter; without one, only the ids that
 * XState generates are replaced.
 */
function namesOfIds(snapshot: AnyMachineSnapshot, all: boolean): ReadonlyMap<string, string> {
  const renamed = spawnedActors(snapshot).filter((actor) => all || hasGeneratedId(actor));
  return new Map(renamed.map(({ id, name, nth }) => [id, `${name}#${nth}`]));
}

/** The active states that XState remembers, by the ids of history states. */
const historyOf = ({ historyValue }: AnyMachineSnapshot): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(historyValue)
      .map(([id, nodes]) => [id, nodes.map((node) => node.id).sort()] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

/** Describes the first difference between two keys; null if they are equal. */
export function describeDifference(received: string, expected: string): string | null {
  if (received === expected) return null;
  const [here, there] = [received, expected].map((key) => {
    const [, status, rest, history, error, inputs, ...actors] = JSON.parse(key) as readonly unknown[];
    return { status, '': rest, history, error, inputs, actors };
  });
  return firstDifference(here, there, '') ?? 'the abstraction has another form';
}

function firstDifference(received: unknown, expected: unknown, path: string): string | null {
  if (isObject(received) && isObject(expected) && !isTagged(received) && !isTagged(expected)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(received)]);
    for (const name of names) {
      const difference = firstDifference(received[name], expected[name], [path, name].filter(Boolean).join('.'));
      if (difference !== null) return difference;
    }
    return null;
  }
  return exactText(received) === exactText(expected)
    ? null
    : `expected ${path || 'the abstraction'} to be ${shortened(expected)}, received ${shortened(received)}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function shortened(value: unknown): string {
  const text = exactText(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
