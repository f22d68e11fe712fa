import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import type { SystemParts } from '../../durable/actor-system.ts';
import { approval } from '../../durable/approval.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import { childPath, type Keyframe, type OpenApproval } from '../../durable/entries.ts';
import { type Migration, migrated } from '../../durable/migrate.ts';
import { startEntry } from '../../durable/replay.ts';
import { activeNodes } from '../../xstate/ports.ts';
import { historyOf } from '../../xstate/states.ts';
import type { Exploration, ExploredState } from '../exploration/exploration.ts';
import { pathTo } from '../exploration/paths.ts';
import { replacedLogic } from '../exploration/stub-actors.ts';
import { activeActors, childOf } from '../structure/running-actors.ts';
import { describeState, type Property } from './properties.ts';

/** A state of the current version of a machine. */
type MovedState = Pick<AnyMachineSnapshot, 'value' | 'context'>;

/**
 * A property of an earlier version of a machine: `migration` moves every state in which an actor only waits to a state value that the current
 * version reaches, and `holds` returns true there. No call starts.
 */
export function migratesTo(
  current: Pick<Exploration, 'machine' | 'states'>,
  migration: Migration = {},
  holds: (snapshot: MovedState) => boolean = () => true,
): Property {
  const { machine } = current;
  const reached = new Set(current.states.map(({ value }) => sortedText(value)));
  const problemOf = (from: AnyStateMachine, state: ExploredState): string | null => {
    try {
      const moved = movedState(from, machine, migration, state);
      const name = JSON.stringify(moved.value);
      if (!reached.has(sortedText(moved.value))) return `leads to ${name}, which the current version never reaches`;
      return holds(moved) ? null : `leads to ${name}, in which the condition does not hold`;
    } catch (error) {
      return `cannot be migrated: ${(error as Error | null)?.message ?? String(error)}`;
    }
  };
  return {
    name: `each state at rest migrates to version "${(machine as { readonly version?: string }).version ?? ''}"`,
    check(exploration) {
      for (const state of exploration.states) {
        const problem = isAtRest(state) ? problemOf(exploration.machine, state) : null;
        if (problem !== null)
          return { what: `${describeState(state.snapshot)} ${problem}`, path: pathTo(exploration, state.id) };
      }
      return null;
    },
  };
}

/** The order of parallel regions does not matter. */
const sortedText = (value: StateValue): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );

/** Whether an actor in this state only waits for events, delays and answers. */
const isAtRest = ({ snapshot, ended }: ExploredState): boolean =>
  snapshot.status === 'active' && activeActors(snapshot, ended).every(({ id }) => isApproval(snapshot, id));

function isApproval(snapshot: AnyMachineSnapshot, id: string): boolean {
  const ref = childOf(snapshot, id);
  return ref !== undefined && replacedLogic(ref) === approval;
}

function movedState(
  from: AnyStateMachine,
  machine: AnyStateMachine,
  rule: Migration,
  { snapshot, ended, timers }: ExploredState,
): MovedState {
  const codec = createCodec();
  const open = activeActors(snapshot, ended).map(({ id }) => [childPath('', id), {} as OpenApproval] as const);
  const keyframe: Keyframe = {
    snapshot: {
      value: snapshot.value as Json,
      nodes: activeNodes(snapshot).map(({ id }) => id),
      context: codec.encode(snapshot.context, 'context', 'exact'),
      historyValue: historyOf(snapshot) as Json,
    },
    timers: timers.map(({ id = null, event }, timer) => ({
      timer,
      event: codec.encode(event, event.type),
      id,
      dueMs: 0,
    })),
    next: [0, timers.length, 0, 1],
    random: 0,
    sentIds: [],
  };
  const nothing = (): null => null;
  const parts: SystemParts = {
    machine,
    actorId: machine.id,
    codec,
    logger: nothing,
    describeCall: nothing,
    describeEnd: nothing,
  };
  const start = startEntry(from, { actorId: machine.id, input: null, seed: 0, startedAtMs: 0 });
  const system = { keyframe: () => keyframe, approvals: new Map(open) };
  const moved = migrated({ system, from, rule, start, parts, atMs: 0 }).system;
  const { value, context } = moved.root.getSnapshot() as AnyMachineSnapshot;
  moved.close();
  return { value, context };
}
