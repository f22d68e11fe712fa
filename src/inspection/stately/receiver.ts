import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { lineLog, type RunSource, type SourceSink } from '../source.ts';
import { type Decoded, decode, type SystemMessage } from './messages.ts';
import { createSystemJournal, type MissingMessage, type SystemJournal, type SystemLimits } from './system-journal.ts';

export interface ReceiverOptions {
  /** The prefix of its systems' ids; unique per connection. */
  readonly id: string;
  /** Called when a system is new or its `info()` has changed. Changed counts within its limitations are not reported. */
  readonly changed?: (system: ReceivedSystem) => void;
  readonly limits?: SystemLimits;
}

/** One connection of an XState inspector: receives text frames and keeps the systems they describe. */
export interface StatelyReceiver {
  /** In the order in which they started. */
  readonly systems: readonly ReceivedSystem[];
  /** Takes a text frame. Never throws. */
  receive(frame: string): void;
  /** Ends all systems, because the connection has closed. */
  close(): void;
}

/** At the limit, a new system replaces the oldest ended one. If none has ended, its messages are dropped. */
const MAX_SYSTEMS = 100;

export function statelyReceiver({ id, changed = () => {}, limits }: ReceiverOptions): StatelyReceiver {
  const systems = new Map<string, OpenSystem>();
  /** Counts before the first system. */
  const early = { malformed: 0, unannounced: 0 };
  let closed = false;

  const forgetOldest = (): boolean => {
    const [oldest] = [...systems].find(([, { journal }]) => journal.ended) ?? [];
    return oldest !== undefined && systems.delete(oldest);
  };
  const open = (rootId: string): OpenSystem | null => {
    const known = systems.get(rootId);
    if (known !== undefined) return known;
    if (systems.size >= MAX_SYSTEMS && !forgetOldest()) return null;
    const journal = createSystemJournal(rootId, limits);
    for (const gap of ['malformed', 'unannounced'] as const) {
      journal.countMissing(gap, early[gap]);
      early[gap] = 0;
    }
    const system = openSystem(`${id}/${rootId}`, journal);
    systems.set(rootId, system);
    return system;
  };

  /** Messages sent with the inspector's own methods have no root, or `anonymous`: then the session id identifies the system. */
  const systemOf = ({ type, sessionId, ...message }: SystemMessage): OpenSystem | null => {
    const rootId = message.rootId === 'anonymous' ? null : (message.rootId ?? null);
    const named = systems.get(rootId ?? '');
    if (named !== undefined) return named;
    const holding = (session: string | null | undefined) =>
      session ? [...systems.values()].find(({ journal }) => journal.has(session)) : undefined;
    const known = holding(sessionId);
    if (known !== undefined) return known;
    if (rootId !== null) return open(rootId);
    if (type !== '@xstate.actor') return null;
    return holding('parentId' in message ? message.parentId : null) ?? open(sessionId);
  };

  const reportChange = (system: OpenSystem): void => {
    if (system.hasChanged()) changed(system);
  };
  const countMissing = (gap: MissingMessage): void => {
    if (systems.size === 0) early[gap] += 1;
    for (const system of systems.values()) {
      system.journal.countMissing(gap);
      reportChange(system);
    }
  };
  const takeMessage = (message: SystemMessage, truncated: boolean): void => {
    const system = systemOf(message);
    if (system === null) countMissing('unannounced');
    else {
      system.take(message, truncated);
      reportChange(system);
    }
  };
  const take = (decoded: Decoded): void => {
    if (closed || decoded.kind === 'unknown') return;
    if (decoded.kind === 'stopped') close();
    else if (decoded.kind === 'malformed') countMissing('malformed');
    else takeMessage(decoded.message, decoded.truncated);
  };
  const close = (): void => {
    if (closed) return;
    closed = true;
    for (const system of systems.values()) {
      system.close();
      reportChange(system);
    }
  };
  return {
    get systems() {
      return [...systems.values()];
    },
    receive: (frame) => take(decode(frame)),
    close,
  };
}

/** A received system, as a source that pages can open. */
export interface ReceivedSystem extends Pick<RunSource, 'info' | 'charts' | 'follow'> {
  readonly entries: readonly JournalEntry[];
}

interface OpenSystem extends ReceivedSystem {
  readonly journal: SystemJournal;
  take(message: SystemMessage, truncated: boolean): void;
  /** Whether `info()` has changed since the last call. Counts within the limitations are ignored. */
  hasChanged(): boolean;
  close(): void;
}

function openSystem(runId: string, journal: SystemJournal): OpenSystem {
  const { entries } = journal;
  const log = lineLog(entries);
  const sinks = new Set<SourceSink>();
  let lastInfo = '';

  function updateLog(): void {
    if (journal.ended) log.end();
    else log.notify();
  }

  return {
    journal,
    entries,
    charts: journal.charts,
    info: () => ({
      runId,
      kind: 'system',
      title: journal.title,
      startedAt: journal.startedAt,
      status: journal.status === 'interrupted' ? 'disconnected' : journal.status,
      live: !journal.ended,
      fidelity: journal.fidelity,
      summary: null,
    }),
    follow(from, outer) {
      const sink: SourceSink = {
        ...outer,
        end(problem) {
          sinks.delete(sink);
          outer.end(problem);
        },
      };
      sinks.add(sink);
      const stop = log.follow(from, sink);
      return () => {
        sinks.delete(sink);
        stop();
      };
    },
    take(message, truncated) {
      if (journal.take(message, truncated)) for (const sink of sinks) sink.charts(journal.charts());
      updateLog();
    },
    hasChanged() {
      const { title, status, startedAt, ended, fidelity } = journal;
      const before = lastInfo;
      lastInfo = JSON.stringify([title, status, startedAt, ended, fidelity.length]);
      return lastInfo !== before;
    },
    close() {
      journal.close();
      updateLog();
    },
  };
}
