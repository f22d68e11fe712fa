import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from '../internal/describe-value.ts';
import { collectIn } from './actor-system.ts';
import type { Codec, Json } from './codec.ts';
import {
  type ChildEnded,
  type DurableEntry,
  type DurableEvent,
  type ExternalEvent,
  hasEnded,
  isExternal,
  isRedacted,
} from './entries.ts';
import type { ActorSummary, JournalStore, ListOptions } from './journals/journal-store.ts';
import { type ReplayedSystem, startOf } from './replay.ts';
import { Timekeeper, type TimekeeperOptions } from './timekeeper.ts';

/** What operators do to actors that cannot go on by themselves. */
export type RepairAction = 'retry' | 'skip' | 'release' | 'stop';

/** Which actors to repair, by default all that the action is for, and how. */
export interface RepairOptions extends Omit<ListOptions, 'machine' | 'after'> {
  /** Only these. */
  readonly ids?: readonly string[];
  /** Whether to only report what would happen; nothing is stored. */
  readonly dryRun?: boolean;
  /** For `skip`: the result of the calls that have failed. */
  readonly output?: unknown;
}

/** What happened, or would happen, to an actor. */
export interface RepairResult {
  readonly id: string;
  /** Why it cannot be repaired; null if it was, or could be. */
  readonly problem: string | null;
}

/** How the failed step of an actor is repaired: `output` replaces the result of a call that is skipped. */
export type StepRepair = { readonly action: 'retry' } | { readonly action: 'skip'; readonly output: unknown };

type CallStart = Extract<DurableEntry, { type: 'activity-start' }>;
type RetriedEntry = Extract<DurableEntry, { type: 'retried' }>;

/** The entry that withdraws the failed step of an actor, and what happens instead; `event` is null if only calls or effects run again. */
interface Plan {
  readonly retried: RetriedEntry;
  readonly event: ExternalEvent | null;
  /** The effect that is not executed again. */
  readonly endedEffect: number | null;
}

export const notRepairable = (id: string, problem: string): PostChainError =>
  new PostChainError('not_repairable', `actor ${id}: ${problem}`);

/** Events with which a call reports that it has failed, and those with which it would have ended instead. */
const RESULTS: Readonly<Record<string, string>> = {
  'xstate.promise.reject': 'xstate.promise.resolve',
  'xstate.observable.error': 'xstate.observable.complete',
};

/** Returns how the last step of a failed actor is withdrawn. Throws `not_repairable` with the reason if it cannot be. */
function planRepair(id: string, entries: readonly DurableEntry[], repair: StepRepair, codec: Codec): Plan {
  const end = entries.findLastIndex(({ type }) => type === 'end');
  const last = entries[end];
  if (!hasEnded(entries) || last?.type !== 'end')
    throw notRepairable(id, 'it has not ended; only failed actors can be repaired.');
  if (last.status !== 'error') throw notRepairable(id, `it has not failed: its status is "${last.status}".`);
  if (isRedacted(startOf(entries))) throw notRepairable(id, 'its journal is redacted, so it cannot be replayed.');
  const from = entries.findLastIndex((entry, at) => at < end && isExternal(entry));
  const failed = entries[from];
  if (failed === undefined || !isExternal(failed) || failed.type === 'migrated')
    throw notRepairable(id, 'it failed in its first step; start another actor.');
  const effect = entries.slice(from, end).find((entry) => entry.type === 'effect' && entry.action !== 'child.ended');
  if (effect?.type === 'effect')
    throw notRepairable(
      id,
      `the step in which it failed has executed the action "${effect.action}", which would be executed again; fork the actor before entry ${failed.seq} instead.`,
    );
  const { seq, atMs } = entries.at(-1) as DurableEntry;
  const isSkipped = repair.action === 'skip';
  const retried: RetriedEntry = {
    seq: seq + 1,
    atMs,
    type: 'retried',
    failed: failed.seq,
    ...(isSkipped && { isSkipped }),
  };
  const { seq: _, atMs: __, ...event } = failed;
  return {
    retried,
    ...(isSkipped
      ? skipped(id, event, startOfCall(entries, event), codec.encode(repair.output, 'output of skip'))
      : { event: failureIn(event) ? null : event, endedEffect: null }),
  };
}

