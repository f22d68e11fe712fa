import { actorEntryNote, actorEntryTitle, entryTrouble } from '../../src/chain/presentation/entry-words.ts';
import { type ActorPath, type DurableEvent, idAt, isAnnotation } from '../../src/durable/entries.ts';
import type { ActorEnd, ActorState, SystemState } from '../../src/inspection/wire.ts';
import { type ActorEntry, endReportedBy, parentPath } from './actor-entries.ts';
import { actorIn } from './explain.ts';

export interface ReceivedEvent {
  readonly seq: number;
  readonly type: string;
  /** The name of the actor that sent it; null for an event from outside and for an elapsed delay. */
  readonly sender: string | null;
  readonly isExternal: boolean;
  /** The guards that were false, if no transition was taken; null if one was. An actor that is not a machine takes none. */
  ignored: readonly string[] | null;
}

export interface ActorNote {
  readonly seq: number;
  readonly type: Noted['type'];
  readonly title: string;
  readonly text: string;
  readonly isFailure: boolean;
  /** The number of the effect, if the note is about one. */
  readonly effect?: number;
}

interface Writable {
  path: ActorPath;
  name: string;
  /** The entry in whose step it started. */
  from: number;
  /** The entry that records the start of an actor that is not a machine; null if there is none. */
  started: number | null;
  /** The id of the child process that it stands for; null for others. */
  child: string | null;
  /** The id of its chart; null if it is not a machine. */
  machine: string | null;
  end: (ActorEnd & { readonly seq: number }) | null;
  /** Whether it makes a model call, which has a row of its own. */
  isCall: boolean;
  events: ReceivedEvent[];
  moves: { readonly seq: number; readonly event: string }[];
  notes: ActorNote[];
}

export type ActorRecord = Readonly<Writable>;

/** The actors of a system, in the order in which they started; empty for a run. */
export type ActorLog = readonly ActorRecord[];

/** The maximum number of charts. Further actors share the chart of their machine. */
const MAX_CHARTS = 200;

const STOPPED: ActorEnd = { status: 'stopped' };

/** The types of entries that become notes of the actor that they name, or of the root. */
const NOTES = [
  'start',
  'effect',
  'value',
  'emitted',
  'note',
  'failed',
  'resumed',
  'closed',
  'stopped',
  'migrated',
  'retried',
  'queued',
  'quarantined',
  'released',
  'end',
] as const;

type Noted = Extract<DurableEvent, { type: (typeof NOTES)[number] }>;

const isNoted = (entry: ActorEntry): entry is ActorEntry & Noted => NOTES.some((type) => type === entry.type);

/** Whether an activity has no name of its own: its source is inline, or its id. */
const isUnnamed = (source: unknown): boolean =>
  typeof source !== 'string' || source === '' || source === 'inline' || /^\d+\./u.test(source);

const depthOf = ({ path }: ActorRecord): number => path.split('/').length;

const startsAfter = (one: ActorRecord, other: ActorRecord): boolean =>
  one.from === other.from ? depthOf(one) > depthOf(other) : one.from > other.from;

export class ActorLogFold {
  readonly log: Writable[] = [];
  readonly #byPath = new Map<ActorPath, Writable[]>();
  readonly #running = new Map<ActorPath, Writable>();
  /** The charts of the actors, and the machine's chart that each copies. No two running actors share one, up to `MAX_CHARTS`. */
  readonly charts = new Map<string, { of: string }>();
  /** The actors whose `activity-start` was taken. Others may have started before their first entry. */
  readonly #recorded = new WeakSet<Writable>();
  readonly #machines = new WeakMap<Writable, string>();
  /** The latest event from outside, until it is known whether its receiver has handled it. */
  #open: { readonly event: ReceivedEvent; readonly receiver: ActorRecord } | null = null;
  #latest = 0;
  readonly #onEnd: (path: ActorPath, seq: number) => void;

  constructor(onEnd: (path: ActorPath, seq: number) => void) {
    this.#onEnd = onEnd;
  }

