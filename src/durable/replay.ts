import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { cutEnd } from '../internal/printable.ts';
import { parentOf } from '../xstate/actors.ts';
import type { HostedActor } from '../xstate/port.ts';
import { sourceNameOf } from '../xstate/states.ts';
import { DurableActorSystem, type SystemOwner, type SystemParts } from './actor-system.ts';
import { inEarlierForm, type Json } from './codec.ts';
import {
  type DurableEntry,
  type DurableEvent,
  isAnnotation,
  isExternal,
  isInline,
  isPartial,
  JOURNAL_FORMAT,
  type MigratedEvent,
  type RecordedMachine,
  type Runtime,
  type StartEntry,
  wasQueued,
} from './entries.ts';
import { machineDigest } from './machine-digest.ts';
import { machineIn, recordedMachine } from './machine-versions.ts';
import { type Pending, pendingOf } from './pending.ts';

/** The first difference between a journal and what the machine does now. */
export interface Divergence {
  /** The number of the entry. */
  readonly seq: number;
  /** The recorded entry; null if the machine does more than was recorded. */
  readonly expected: DurableEvent | null;
  /** What the machine did instead; null for nothing. */
  readonly received: DurableEvent | null;
  readonly cause: string;
}

/** Names what an entry records: `the transition from asking to paid`, or `"activity-start" of pay`. */
function entryText(event: DurableEvent | null): string {
  if (event === null) return 'nothing';
  if (event.type !== 'transition') {
    const { type, source, action, name, event: given } = event as unknown as Readonly<Record<string, unknown>>;
    const subject = source ?? action ?? name ?? Object(given).type ?? given;
    return cutEnd(`"${type}"${typeof subject === 'string' ? ` of ${subject}` : ''}`, 200);
  }
  const [source, ...targets] = [event.source, ...event.target].map((id) =>
    id.startsWith(`${event.machine}.`) ? id.slice(event.machine.length + 1) : id,
  );
  return cutEnd(`the transition from ${source} to ${targets.join(', ') || source}`, 200);
}

/** The first member in which two entries differ, as JSON. */
function memberText(event: DurableEvent, other: DurableEvent): string {
  const name =
    [...comparedMembers(other), ...comparedMembers(event)].find((one) => !isSameMember(other, event, one)) ?? '';
  return ` with ${name} ${cutEnd(JSON.stringify(event[name as never]) ?? 'undefined', 200)}`;
}

/** Returns a divergence in one line. */
export function differenceText({ seq, expected, received, cause }: Divergence): string {
  let [was, now] = [entryText(expected), entryText(received)];
  if (was === now && expected !== null && received !== null)
    [was, now] = [was + memberText(expected, received), now + memberText(received, expected)];
  return `entry ${seq}: the journal has ${was}; the machine now does ${now}. Likely cause: ${cause}`;
}

export function requireSame(id: string, divergence: Divergence | null): void {
  if (divergence !== null)
    throw new PostChainError(
      'diverged',
      `actor ${id}: the machine differs from its journal in ${differenceText(divergence)}. Add the recorded version to "versions".`,
    );
}

export interface ReplayedSystem {
  readonly system: DurableActorSystem;
  readonly start: StartEntry;
  /** The machine that the actor has at the end. */
  readonly machine: AnyStateMachine & { readonly version?: string };
  /** The entries of the journal, or those of the fork. */
  readonly entries: readonly DurableEntry[];
  readonly divergence: Divergence | null;
  /** Entries of the last step that the journal lacks: the process ended while it was being stored, or the actor is being migrated or repaired. */
  readonly unstored: readonly DurableEvent[];
  /** The time of the step in which the actor is being migrated or repaired. */
  readonly changedAtMs?: number;
  /** The time of the first step, if it begins now. */
  readonly beginsAtMs?: number;
  /** When the clock of the actor was at 0 in the last process that had it, in milliseconds since the epoch. */
  readonly zeroMs: number;
}

/** A call that the machine starts: an actor that is not a machine. */
export interface ReplayedCall {
  readonly activity: number;
  readonly source: string;
  readonly input: unknown;
  /** The names of the logic of its ancestors, from its parent outward, without the root. */
  readonly within: readonly string[];
}