/** Whether an event only reports that a call or an effect has failed. */
const failureIn = (event: ExternalEvent): boolean =>
  event.type === 'failed' || (event.type === 'activity-event' && Object.hasOwn(RESULTS, typeOf(event.event)));

const typeOf = (event: Json): string => String(Object(event).type);

/** Returns what happens instead of a failure that is skipped. `start` is the entry of the call that failed. */
function skipped(id: string, event: ExternalEvent, start: CallStart | undefined, data: Json): Omit<Plan, 'retried'> {
  // The result of a child process.
  if (event.type === 'delivery' && typeOf(event.event) === 'child.ended') {
    const { child } = event.event as unknown as ChildEnded;
    const result = { type: 'child.ended', child, status: 'done', output: data };
    return { event: { ...event, event: result }, endedEffect: null };
  }
  // What a caller sent is left out: without it, the actor waits again.
  if (event.type === 'delivery') return { event: null, endedEffect: null };
  if (event.type === 'failed' && event.effect !== undefined) return { event: null, endedEffect: event.effect };
  if (start === undefined) throw notRepairable(id, 'it failed when a delay ended, which cannot be skipped; retry it.');
  const { activity, source, actor } = start;
  const type = (event.type === 'activity-event' && RESULTS[typeOf(event.event)]) || 'xstate.promise.resolve';
  const result = { type, ...(type !== 'xstate.observable.complete' && { data }) };
  return { event: { type: 'activity-event', activity, source, actor, event: result }, endedEffect: null };
}

/** Returns the entry that started the call that an event comes from; undefined if it comes from none. */
function startOfCall(entries: readonly DurableEntry[], event: ExternalEvent): CallStart | undefined {
  const isStart = (entry: DurableEntry): entry is CallStart =>
    entry.type === 'activity-start' &&
    (event.type === 'activity-event'
      ? entry.activity === event.activity
      : event.type === 'failed' && entry.actor === event.actor);
  return entries.findLast(isStart);
}

/** Returns the actor before the step that failed, with the entries of the step that replaces it. Throws `not_repairable`. */
export async function repairedSystem(
  id: string,
  entries: readonly DurableEntry[],
  repair: StepRepair,
  {
    codec,
    replay,
    optionsOf,
  }: {
    readonly codec: Codec;
    readonly replay: (entries: readonly DurableEntry[]) => Promise<ReplayedSystem>;
    readonly optionsOf: (replayed: ReplayedSystem) => TimekeeperOptions;
  },
): Promise<ReplayedSystem> {
  const { retried, event, endedEffect } = planRepair(id, entries, repair, codec);
  const replayed = { ...(await replay([...entries, retried])), entries };
  const { system } = replayed;
  const { seq: _, atMs: __, ...entry } = retried;
  const events: DurableEvent[] = [entry];
  const atMs = new Timekeeper(system, entries, optionsOf(replayed)).nowMs;
  system.owner = collectIn(events);
  system.effects = [];
  if (endedEffect !== null) events.push(system.endEffects([endedEffect]));
  if (event !== null) system.apply(event, atMs);
  const { status, error } = system.root.getSnapshot() as { status: string; error?: unknown };
  // A call that has no result fails, or is still in progress.
  const isCall = event?.type === 'activity-event' && repair.action === 'skip';
  const isStart = entries.some((one) => one.seq === retried.failed && one.type === 'failed');
  const hasNoResult = isCall && (system.activities.has(event.activity) || (isStart && status === 'error'));
  if (status !== 'error' && !hasNoResult) return { ...replayed, unstored: events, changedAtMs: atMs };
  system.close();
  const text = error instanceof Error ? error.message : String(error);
  throw notRepairable(
    id,
    hasNoResult
      ? `"${event.source}" is neither a promise nor an observable, so it cannot be skipped; retry it.`
      : `it fails again: ${text}`,
  );
}

