import { PostChainError } from '../../machines/contracts/error.ts';
import { pauses } from '../internal/async.ts';
import { DurableActorSystem, type SystemParts } from './actor-system.ts';
import {
  type DurableEntry,
  type DurableEvent,
  isAnnotation,
  isExternal,
  type StartEntry,
  withdrawnIn,
} from './entries.ts';
import { beginOf, clockStartOf, isSame, type ReplayedSystem } from './replay.ts';
import { copiedNote, type ReuseOptions } from './reused-calls.ts';

/** Returns the key of the entry that starts a call, an effect or a timer; null for any other entry. */
function startKey(event: DurableEvent): string | null {
  if (event.type === 'activity-start') return `activity ${event.activity}`;
  if (event.type === 'timer-start') return `timer ${event.timer}`;
  return event.type === 'effect' ? `effect ${event.effect}` : null;
}

/**
 * Evaluates the past of a fork with another input: feeds the external events of a journal to the machine, and returns what it does as the
 * journal of the fork. Notes are copied; events that nothing receives and steps that were withdrawn are left out. So are events of calls, effects
 * and timers that the machine does not start as recorded: these stay open. `recordOnce` gets the recorded values of its name, in order. With `keyOf`, calls of the same place and key are the same.
 */
export async function deriveSystem(
  all: readonly DurableEntry[],
  start: StartEntry,
  parts: SystemParts,
  keyOf?: ReuseOptions['keyOf'],
): Promise<ReplayedSystem> {
  const isWithdrawn = withdrawnIn(all);
  const past = all.filter((entry) => entry.type !== 'retried' && !isWithdrawn(entry));
  const entries: DurableEntry[] = [];
  const recordedStarts = new Map(past.map((entry) => [startKey(entry), entry]));
  /** The keys of what the machine has started as recorded. */
  const startedAsRecorded = new Set<string>();
  const isSameStart = (recorded: DurableEntry, event: DurableEvent): boolean => {
    if (keyOf === undefined || recorded.type !== 'activity-start' || event.type !== 'activity-start')
      return isSame(recorded, event);
    const keyOfStart = ({ activity, source, subject = null }: typeof event) =>
      keyOf({ activity, source, subject }, null);
    return (
      keyOfStart(recorded) === keyOfStart(event) && isSame(recorded, { ...event, inputDigest: recorded.inputDigest })
    );
  };
  let atMs = 0;
  const append = (event: DurableEvent): void => {
    const key = startKey(event);
    const recorded = recordedStarts.get(key);
    if (key !== null && recorded !== undefined && isSameStart(recorded, event)) startedAsRecorded.add(key);
    entries.push({ seq: entries.length, atMs, ...event });
  };
  const values = past.filter((entry) => entry.type === 'value');
  const system = new DurableActorSystem(start, parts, {
    record: append,
    recorded(name) {
      const at = values.findIndex((entry) => entry.name === name);
      return at < 0 ? undefined : values.splice(at, 1)[0];
    },
    receive: () => {},
    note: () => {},
  });
  /** Whether what an event belongs to, if anything, was started as recorded. */
  const isOfSameStart = (event: DurableEvent): boolean => {
    if (event.type === 'timer') return startedAsRecorded.has(`timer ${event.timer}`);
    if (event.type === 'failed' && event.effect !== undefined) return startedAsRecorded.has(`effect ${event.effect}`);
    const at = event.type === 'failed' && [...system.activities.values()].find(({ path }) => path === event.actor);
    const activity = at ? at.number : 'activity' in event ? event.activity : undefined;
    return activity === undefined || startedAsRecorded.has(`activity ${activity}`);
  };
  append(start);
  const migrated = past.find(({ type }) => type === 'migrated');
  if (migrated !== undefined)
    throw new PostChainError(
      'invalid_option',
      `at: expected an entry before the migration (entry ${migrated.seq}), because a fork with another input cannot repeat it; received a later one.`,
    );
  let hasBegun = false;
  const pause = pauses();
  for (const entry of past.slice(1)) {
    await pause();
    if (!hasBegun && !isAnnotation(entry)) {
      system.begin(beginOf(past, parts));
      hasBegun = true;
    }
    if ((!isExternal(entry) && !isAnnotation(entry)) || entry.type === 'keyframe') continue;
    const { seq: _, atMs: recordedMs, ...event } = entry;
    const { status } = hasBegun ? system.root.getSnapshot() : { status: 'active' };
    if (status !== 'active' && event.type !== 'effect-end') continue;
    atMs = recordedMs;
    if (event.type === 'effect-end') {
      const effects = event.effects.filter(
        (effect) => startedAsRecorded.has(`effect ${effect}`) && system.openEffects.has(effect),
      );
      if (effects.length > 0) append(system.endEffects(effects));
    } else if (event.type === 'note' && event.activity !== undefined) {
      const actor = system.activities.get(event.activity)?.actor;
      if (actor && isOfSameStart(event))
        append({ ...event, note: copiedNote(event.note, actor, { entries: all, seq: entry.seq }) });
    } else if (isAnnotation(event)) {
      append(event);
    } else if (event.type !== 'migrated' && system.accepts(event) && isOfSameStart(event)) system.apply(event, atMs);
  }
  if (!hasBegun) system.begin(beginOf(past, parts));
  const { machine } = parts;
  return { system, start, machine, entries, divergence: null, unstored: [], zeroMs: clockStartOf(start) };
}
