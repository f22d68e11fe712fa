import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { SystemEntry } from '../../src/inspection/wire.ts';

interface ReceivedEvent {
  readonly seq: number;
  readonly type: string;
  readonly sender: string | null;
  /** The guards that were false, if no transition was taken; null if the event was not ignored. */
  ignored: readonly string[] | null;
}

interface ActorEnd {
  readonly seq: number;
  readonly status: 'done' | 'error' | 'stopped';
  readonly error: unknown;
}

/** An actor of an observed system, with the events that it received. */
export interface ActorRecord {
  readonly name: string;
  readonly from: number;
  /** The name of its machine in the charts; null for other actors. */
  machine: string | null;
  end: ActorEnd | null;
  /** Whether it makes a model call, which has a row of its own. */
  isCall: boolean;
  readonly events: readonly ReceivedEvent[];
  /** Anything else that a journal records about it. */
  readonly notes: readonly { readonly seq: number; readonly text: string; readonly data?: unknown }[];
}

/** The actors of an observed system, in the order in which they started; empty for a run. */
export type ActorLog = readonly ActorRecord[];

/** The events that were sent to an actor: all but its start. */
export const receivedEvents = ({ events }: ActorRecord): readonly ReceivedEvent[] =>
  events.filter(({ type }) => type !== 'xstate.init');

/** The events that machines had ignored up to an entry, newest first. */
export const ignoredEvents = (log: ActorLog, at: number): readonly ReceivedEvent[] =>
  log
    .flatMap(receivedEvents)
    .filter(({ seq, ignored }) => ignored !== null && seq <= at)
    .sort((one, other) => other.seq - one.seq);

export function createActorLog(): { readonly log: ActorLog; take(entry: JournalEntry): void } {
  const log: (ActorRecord & { readonly events: ReceivedEvent[]; readonly notes: ActorRecord['notes'][number][] })[] =
    [];
  /** Those that have not ended, by name. */
  const running = new Map<string, (typeof log)[number]>();

  function begin(name: string, from: number): (typeof log)[number] {
    const actor = { name, from, machine: null, end: null, isCall: false, events: [], notes: [] };
    log.push(actor);
    running.set(name, actor);
    return actor;
  }

  function receive({ seq, actor, event, sender }: Extract<SystemEntry, { type: 'delivery' }>): void {
    const receiver = running.get(actor) ?? begin(actor, seq);
    receiver.events.push({ seq, type: event.type, sender, ignored: null });
  }

  /** An actor's machine is named by its first transition or timer. */
  function takeMachine(machine: string, { seq, actor }: { readonly seq: number; readonly actor: string }): void {
    const record = running.get(actor) ?? begin(actor, seq);
    record.machine ??= machine;
  }

  return {
    log,
    take(given) {
      const entry = given as JournalEntry | SystemEntry;
      if (entry.type === 'delivery' && 'sender' in entry) receive(entry);
      else if (entry.type === 'transition' && 'leaves' in entry) takeMachine(entry.machine, entry);
      else if (entry.type === 'timer-start' && 'machine' in entry && entry.machine !== null)
        takeMachine(entry.machine, entry);
      else if (entry.type === 'prompt' && 'actor' in entry) {
        const actor = running.get(entry.actor);
        if (actor !== undefined) actor.isCall = true;
      } else if (entry.type === 'noted') running.get(entry.actor)?.notes.push(entry);
      else if (entry.type === 'ignored' && 'guards' in entry) {
        const event = running.get(entry.actor)?.events.at(-1);
        // A machine also ignores events that it raises itself.
        if (event?.type === entry.event) event.ignored = entry.guards;
      } else if (entry.type === 'actor-end') {
        const actor = running.get(entry.actor);
        if (actor !== undefined) actor.end = { seq: entry.seq, status: entry.status, error: entry.error };
        running.delete(entry.actor);
      }
    },
  };
}