/**
 * Adds an entry to the journal of an actor that no process holds, without a replay: continuing it may end the process. With `lastSeq`, rejects if
 * entries follow that one.
 */
export async function appendAlone(
  journals: JournalStore,
  id: string,
  event: Extract<DurableEvent, { type: 'quarantined' | 'released' }>,
  lastSeq?: number,
): Promise<void> {
  const { entries, writer } = await journals.open(id, { fromKeyframe: true });
  try {
    const last = entries.at(-1);
    const isQuarantined = last?.type === 'quarantined';
    if (event.type === 'released' && !isQuarantined) throw notRepairable(id, 'it is not quarantined.');
    if (last === undefined || isQuarantined === (event.type === 'quarantined')) return;
    if (lastSeq !== undefined && last.seq > lastSeq)
      throw new PostChainError('journal_fenced', `actor ${id}: another process has continued it.`);
    if (hasEnded(entries)) return;
    await writer.write([{ seq: last.seq + 1, atMs: last.atMs, ...event }]);
    if (writer.failure !== null) throw new PostChainError('journal_failed', `actor ${id}: ${writer.failure}`);
  } finally {
    await writer.close();
  }
}

/** The statuses of the actors that each action is for. */
const STATUSES = {
  retry: 'error',
  skip: 'error',
  release: 'interrupted',
  stop: ['running', 'waiting', 'interrupted', 'queued'],
} as const;

/** Why an action is not for an actor. */
const NOT_FOR: Readonly<Record<RepairAction, string>> = {
  retry: 'it has not failed.',
  skip: 'it has not failed.',
  release: 'it is not quarantined.',
  stop: 'it has already ended.',
};

interface RepairHost {
  readonly journals: JournalStore;
  list(options: ListOptions): Promise<readonly ActorSummary[]>;
  stop(id: string): Promise<boolean>;
  release(id: string): Promise<void>;
  isOpen(id: string): boolean;
}

/** See `repair` of a durable machine. `repairStep` stores the step that replaces the failed one, unless it is a dry run. */
export async function repairAll(
  host: RepairHost,
  action: RepairAction,
  { dryRun = false, output, ids, status, limit, ...filter }: RepairOptions,
  repairStep: (id: string, repair: StepRepair) => Promise<void>,
): Promise<readonly RepairResult[]> {
  if (!Object.hasOwn(STATUSES, action))
    throw new PostChainError(
      'invalid_option',
      `action of repair: expected one of ${Object.keys(STATUSES).join(', ')}; received ${describeValue(action)}.`,
    );
  const actions: Readonly<Record<RepairAction, (actor: ActorSummary) => unknown>> = {
    retry: ({ id }) => repairStep(id, { action: 'retry' }),
    skip: ({ id }) => repairStep(id, { action: 'skip', output }),
    release: ({ id }) => dryRun || host.release(id),
    stop: ({ id, status: now }) => {
      const isHeld = now === 'running' && !host.isOpen(id);
      if (dryRun && isHeld && !host.journals.mail) throw notRepairable(id, 'another process holds it.');
      return dryRun || host.stop(id);
    },
  };
  const listed = await host.list({ ...filter, status: status ?? STATUSES[action] });
  const isFor = ({ id, reason }: ActorSummary): boolean =>
    (action !== 'release' || reason !== null) && ids?.includes(id) !== false;
  const results: RepairResult[] = [];
  for (const actor of listed.filter(isFor).slice(0, limit)) {
    const acted = Promise.resolve(actor).then(actions[action]);
    const problem = await acted.then(
      () => null,
      (error: Error) => error.message,
    );
    results.push({ id: actor.id, problem });
  }
  // The other options may have excluded the rest.
  if (status !== undefined || Object.keys(filter.where ?? {}).length > 0) return results;
  const others = (ids ?? []).filter((id) => !listed.some((actor) => actor.id === id && isFor(actor)));
  return [...results, ...others.map((id) => ({ id, problem: `actor ${id}: ${NOT_FOR[action]}` }))];
}
