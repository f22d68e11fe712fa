import { PostChainError } from '../../../machines/contracts/error.ts';
import { nextTurn } from '../../internal/async.ts';
import type { OpenJournalOptions } from './journal-store.ts';
import { fs } from './line-file.ts';
import { journalInUse, repeat } from './line-store.ts';

/** Who may write a journal. A lease is valid until its holder releases it, or another process takes it over. */
export interface Lease {
  /** Null if the lease cannot be read. */
  readonly holder: LeaseHolder | null;
  /** A fencing token, different for each lease: a writer with the token of an earlier one must not write. */
  readonly token: number;
  /** The time of the last heartbeat, in milliseconds, by a clock that may differ from ours: compare it only with earlier values. */
  readonly beatMs: number;
}

export interface LeaseHolder {
  /** Random, for each process and worker thread. */
  readonly id: string;
  readonly pid: number;
  /** When the process started, in kernel ticks since boot, because process ids are reused; empty if unknown. */
  readonly startedAt: string;
  readonly host: string;
  /** Identifies the boot, and the PID and time namespaces: only there do the process id and the start time mean anything. */
  readonly space: string;
}

/** Parses a holder from a JSON value. Returns null if it is not valid. */
export function parseHolder(value: unknown): LeaseHolder | null {
  const { id, pid, startedAt, host, space } = Object(value) as LeaseHolder;
  if (![id, startedAt, host, space].every((text) => typeof text === 'string')) return null;
  const isValid = /^[\w-]{1,64}$/u.test(id) && Number.isSafeInteger(pid) && pid >= 1;
  return isValid ? { id, pid, startedAt, host, space } : null;
}

/** Returns a random token, so that a journal created again under its id rejects earlier writers. */
export function newToken(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 20) * 2 ** 32 + low;
}

let self: LeaseHolder | null = null;

/** Returns this process as a holder. */
export function thisHolder(): LeaseHolder {
  self ??= {
    id: globalThis.crypto.randomUUID(),
    pid: process.pid,
    startedAt: processStat(process.pid).startedAt,
    host: process.getBuiltinModule('node:os').hostname(),
    space: pidSpace(),
  };
  return self;
}

/** How often a holder renews its lease. */
const HEARTBEAT_MS = 2_000;
/** A lease can be taken over after this long without a heartbeat. A busy process may be late by a few seconds. */
const EXPIRY_MS = 10_000;
const OBSERVE_MS = 250;
/** How far the clocks of two hosts may differ before `seemsHeld` is wrong. */
const CLOCK_SKEW_MS = 60_000;

/** `unsure`: only heartbeats can show whether the holder is still running. */
type LeaseState = 'free' | 'held' | 'unsure' | 'unreadable';

/**
 * Returns the state of a lease, without waiting. Looks up a process of the same boot and PID namespace; never assumes that one in another
 * container or on another host is dead.
 */
export function leaseState(lease: Lease | null): LeaseState {
  if (lease === null) return 'free';
  const { holder } = lease;
  if (holder === null) return 'unreadable';
  const own = thisHolder();
  if (holder.id === own.id) return 'held';
  if (holder.space !== own.space || holder.space === '') return 'unsure';
  if (!processExists(holder.pid)) return 'free';
  const { startedAt, state } = processStat(holder.pid);
  if (startedAt !== '' && holder.startedAt !== '' && startedAt !== holder.startedAt) return 'free';
  if (/^[ZX]/iu.test(state)) return 'free';
  // A stopped process, or another thread of this process, which may have ended.
  if (/^t/iu.test(state) || holder.pid === own.pid) return 'unsure';
  return 'held';
}

/** Whether the holder seems to be running. Without a better way to tell, compares the clocks of two hosts. */
export function seemsHeld(lease: Lease | null): boolean {
  const state = leaseState(lease);
  if (state !== 'unsure') return state === 'held';
  // A heartbeat far in the future is from a clock that is wrong, or was set back since.
  return Math.abs(Date.now() - (lease?.beatMs ?? 0)) < EXPIRY_MS + CLOCK_SKEW_MS;
}

function inUse(subject: string, lease: Lease | null): PostChainError {
  if (lease?.holder) return journalInUse(subject, describeHolder(lease.holder));
  return new PostChainError(
    'invalid_journal',
    `${subject} has a lock that cannot be read, so a process may be writing it; if none is, take it over with the option "force"`,
  );
}

/** Where a lease is stored. */
interface LeasePlace<Held> {
  read(): Promise<Lease | null> | Lease | null;
  /** Replaces a lease with one of this process. Null if another process was faster. */
  replace(previous: Lease | null): Promise<Held | null> | Held | null;
}

