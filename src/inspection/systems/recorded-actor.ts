import { durableFormat } from '../../durable/durable-format.ts';
import { type DurableEntry, isExternal, type StartEntry, type Waiting } from '../../durable/entries.ts';
import { parsedEntry } from '../../durable/journals/journal-lines.ts';
import type { ActorSummary } from '../../durable/journals/journal-store.ts';
import { type JournalBounds, listedJournal } from '../../durable/journals/journal-store.ts';
import { placeOf } from '../../durable/journals/line-store.ts';
import { clockStartOf } from '../../durable/replay.ts';
import { parseJson } from '../../internal/json-text.ts';
import { grouped } from '../../internal/printable.ts';
import { followJournal } from '../journal-feed.ts';
import { readableValue } from '../readable-value.ts';
import { changeSignal, type RecordedSource, type SourceSink } from '../source.ts';
import { type InspectedStore, tailOf } from '../stored-runs.ts';
import type { ActorWait, InspectedRun } from '../wire.ts';
import { actorStates, hostOf, type ReplayHost } from './recorded-states.ts';
import { errorText, STATUS } from './system-log.ts';

const NO_SUMMARY: Omit<ActorSummary, 'id'> = {
  machine: null,
  title: '',
  startedAt: '',
  status: 'damaged',
  forkedFrom: null,
  lastSeq: -1,
  summary: null,
  waiting: null,
};

/**
 * Returns a durable actor in a store as a system that pages can open. Its log follows its journal, whichever process writes it. If
 * `hosts` contains its durable machine, a replay without calls adds what the journal does not contain.
 */
export function recordedActor(
  id: string,
  journals: InspectedStore,
  changed: () => void,
  hosts: readonly ReplayHost[],
): RecordedSource {
  let version: string | null = null;
  let summary = NO_SUMMARY;
  let isWritten = false;
  let ending: InspectedRun['ending'];
  let damage: string | null = null;
  let integrity: string | null = null;
  let limits: readonly string[] = [];
  /** For the followers that have read everything. */
  const { next, wake } = changeSignal();

  function status(): InspectedRun['status'] {
    if (damage !== null) return 'damaged';
    const { status } = summary;
    if (status === 'done' || status === 'error' || status === 'stopped') return STATUS[status];
    return isWritten && status !== 'damaged' ? 'running' : status;
  }

  const hasEnded = (): boolean => ending !== undefined || summary.status === 'damaged';

  async function read(from: number, sink: SourceSink, isStopped: () => boolean): Promise<void> {
    let externalEvents = 0;
    const result = await followJournal<DurableEntry>(
      {
        id,
        journals,
        format: 'actor',
        parse: (json, seq) => parsedEntry(placeOf(id), parseJson(json), seq),
        lineOf: (json) => json,
        take(entry) {
          if (isExternal(entry)) externalEvents += 1;
        },
        states(entries) {
          const host = hostOf(hosts, summary.machine?.id, journals);
          return host && actorStates(entries, host, sink.charts);
        },
        stepsIn: ({ length }) => (length === 0 ? 0 : externalEvents + 1),
        limit: (sentence) => setState({ limits: [sentence] }),
        isOver: hasEnded,
        nextChange: next,
      },
      from,
      sink,
      isStopped,
    );
    if (result === null) return;
    const problem = result.problem?.replace(/^run /u, 'actor ') ?? null;
    if (problem !== null) setState({ damage: problem });
    else if (journals.hasChecksums)
      setState({ integrity: `Intact: the checksums of all ${grouped(result.count)} entries are correct.` });
    sink.end(problem);
  }

  function setState(state: { damage?: string; integrity?: string; limits?: readonly string[] }): void {
    const before = JSON.stringify(info());
    ({ damage = damage, integrity = integrity, limits = limits } = state);
    if (JSON.stringify(info()) !== before) changed();
  }

  function info(): InspectedRun {
    const { machine, startedAt, forkedFrom, waiting: wait } = summary;
    return {
      runId: id,
      kind: 'system',
      title: id,
      startedAt,
      status: status(),
      live: false,
      fidelity: [
        ...(hostOf(hosts, machine?.id, journals) === null ? [noMachineText(machine?.id ?? '')] : []),
        ...limits,
      ],
      summary: null,
      ...(machine !== null && { machine: machine.id }),
      ...(wait !== null && !isWritten && { waiting: waitOf(wait) }),
      ...(ending !== undefined && { ending }),
      ...(forkedFrom !== null && { forkedFrom: { runId: forkedFrom.actorId, seq: forkedFrom.seq } }),
      ...(integrity !== null && { integrity }),
      ...(damage !== null && { problem: damage }),
    };
  }

  return {
    get version() {
      return version;
    },
    info,
    async actorEntries() {
      const lines: string[] = [];
      for await (const piece of tailOf(journals, id).read()) lines.push(...piece);
      return lines.map((json, seq) => parsedEntry(placeOf(id), parseJson(json), seq));
    },
    charts: () => ({ charts: [], invoked: {} }),
    follow(from, sink) {
      let stopped = false;
      void read(from, sink, () => stopped);
      return () => {
        stopped = true;
        wake();
      };
    },
    update(run) {
      const before = JSON.stringify(info());
      const isNew = run.version !== version;
      version = run.version;
      isWritten = run.isWritten;
      if (isNew) [damage, integrity] = [null, null];
      if (run.ends !== null) {
        const { machine, ...read } = durableFormat.summarize(listedJournal({ ...run, isWritten: false }));
        const first = Object(run.ends.first) as StartEntry;
        // The start of a damaged journal may be anything, and `redact` may have replaced the time.
        const startMs = machine == null ? Number.NaN : clockStartOf(first);
        const startedAt = Number.isNaN(startMs) ? '' : new Date(startMs).toISOString();
        const named = typeof Object(first.machine).id === 'string' ? first.machine : null;
        summary = { ...NO_SUMMARY, ...read, machine: named, startedAt };
        ending = endingOf(summary, id, run);
      }
      const hasChanged = JSON.stringify(info()) !== before;
      if (isNew || hasChanged) wake();
      return hasChanged;
    },
    needsCount: () => false,
    wantsCount: () => false,
    count: async () => {},
  };
}

const noMachineText = (machine: string): string =>
  `The journal has no chart and no contexts. To see them, pass the durable machine "${machine}": --module FILE of the command, or the option hosts.`;

function waitOf({ sinceMs, dueAtMs, events, approvals = [] }: Waiting): ActorWait {
  const asked = approvals.map(({ question }) => `approval of ${JSON.stringify(question)}`);
  return {
    sinceMs,
    dueAtMs,
    for: [...asked, ...events.filter((type) => asked.length === 0 || type !== 'approval.given')],
  };
}

/** Returns how an actor ended, according to its last entries; undefined if it has not. */
function endingOf({ status }: Omit<ActorSummary, 'id'>, id: string, { ends }: JournalBounds): InspectedRun['ending'] {
  if (status !== 'done' && status !== 'error' && status !== 'stopped') return undefined;
  const last = (ends?.last ?? []) as readonly DurableEntry[];
  const end = last.find((entry) => entry.type === 'end');
  const moved = last.findLast((entry) => entry.type === 'transition' && entry.actor === '' && entry.target.length > 0);
  const names = moved?.type === 'transition' ? moved.target.map((state) => state.split('.').at(-1) ?? state) : [];
  return {
    states: names.join(', '),
    failure:
      status === 'error' ? `${id} failed: ${errorText(readableValue(end?.type === 'end' ? end.error : null))}` : '',
    durationMs: last.at(-1)?.atMs ?? 0,
  };
}
