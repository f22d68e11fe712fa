import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Json } from '../../durable/codec.ts';
import { type DurableEntry, isExternal, type StartEntry, type Waiting } from '../../durable/entries.ts';
import type { ActorSummary, JournalEnds } from '../../durable/journals/journal-store.ts';
import { clockStartOf } from '../../durable/replay.ts';
import { readableValue } from '../readable-value.ts';
import { type About, type JournalReader, MAX_WANTED_ENTRIES, RecordedJournal } from '../recorded-journal.ts';
import { forkOf, problemOf, type RecordedSource, type SourceSink } from '../source.ts';
import type { InspectedStore, ReadNew } from '../stored-runs.ts';
import type { ActorWait, InspectedRun, RunCharts } from '../wire.ts';
import type { InspectedActor } from './actor-actions.ts';
import { actingHost } from './inspected-machine.ts';
import { ListedState } from './listed-state.ts';
import { actorStates, hostOf, type ReplayHost } from './recorded-states.ts';
import { errorText, STATUS } from './system-log.ts';

/** Returns when the actor with this id in a store started, in ISO 8601; undefined if there is none. */
export type StartedIn = (store: unknown, id: string) => string | undefined;

const NO_SUMMARY: Omit<ActorSummary, 'id'> = {
  machine: null,
  title: '',
  startedAt: '',
  status: 'damaged',
  reason: null,
  forkedFrom: null,
  lastSeq: -1,
  summary: null,
  attributes: {},
  waiting: null,
};

/**
 * A durable actor in a store. Its log follows its journal, whichever process writes it. If `hosts` contains its durable machine, a replay
 * without calls adds what the journal does not contain.
 */
export class RecordedActor extends RecordedJournal<DurableEntry> implements RecordedSource {
  readonly charts = (): RunCharts => ({ charts: [], invoked: {} });
  readonly needsCount = (): boolean => false;
  readonly #hosts: readonly ReplayHost[];
  readonly #startedIn: StartedIn;
  #summary = NO_SUMMARY;
  #ending: InspectedRun['ending'];
  #counted: { readonly readNew: ReadNew<DurableEntry>; readonly state: ListedState } | null = null;
  /** Null until all entries have been read. */
  #listed: ListedState | null = null;
  #isCounted = false;
  /** The approvals of an interrupted actor, whose journal does not end with what it waits for. */
  #asked: Waiting | null = null;

  constructor(
    id: string,
    journals: InspectedStore,
    changed: () => void,
    { hosts, startedIn }: { readonly hosts: readonly ReplayHost[]; readonly startedIn: StartedIn },
  ) {
    super(id, journals, changed);
    this.#hosts = hosts;
    this.#startedIn = startedIn;
  }

  /** Returns the actor with its durable machine. Throws `invalid_option` if the inspector does not have it. */
  hosted(): InspectedActor {
    const host = this.#host && actingHost(this.#host);
    if (host === null) throw new PostChainError('invalid_option', noModuleText(this.#machineId));
    if (!this.#isIn(host)) throw new PostChainError('invalid_option', otherStoreText(this.#machineId));
    return { id: this.id, host };
  }

  get #machineId(): string {
    return this.#summary.machine?.id ?? '';
  }

  /** Whether the store of a durable machine has this actor. */
  #isIn({ journals }: ReplayHost): boolean {
    return journals === this.journals || this.#startedIn(journals, this.id) === this.#summary.startedAt;
  }

  /** Why no event can be sent now, and what to do; null if one can. */
  #blocked(): string | null {
    try {
      const { host } = this.hosted();
      // With a mailbox, the process that holds the actor receives what is sent here.
      return this.isWritten && !host.isOpen(this.id) && host.journals.mail === undefined ? HELD : null;
    } catch (error) {
      return problemOf(error);
    }
  }

  wantsCount(): boolean {
    return !this.#isCounted && this.#summary.lastSeq <= MAX_WANTED_ENTRIES;
  }