  /** Returns the id of a chart for an actor that starts at an entry: one that no actor of its machine uses by then, or later. */
  #freeChart(machine: string, path: ActorPath, from: number): string {
    const isFree = (id: string): boolean =>
      this.log.every((actor) => actor.machine !== id || (actor.end !== null && actor.end.seq <= from));
    const [free] = [...this.charts].find(([id, { of }]) => of === machine && isFree(id)) ?? [];
    if (free !== undefined) return free;
    let id = machine;
    for (let number = 1; this.charts.has(id) && this.charts.size < MAX_CHARTS; number += 1)
      id = `${machine} ${path}${number === 1 ? '' : ` ${number}`}`;
    this.charts.set(id, { of: machine });
    return id;
  }

  /** Returns the id of the chart of the actor that has an entry. If an actor of another machine was running at its path, that one has ended. */
  chartOf(path: ActorPath, machine: string, seq: number): string {
    const own = this.#running.get(path);
    const before = own && this.#machines.get(own);
    if (own !== undefined && before !== undefined && before !== machine) {
      // The new actor may have received the latest event.
      this.#endGone(own, Math.min(seq, this.#latest) - 1);
      const next = this.#running.get(path);
      if (next !== undefined) next.machine = null;
    }
    const id = this.#running.get(path)?.machine ?? this.#freeChart(machine, path, Number.POSITIVE_INFINITY);
    const actor = this.#actorAt(path, seq);
    actor.machine ??= id;
    this.#machines.set(actor, machine);
    return id;
  }

  #add(actor: Writable): void {
    for (const list of [this.log, this.#byPath.get(actor.path) ?? []]) {
      const later = list.findLastIndex((one) => !startsAfter(one, actor)) + 1;
      list.splice(later, 0, actor);
      if (list !== this.log) this.#byPath.set(actor.path, list);
    }
  }

  #begin(path: ActorPath, from: number): Writable {
    const lists = { events: [], moves: [], notes: [] };
    const none = { started: null, child: null, machine: null, end: null };
    const actor = { path, name: actorIn(path), from, ...none, isCall: false, ...lists };
    this.#add(actor);
    this.#running.set(path, actor);
    return actor;
  }

  /** Returns the running actor at a path. Begins one, and its parents before it, if none is running. */
  #actorAt(path: ActorPath, seq: number): Writable {
    if (path !== '') this.#actorAt(parentPath(path), seq);
    return this.#running.get(path) ?? this.#begin(path, seq);
  }

  #end(actor: Writable | undefined, seq: number, how: ActorEnd): void {
    if (actor === undefined) return;
    const isFirst = actor.end === null;
    // A recorded end replaces one that was inferred because the actor was gone.
    if (isFirst || actor.end?.status === 'stopped') actor.end = { ...how, seq };
    if (!isFirst) return;
    if (this.#running.get(actor.path) === actor) this.#running.delete(actor.path);
    this.#onEnd(actor.path, seq);
  }

  /** Ends the step of the latest event from outside, which was ignored if nothing has handled it. */
  #close(): void {
    if (this.#open !== null) this.#open.event.ignored ??= [];
    this.#open = null;
  }

  #receive({ seq, actor, event, sender, isExternal }: Extract<ActorEntry, { type: 'delivery' }>): void {
    this.#close();
    this.#latest = seq;
    const receiver = this.#actorAt(actor, seq);
    const from = sender === null ? null : (this.#running.get(sender)?.name ?? actorIn(sender));
    const received: ReceivedEvent = { seq, type: event.type, sender: from, isExternal, ignored: null };
    receiver.events.push(received);
    if (isExternal) this.#open = { event: received, receiver };
    const ended = endReportedBy(actor, event.type);
    const { output, error } = event as { readonly output?: unknown; readonly error?: unknown };
    if (ended === null) return;
    const values = { ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
    this.#end(this.#running.get(sender ?? ended.path), seq, { status: ended.status, ...values });
  }

  #takeMove(entry: Extract<ActorEntry, { type: 'transition' | 'ignored' }>): void {
    const { seq, actor, event, machine } = entry;
    const record = this.#actorAt(actor, seq);
    record.machine ??= machine;
    if (entry.type === 'transition') {
      record.moves.push({ seq, event });
      if (this.#open?.receiver === record) this.#open = null;
      const ended = endReportedBy(actor, event);
      if (ended !== null) this.#end(this.#running.get(ended.path), seq, { status: ended.status });
      return;
    }
    const last = record.events.at(-1);
    // A machine also ignores events that it raises itself.
    if (last?.type === event) last.ignored = entry.candidates.flatMap(({ guard }) => guard ?? []);
    if (this.#open?.receiver === record) this.#open = null;
  }

  #note(entry: ActorEntry & Noted): void {
    const path = 'actor' in entry ? entry.actor : '';
    // Processes also write these after the end.
    const ended = isAnnotation(entry) && path === '' ? this.#byPath.get('')?.at(-1) : undefined;
    const actor = ended ?? this.#actorAt(path, entry.seq);
    actor.notes.push({
      seq: entry.seq,
      type: entry.type,
      title: actorEntryTitle(entry) ?? entry.type,
      text: actorEntryNote(entry),
      isFailure: entryTrouble(entry as never) === 'failed' || (entry.type === 'end' && entry.status === 'error'),
      ...(entry.type === 'effect' && { effect: entry.effect }),
    });
    const { child } = Object(entry.type === 'effect' && entry.subject) as { readonly child?: string };
    if (child !== undefined) Object.assign(actor, { child, started: actor.started ?? entry.seq });
    // The `failed` entry has the error of an effect that threw.
    if (entry.type === 'failed' && entry.effect !== undefined) {
      const thrown = { isFailure: true, text: actorEntryNote(entry) };
      actor.notes = actor.notes.map((note) => (note.effect === entry.effect ? { ...note, ...thrown } : note));
    }
  }

  #endAll({ seq, status, output, error }: Extract<ActorEntry, { type: 'end' }>): void {
    const root = this.#actorAt('', seq);
    for (const actor of [...this.#running.values()].reverse()) if (actor !== root) this.#end(actor, seq, STOPPED);
    this.#end(root, seq, {
      status,
      ...(status === 'done' && output != null && { output }),
      ...(status === 'error' && { error }),
    });
  }

  /** Reopens what has ended in a step that was withdrawn. A call that failed in it starts again, unless that is skipped. */
  #reopen({ seq, failed, isSkipped }: Extract<ActorEntry, { type: 'retried' }>): void {
    this.#open = null;
    for (const actor of [...this.log]) {
      const { end, machine, path, from } = actor;
      if (end === null || end.seq < failed || from >= failed) continue;
      if (machine !== null || end.status !== 'error') {
        actor.end = null;
        this.#running.set(path, actor);
      } else if (isSkipped === undefined) this.#begin(path, seq);
    }
  }

  /** Ends an actor that was gone after an entry. Later entries at its path belong to another actor. */
  #endGone(actor: Writable, seq: number): void {
    const isLater = (one: { readonly seq: number }): boolean => one.seq > seq;
    const isEarlier = (one: { readonly seq: number }): boolean => one.seq <= seq;
    const { events, moves, notes } = actor;
    const later = { events: events.filter(isLater), moves: moves.filter(isLater), notes: notes.filter(isLater) };
    const ended = actor.end !== null && isLater(actor.end) && actor.end.status !== 'stopped' ? [actor.end] : [];
    const first = Math.min(...[...later.events, ...later.moves, ...later.notes, ...ended].map((one) => one.seq));
    if (Number.isFinite(first)) {
      const next = { ...actor, ...later, from: first };
      const earlier = {
        events: events.filter(isEarlier),
        moves: moves.filter(isEarlier),
        notes: notes.filter(isEarlier),
      };
      Object.assign(actor, earlier, { end: { ...STOPPED, seq } });
      this.#add(next);
      if (this.#running.get(actor.path) === actor) this.#running.set(actor.path, next);
    } else if (actor.end === null || actor.end.seq > seq) this.#end(actor, seq, STOPPED);
  }

  /** Returns the record of the actor that has this state after an entry. Its own first entry may come later. */
  #recordOf(path: ActorPath, { started, end: ending }: ActorState, seq: number): Writable {
    const all = this.#byPath.get(path) ?? [];
    const known =
      all.findLast((one) => one.from <= seq && (one.end === null || one.end.seq > seq || ending !== null)) ??
      all.find((one) => one.from > seq);
    if (known === undefined) return this.#begin(path, started);
    if (known.from > started) {
      for (const list of [this.log, all]) list.splice(list.indexOf(known), 1);
      known.from = started;
      this.#add(known);
    }
    return known;
  }

  /** Takes what a replay or an observation adds about an actor. It may arrive long after the entries. */
  #takeState(path: ActorPath, state: ActorState, seq: number): ActorRecord {
    const actor = this.#recordOf(path, state, seq);
    if (state.chart !== null) {
      actor.machine ??= this.#freeChart(state.chart, path, seq);
      const chart = this.charts.get(actor.machine);
      if (chart !== undefined) chart.of = state.chart;
    }
    if (state.end !== null) this.#end(actor, seq, state.end);
    const root = this.#byPath.get('')?.at(-1);
    // All actors of a system end with its root.
    if (actor.end === null && root?.end) this.#end(actor, root.end.seq, STOPPED);
    return actor;
  }

  take(entry: ActorEntry): void {
    // The states show that an actor has started.
    if (isNoted(entry) && !(entry.type === 'start' && entry.input == null)) this.#note(entry);
    if (entry.type === 'delivery') this.#receive(entry);
    else if (entry.type === 'transition' || entry.type === 'ignored') this.#takeMove(entry);
    else if (entry.type === 'start') this.chartOf('', entry.machine.id, entry.seq);
    else if (entry.type === 'activity-start') {
      const before = this.#running.get(entry.actor);
      if (before !== undefined && this.#recorded.has(before)) this.#end(before, entry.seq, STOPPED);
      const actor = this.#actorAt(entry.actor, entry.seq);
      this.#recorded.add(actor);
      actor.started = entry.seq;
      // An unnamed actor has the name of the state that invokes it, until its own is known.
      if (/^\d+\./u.test(idAt(entry.actor)) && !isUnnamed(entry.source)) actor.name = entry.source;
    } else if (entry.type === 'prompt') this.#actorAt(entry.actor, entry.seq).isCall = true;
    else if (entry.type === 'timer-start') this.#actorAt(entry.actor, entry.seq);
    else if (entry.type === 'end' && 'output' in entry) this.#endAll(entry);
    else if (entry.type === 'retried') this.#reopen(entry);
    if (entry.type === 'failed' || entry.type === 'stopped' || entry.type === 'closed') this.#close();
    if (entry.type === 'failed' && entry.actor !== '')
      this.#end(this.#running.get(entry.actor), entry.seq, { status: 'error', error: entry.error });
  }

  /** Takes the states before and after an entry, and passes each actor that has changed to `onChange`. */
  takeStates(
    before: SystemState,
    after: SystemState,
    seq: number,
    onChange: (actor: ActorRecord, state: ActorState, isNew: boolean) => void,
  ): void {
    for (const [path, was] of Object.entries(before))
      if (after[path]?.started !== was.started && was.end === null)
        for (const gone of this.#byPath.get(path) ?? [])
          if (gone.from < (after[path]?.started ?? seq) && (gone.end === null || gone.end.seq > seq))
            this.#endGone(gone, seq);
    for (const [path, state] of Object.entries(after)) {
      const was = before[path];
      if (was !== state) onChange(this.#takeState(path, state, seq), state, was?.started !== state.started);
    }
  }
}