/** One step of a replay. */
export interface ReplayStep {
  /** The number of the last entry of the step. */
  readonly seq: number;
  readonly snapshot: AnyMachineSnapshot;
  /** The calls that it has started and not ended. */
  readonly calls: readonly ReplayedCall[];
  /** What the actor waits for after the step and the annotations that follow it. Read it before the next step. */
  readonly pending: Pending;
}

/** Whether this machine and runtime wrote the keyframes of a journal. If not, they are not used. */
export function isSameBuild(entries: readonly DurableEntry[], machine: AnyStateMachine): boolean {
  const start = startOf(entries);
  const keyframes = entries.filter((entry) => entry.type === 'keyframe');
  return isSameMachine(machineIn(entries), machine) && keyframes.every(({ runtime = start }) => isThisRuntime(runtime));
}

export const isSameMachine = ({ digest }: RecordedMachine, machine: AnyStateMachine): boolean =>
  digest === machineDigest(machine);

/** Returns the runtime of this process; undefined if it is the given one. */
export const otherRuntime = (runtime: Runtime): Runtime | undefined =>
  isThisRuntime(runtime) ? undefined : runtimeVersions();

function isThisRuntime({ node, icu }: Runtime): boolean {
  const versions = runtimeVersions();
  return node === versions.node && icu === versions.icu;
}

/** Compares a recorded entry with what the machine does now. */
export type SameEntry = (recorded: DurableEntry, event: DurableEvent) => boolean;