  async count(): Promise<void> {
    this.#isCounted = true;
    this.#counted ??= { readNew: this.entryReader(), state: new ListedState() };
    const now = this.#counted;
    try {
      await now.readNew((entry) => {
        now.state.take(entry);
        if (entry.type === 'end' && entry.status === 'error') this.#takeFailure(entry.error);
      });
      this.#listed = now.state;
      this.#asked = this.status() === 'interrupted' ? await this.#openApprovals() : null;
      this.changed();
    } catch {
      // Its page says what is damaged.
      this.#counted = this.#listed = null;
    }
  }

  async #openApprovals(): Promise<Waiting | null> {
    try {
      const { approvals } = (await this.hosted().host.query(this.id)).pending;
      const [first] = approvals;
      return first === undefined ? null : { sinceMs: first.askedAtMs, dueAtMs: null, events: [], approvals };
    } catch {
      // Without its machine, or with another one, its questions are not known.
      return null;
    }
  }

  actorEntries(): Promise<readonly DurableEntry[]> {
    return this.readAll();
  }

  protected get idleStatus(): InspectedRun['status'] {
    const { status } = this.#summary;
    return status === 'done' || status === 'error' || status === 'stopped' ? STATUS[status] : status;
  }

  get #host(): ReplayHost | null {
    return hostOf(this.#hosts, this.#summary.machine?.id, this.journals);
  }

  protected about(): About {
    const { machine, title, startedAt, forkedFrom, waiting, queued, attributes = {} } = this.#summary;
    const asked = this.status() === 'interrupted' ? this.#asked : null;
    const wait = this.isWritten ? this.#listed?.wait : (waiting ?? asked);
    const isQueued = this.status() === 'queued';
    const { concurrency, rate, perKey } = this.#host?.queue ?? {};
    const ending = isQueued ? undefined : this.#shownEnding();
    const { status, reason } = this.#summary;
    const isOver = status === 'done' || status === 'stopped' || this.status() === 'damaged';
    const blocked = !isOver && machine !== null ? this.#blocked() : null;
    const isQuarantined = reason !== null && this.status() === 'interrupted';
    return {
      kind: 'system',
      title: title || this.id,
      startedAt,
      fidelity: [...(this.#host === null ? [noMachineText(machine?.id ?? '')] : []), ...this.found.limits],
      summary: null,
      ...(machine !== null && { machine: machine.id }),
      ...(Object.keys(attributes).length > 0 && { attributes }),
      ...(wait && { waiting: waitOf(wait) }),
      ...(wait && this.isWritten && { isIdle: true }),
      ...(isQueued && queued && { queued: { ...queued, limits: { concurrency, rate, perKey } } }),
      ...(blocked !== null && { blocked }),
      ...(isQuarantined && { quarantined: reason }),
      ...(ending !== undefined && { ending }),
      ...forkOf(forkedFrom),
    };
  }

  /** How it has ended, or its state so far. */
  #shownEnding(): InspectedRun['ending'] {
    if (this.#listed === null) return this.#ending;
    const { failure, atMs, idleMs } = this.#listed;
    const states = this.#listed.statesIn(this.#host);
    const known = this.#ending ?? { states: '', failure: '', durationMs: atMs };
    const isNew = failure !== '' && !known.failure.includes(failure.split(' failed: ')[1] ?? failure);
    const joined = known.failure !== '' && isNew ? `${known.failure} (${failure})` : known.failure || failure;
    const durationMs = Math.max(0, known.durationMs - idleMs);
    return { states: known.states || states, failure: joined, durationMs };
  }

  protected compared(): unknown {
    return this.info();
  }

  protected parse(stored: DurableEntry): DurableEntry {
    return stored;
  }

  protected reader(sink: SourceSink): JournalReader<DurableEntry> {
    let externalEvents = 0;
    return {
      format: 'actor',
      lineOf: (json) => json,
      take: (entry) => {
        if (isExternal(entry)) externalEvents += 1;
        if (entry.type === 'end' && entry.status === 'error') this.#takeFailure(entry.error);
      },
      maxEntriesWithStates: Number.POSITIVE_INFINITY,
      states: (entries) => this.#host && actorStates(entries, this.#host, sink.charts),
      stepsIn: ({ length }) => (length === 0 ? 0 : externalEvents + 1),
      limit: (sentence) => this.setState({ limits: [sentence] }),
      isOver: () => this.#ending !== undefined || this.#summary.status === 'damaged',
    };
  }

  /** The last entries of a journal may not contain the end: calls and effects may have ended after it. */
  #takeFailure(error: Json): void {
    const failure = failureText(this.id, error);
    if (this.#ending === undefined || this.#ending.failure === failure) return;
    this.#ending = { ...this.#ending, failure };
    this.changed();
  }

  protected takeEnds({ machine, ...read }: ActorSummary, ends: JournalEnds, isNew: boolean): void {
    const first = Object(ends.first) as StartEntry;
    // The start of a damaged journal may be anything, and `redact` may have replaced the time.
    const forkedAt = first.forkedFrom?.forkedAt;
    const startMs = machine == null ? Number.NaN : forkedAt ? Date.parse(forkedAt) : clockStartOf(first);
    const startedAt = Number.isNaN(startMs) ? '' : new Date(startMs).toISOString();
    const named = typeof Object(first.machine).id === 'string' ? first.machine : null;
    this.#summary = { ...NO_SUMMARY, ...read, machine: named, startedAt };
    // The entries that a fork has copied took none of its own time.
    const copiedMs = startMs - clockStartOf(first) || 0;
    this.#ending = endingOf(this.#summary, this.id, ends, copiedMs);
    this.#isCounted &&= !isNew;
    if (ends.lastSeq > MAX_WANTED_ENTRIES) this.#counted = this.#listed = null;
  }
}

const noMachineText = (machine: string): string =>
  `The journal has no chart and no contexts. To see them, pass the durable machine "${machine}": --module FILE of the command, or the option hosts.`;

const noModuleText = (machine: string): string =>
  `To act on this actor, start the inspector with the module that exports the machine ${JSON.stringify(machine)}: postchain inspect --module FILE.`;

const otherStoreText = (machine: string): string =>
  `The module of the machine ${JSON.stringify(machine)} uses another store, which does not contain this actor. To act on it, change the module to use the store of this actor.`;

const HELD =
  'Another process holds this actor, and its store keeps no messages. Send events from that process, or stop it to act on the actor here.';

function waitOf({ sinceMs, dueAtMs, events, approvals = [] }: Waiting): ActorWait {
  return {
    sinceMs,
    dueAtMs,
    events: events.filter((type) => approvals.length === 0 || type !== 'approval.given'),
    approvals,
  };
}

/** Returns how an actor ended, according to its last entries; undefined if it has not. */
function endingOf(
  { status }: Omit<ActorSummary, 'id'>,
  id: string,
  ends: JournalEnds,
  copiedMs: number,
): InspectedRun['ending'] {
  if (status !== 'done' && status !== 'error' && status !== 'stopped') return undefined;
  const last = ends.last as readonly DurableEntry[];
  const end = last.findLast((entry) => entry.type === 'end');
  const moved = last.findLast((entry) => entry.type === 'transition' && entry.actor === '' && entry.target.length > 0);
  const names = moved?.type === 'transition' ? moved.target.map((state) => state.split('.').at(-1) ?? state) : [];
  const why = end?.type === 'end' ? failureText(id, end.error) : `${id} failed`;
  return {
    states: names.join(', '),
    failure: status === 'error' ? why : '',
    durationMs: Math.max(0, (last.at(-1)?.atMs ?? 0) - copiedMs),
  };
}

const failureText = (id: string, error: Json): string => `${id} failed: ${errorText(readableValue(error))}`;
