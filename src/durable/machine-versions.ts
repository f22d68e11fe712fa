import type { AnyStateMachine } from 'xstate';
import { type DurableEntry, hasState, isPartial, type RecordedMachine } from './entries.ts';
import { machineDigest } from './machine-digest.ts';

/** Identifies a version of a machine in journals. */
export const recordedMachine = (machine: AnyStateMachine & { readonly version?: string }): RecordedMachine => ({
  id: machine.id,
  version: machine.version ?? null,
  digest: machineDigest(machine),
});

/** Returns the recorded version of a machine, or else the current one. */
export function versionFor(
  { version }: Pick<RecordedMachine, 'version'>,
  current: AnyStateMachine,
  versions: Readonly<Record<string, AnyStateMachine>> = {},
): AnyStateMachine {
  const older = version === null || version === current.version ? undefined : versions[version];
  return older ?? current;
}

/** Returns the indexes at which a version of the machine takes over: the first entry that is not left out, and each migration. */
function partsOf(entries: readonly DurableEntry[]): readonly number[] {
  const first = isPartial(entries) ? 1 : 0;
  return [first, ...entries.flatMap(({ type }, at) => (type === 'migrated' && at > first ? [at] : []))];
}

/** Returns the last machine that is recorded from the entry at `from`, by default the first one, to the next migration. */
export function machineIn(entries: readonly DurableEntry[], from = isPartial(entries) ? 1 : 0): RecordedMachine {
  const [start] = entries;
  const first = entries[from];
  let recorded =
    (hasState(first) ? first.machine : undefined) ?? (start as Extract<DurableEntry, { type: 'start' }>).machine;
  for (let at = from + 1; at < entries.length; at += 1) {
    const entry = entries[at] as DurableEntry;
    if (entry.type === 'migrated') break;
    if (entry.type === 'resumed') recorded = entry.machine ?? recorded;
  }
  return recorded;
}

/** Returns the last recorded machine of an actor. */
export const lastMachineIn = (entries: readonly DurableEntry[]): RecordedMachine =>
  machineIn(entries, partsOf(entries).at(-1));

/** Leaves out the entries before the last migration from a missing version: the migration contains the state. */
export function withoutMissingVersions(
  entries: readonly DurableEntry[],
  isMissing: (recorded: RecordedMachine) => boolean,
): readonly DurableEntry[] {
  const parts = partsOf(entries);
  const from = parts.findLast((_, index) => index > 0 && isMissing(machineIn(entries, parts[index - 1])));
  return from === undefined ? entries : [...entries.slice(0, 1), ...entries.slice(from)];
}