/** Replays a journal to its end. See `replaySteps`. */
export function replaySystem(
  entries: readonly DurableEntry[],
  parts: SystemParts,
  isSameEntry?: SameEntry,
): ReplayedSystem {
  const steps = replaySteps(entries, parts, isSameEntry);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Feeds the external events of a journal to the machine, one per step, without a call or effect, and compares what it does with the
 * journal. A step that was withdrawn has the state before it. Entries may be appended to the list until the last step. A keyframe may replace the
 * first steps.
 */
export function* replaySteps(
  entries: readonly DurableEntry[],
  parts: SystemParts,
  isSameEntry: SameEntry = isSame,
): Generator<ReplayStep, ReplayedSystem> {
  const start = startOf(entries);
  const unstored: DurableEvent[] = [];
  const started = new Set<number>();
  let cursor = 1;
  let zeroMs = clockStartOf(start);
  const retries = new Retries(entries);
  let difference: Pick<Divergence, 'seq' | 'expected' | 'received'> | null = null;

  const isSameSoFar = (): boolean => difference === null;

  function takeAnnotations(last = Number.POSITIVE_INFINITY): void {
    for (let entry = entries[cursor]; entry && cursor <= last && isAnnotation(entry); entry = entries[cursor]) {
      if (entry.type === 'effect-end') system.forgetEffects(entry);
      if (entry.type === 'resumed') zeroMs = Math.max(zeroMs, Date.parse(entry.resumedAt) - entry.atMs);
      if (entry.type === 'keyframe') {
        const state = system.keyframe();
        const event = { ...withoutPlace(entry), state } as DurableEvent;
        if (!isSameEntry(entry, event)) {
          difference = { seq: entry.seq, expected: withoutPlace(entry), received: state && event };
          return;
        }
      }
      cursor += 1;
    }
  }

  /** Passes over a step that was withdrawn. Effects may have ended meanwhile; those that failed have not. */
  function passTo(end: number): void {
    const failed = entries.slice(cursor, end).flatMap((entry) => {
      if (entry.type === 'failed') return [entry.effect ?? -1];
      return entry.type === 'effect-end' ? (entry.failed ?? []) : [];
    });
    const effects = failed.flatMap((effect) => system.openEffects.get(effect) ?? []);
    while (cursor <= end)
      if (isAnnotation(entries[cursor] as DurableEntry)) takeAnnotations(end);
      else cursor += 1;
    for (const effect of effects) system.openEffects.set(effect.number, effect);
  }

  const recorder: SystemOwner = {
    record(event) {
      if (isSameSoFar()) takeAnnotations();
      if (!isSameSoFar()) return;
      const recorded = entries[cursor];
      if (recorded === undefined) unstored.push(event);
      else if (isSameEntry(recorded, event)) {
        if (event.type === 'activity-start') started.add(event.activity);
        cursor += 1;
      } else difference = { seq: recorded.seq, expected: withoutPlace(recorded), received: event };
    },
    recorded(name) {
      takeAnnotations();
      const next = entries[cursor];
      return next?.type === 'value' && next.name === name ? next : undefined;
    },
    receive: () => {},
    note: () => {},
  };
  let { machine } = parts;
  let system = new DurableActorSystem(start, parts, recorder);
  /** Continues on the version of the machine to which the actor was migrated. */
  const migrate = (entry: MigratedEvent & Pick<DurableEntry, 'atMs'>): void => {
    system.close();
    machine = parts.versionOf?.(machineIn(entries, cursor)) ?? machine;
    system = new DurableActorSystem(start, { ...parts, machine }, recorder);
    cursor += 1;
    system.migrate(entry, entry.atMs);
  };
  const step = (): ReplayStep => ({
    seq: entries[cursor - 1]?.seq ?? 0,
    snapshot: system.root.getSnapshot(),
    calls: [...system.activities.values()].map(({ number, source, input, actor }) => {
      return { activity: number, source, input, within: namesAround(actor) };
    }),
    get pending() {
      // Effects may have ended, and a process may have resumed the actor since.
      if (isSameSoFar()) takeAnnotations();
      return pendingOf(system, (ms) => zeroMs + ms);
    },
  });
  const [, second] = entries;
  const beginsAtMs = beginOf(entries, parts);
  if (!isPartial(entries)) system.begin(beginsAtMs);
  else if (second?.type === 'keyframe') system.restore(second.state);
  else if (second?.type === 'migrated') migrate(second);
  if (isSameSoFar()) yield step();
  while (isSameSoFar()) {
    takeAnnotations();
    const entry = entries[cursor];
    if (entry === undefined || !isSameSoFar()) break;
    if (entry.type === 'migrated') {
      migrate(entry);
      if (isSameSoFar()) yield step();
    } else if (retries.endOf(entry.seq) > cursor) {
      passTo(retries.endOf(entry.seq));
      if (isSameSoFar()) yield step();
    } else if (isExternal(entry) && system.accepts(entry)) {
      const { seq: _, atMs, ...event } = entry;
      system.apply(event, atMs);
      if (isSameSoFar()) yield step();
    } else difference = { seq: entry.seq, expected: withoutPlace(entry), received: null };
  }
  for (const activity of system.activities.values()) activity.wasInterrupted = started.has(activity.number);
  const divergence = difference && {
    ...(difference as Divergence),
    cause: likelyCause(start, machineIn(entries), machine),
  };
  const isNew = beginsAtMs > 0 && !entries.some(({ type }) => type === 'resumed');
  return { system, start, machine, entries, divergence, unstored, zeroMs, ...(isNew && { beginsAtMs }) };
}

/** Returns the time of the first step: that of the process that began the actor, if it was enqueued. */
export function beginOf(entries: readonly DurableEntry[], { nowMs = 0 }: Pick<SystemParts, 'nowMs'>): number {
  if (!wasQueued(entries)) return 0;
  const begun = entries.find(({ type }) => type === 'resumed');
  return begun?.atMs ?? Math.max(0, Math.floor(nowMs - clockStartOf(startOf(entries))));
}

/** The steps of a journal that failed and were retried. Entries may be appended to it. */
class Retries {
  readonly #entries: readonly DurableEntry[];
  readonly #ends = new Map<number, number>();
  #count = 0;

  constructor(entries: readonly DurableEntry[]) {
    this.#entries = entries;
  }

  /** Returns the index of the entry that withdraws the step that begins with entry `seq`; -1 if none does. */
  endOf(seq: number): number {
    for (; this.#count < this.#entries.length; this.#count += 1) {
      const entry = this.#entries[this.#count];
      if (entry?.type === 'retried') this.#ends.set(entry.failed, this.#count);
    }
    return this.#ends.get(seq) ?? -1;
  }
}

function namesAround({ parent }: Pick<HostedActor, 'parent'>): readonly string[] {
  const outer = parent && parentOf(parent);
  return outer === undefined ? [] : [sourceNameOf(parent ?? {}), ...namesAround({ parent: outer })];
}

/** Returns when an actor's clock was at 0. The clock of a fork restarts at the fork, so that delays do not elapse in between. */
export const clockStartOf = ({ forkedFrom, startedAt }: Pick<StartEntry, 'forkedFrom' | 'startedAt'>): number =>
  forkedFrom?.clockStartMs ?? Date.parse(startedAt);

/** Returns the first entry of a journal. Throws `invalid_journal` if it does not start a durable actor. */
export function startOf(entries: readonly DurableEntry[]): StartEntry {
  const [first] = entries;
  if (first?.type === 'start') return first;
  throw new PostChainError(
    'invalid_journal',
    `The journal begins with "${first?.type ?? 'nothing'}"; expected the entry "start" of a durable actor.`,
  );
}

interface StartParts extends Pick<StartEntry, 'actorId' | 'input'> {
  readonly startedAtMs: number;
  readonly product?: Json;
  readonly parent?: StartEntry['parent'];
  /** By default random. */
  readonly seed?: number;
}

/** Returns the first entry of a new actor. */
export function startEntry(
  machine: AnyStateMachine,
  { actorId, input, product = null, parent, seed = Math.floor(Math.random() * 2 ** 32), startedAtMs }: StartParts,
): StartEntry {
  return {
    type: 'start',
    format: JOURNAL_FORMAT,
    actorId,
    machine: recordedMachine(machine),
    input,
    product,
    seed,
    startedAt: new Date(startedAtMs).toISOString(),
    ...runtimeVersions(),
    ...(parent !== undefined && { parent }),
    forkedFrom: null,
  };
}

function likelyCause({ node, icu }: StartEntry, recorded: RecordedMachine, machine: AnyStateMachine): string {
  const digest = machineDigest(machine);
  if (recorded.digest !== digest)
    return `the machine has changed since: recorded version ${recorded.version ?? '(none)'} with digest ${recorded.digest}, now ${digest}`;
  const versions = runtimeVersions();
  if (!isThisRuntime({ node, icu }))
    return `another runtime: Node.js ${node} with ICU ${icu}, now ${versions.node} with ${versions.icu}`;
  return 'its functions changed without a new "version", or depend on more than input, events, Date, Math.random and globalThis.crypto.randomUUID';
}

function runtimeVersions(): Runtime {
  const versions = globalThis.process?.versions;
  return { node: versions?.node ?? 'none', icu: versions?.['icu'] ?? 'none' };
}

function withoutPlace({ seq: _, atMs: __, ...event }: DurableEntry): DurableEvent {
  return event as DurableEvent;
}

/** Compares entries, but not keyframes: they are a cache. */
export const isSameButKeyframes: SameEntry = (recorded, event) =>
  recorded.type === 'keyframe' || isSame(recorded, event);

/** The place of an entry in the journal, and what describes it for readers: options may change that in any deploy. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['seq', 'atMs', 'subject', 'summary']);

const comparedMembers = (entry: DurableEvent): readonly string[] =>
  Object.keys(entry).filter((name) => !NOT_COMPARED.has(name));

/** Whether two entries are equal as JSON, apart from the members that are not compared. */
export function isSame(recorded: DurableEntry, event: DurableEvent): boolean {
  const members = comparedMembers(event);
  if (members.length !== comparedMembers(recorded).length) return false;
  return members.every((name) => isSameMember(recorded, event, name));
}

/** Members that hold stored values. */
const VALUES: ReadonlySet<string> = new Set(['event', 'output', 'error', 'inputs']);

/** The names of inline functions are not compared. */
function isSameMember(recorded: object, now: object, name: string): boolean {
  const [one, other]: readonly unknown[] = [recorded[name as never], now[name as never]];
  const isName = (name === 'action' || name === 'guard') && typeof one === 'string';
  if ((isName && isInline(now)) || isEqual(one, other)) return true;
  return VALUES.has(name) && isEqual(one, inEarlierForm(other as Json));
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && isSameMember(one, other, key));
}