/** Takes a lease without waiting. Throws `journal_held` if its holder seems to be running, or `invalid_journal` if it is unknown. */
export function takeUnused<Held>(
  subject: string,
  { read, replace }: { read(): Lease | null; replace(previous: Lease | null): Held | null },
): Held {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const current = read();
    if (leaseState(current) === 'unreadable' || seemsHeld(current)) throw inUse(subject, current);
    const held = replace(current);
    if (held !== null) return held;
  }
  throw notReplaced(subject);
}

/**
 * Takes over a lease. If only heartbeats can show whether its holder is still running, watches for one for ten seconds. Rejects with
 * `journal_held` if the holder is running, or with `invalid_journal` if it is unknown, unless forced. Without `wait`, rejects at once if the
 * holder seems to be running. `subject` names the journal.
 */
export async function takeOver<Held>(subject: string, how: OpenJournalOptions, place: LeasePlace<Held>): Promise<Held> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const held = await place.replace(await replaceable(subject, how, place));
    if (held !== null) return held;
    await nextTurn();
  }
  throw notReplaced(subject);
}

/** How often a lease may change while a process tries to replace it: after that, something else prevents it, such as a broken link. */
const MAX_TRIES = 100;

const notReplaced = (subject: string): PostChainError =>
  new PostChainError(
    'invalid_journal',
    `${subject}: its lock could not be taken in ${MAX_TRIES} tries; check what is stored under its name, then open it again`,
  );

async function replaceable(
  subject: string,
  { force = false, wait = true }: OpenJournalOptions,
  { read }: Pick<LeasePlace<unknown>, 'read'>,
): Promise<Lease | null> {
  let seen = await read();
  let sinceMs = performance.now();
  for (;;) {
    if (force || leaseState(seen) === 'free') return seen;
    if (leaseState(seen) !== 'unsure' || (!wait && seemsHeld(seen))) throw inUse(subject, seen);
    if (performance.now() - sinceMs >= EXPIRY_MS) return seen;
    await process.getBuiltinModule('node:timers/promises').setTimeout(OBSERVE_MS);
    const lease = await read();
    if (lease === null) return null;
    if (isSameLease(lease, seen) && lease.beatMs !== seen?.beatMs) throw inUse(subject, lease);
    if (isSameLease(lease, seen)) continue;
    seen = lease;
    sinceMs = performance.now();
  }
}

export function isSameLease(one: Lease | null, other: Lease | null): boolean {
  return one?.holder?.id === other?.holder?.id && one?.token === other?.token;
}

/** Returns a holder's name for error messages. */
function describeHolder(holder: LeaseHolder | null): string {
  if (holder === null) return 'an unknown process';
  const { pid, space, host } = holder;
  return space === thisHolder().space ? `process ${pid}` : `process ${pid} on ${host}`;
}

/** Returns the error of a writer whose journal another process has taken over. */
export function fencedError(subject: string, current: Lease | null): PostChainError {
  const cause = current === null ? 'its lock was removed' : `${describeHolder(current.holder)} has taken it over`;
  return new PostChainError(
    'journal_fenced',
    `${subject} is no longer written by this process, because ${cause}; continue it there, or resume it`,
  );
}

/** Calls `beat` every two seconds, without keeping the process alive. */
export function heartbeat(beat: () => void): { ifLate(): void; end(): void } {
  let atMs = performance.now();
  const now = (): void => {
    atMs = performance.now();
    beat();
  };
  const end = repeat(now, HEARTBEAT_MS);
  return {
    /** In a busy process, timers may be late. */
    ifLate() {
      if (performance.now() - atMs > HEARTBEAT_MS) now();
    },
    end,
  };
}

/** Returns the boot and the namespaces on Linux, otherwise the name of the host. */
function pidSpace(): string {
  try {
    const boot = fs().readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // Linux before 5.6 has no time namespaces.
    const time = fs().existsSync('/proc/self/ns/time') ? ` ${fs().readlinkSync('/proc/self/ns/time')}` : '';
    return `${boot} ${fs().readlinkSync('/proc/self/ns/pid')}${time}`;
  } catch {
    return process.platform === 'linux' ? '' : process.getBuiltinModule('node:os').hostname();
  }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns a process's start time and state; empty without `/proc`, or if `/proc` shows another PID namespace. */
function processStat(pid: number): { readonly startedAt: string; readonly state: string } {
  try {
    if (fs().readlinkSync('/proc/self') !== String(process.pid)) return { startedAt: '', state: '' };
    const text = fs().readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, which may contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { startedAt: fields[19] ?? '', state: fields[0] ?? '' };
  } catch {
    return { startedAt: '', state: '' };
  }
}
