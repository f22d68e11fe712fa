import { receivedBy } from '../../fold/actor-log.ts';
import { capitalize, formatDelay, formatDuration, humanize, pluralize } from '../../fold/format.ts';
import { durationOf, endedText } from '../../fold/run-list.ts';
import { type MachineWaits, systemWaits } from '../../fold/system-waits.ts';
import { excerpt } from '../../fold/text.ts';
import { RunFacts } from '../header/run-details.tsx';
import type { PanelProps } from '../panel.tsx';
import { Countdown } from './countdown.tsx';

const WORDS: Readonly<Record<string, readonly [string, string]>> = {
  running: ['Running', 'running'],
  degraded: ['Failed', 'bad'],
  cancelled: ['Stopped', ''],
  disconnected: ['Disconnected: its program has ended or closed the connection', 'waiting'],
};

const MAX_LISTED = 12;

/** The head of a system of another program: its status, what it waits for, and how much happened. */
export function SystemHead({ inspector, view }: PanelProps) {
  const { run, fold, charts, count } = view;
  const waits = run.status === 'running' && charts !== null && count > 0 ? systemWaits(fold, charts, count - 1) : null;
  const [word, tone] = run.isIdle ? ['Waiting', 'waiting'] : (WORDS[run.status] ?? [capitalize(endedText(run)), '']);
  const events = fold.actors.filter(({ machine }) => machine !== null).flatMap(receivedBy);
  const ignored = events.filter((event) => event.ignored !== null).length;
  const { seqs, machines, positionsOf } = fold.transitions;
  const starts = machines.flatMap(positionsOf).filter(({ isInitial }) => isInitial).length;
  const figures = [
    `${pluralize(events.length - ignored, 'event')} handled`,
    ...(ignored > 0 ? [`${ignored} ignored`] : []),
    pluralize(seqs.length - starts, 'transition'),
    pluralize(machines.length, 'machine'),
    // While it waits, the trace has the time.
    ...(run.status === 'running' || count === 0
      ? []
      : [formatDuration(durationOf(run, Date.now()) ?? fold.timeLine.atMs(count - 1))]),
  ];
  return (
    <div class="run-head system">
      <h1 class="verbatim">{excerpt(run.title, 300) || 'Untitled'}</h1>
      <p class="verdict" role="status">
        <b class={`word ${tone}`}>{word}</b>
      </p>
      {run.ending?.failure && (
        <p class="verbatim">
          {run.status !== 'degraded' && 'Earlier: '}
          {excerpt(run.ending.failure, 400)}
        </p>
      )}
      {waits !== null && <Waits startedAt={run.startedAt} waits={waits} />}
      <p class="figures dotted">
        {figures.map((figure) => (
          <span key={figure}>{figure}</span>
        ))}
      </p>
      {run.fidelity.length > 0 && (
        <details>
          <summary>Limits of this recording</summary>
          <RunFacts inspector={inspector} run={run} />
        </details>
      )}
    </div>
  );
}

interface WaitsProps {
  /** ISO 8601. */
  readonly startedAt: string;
  readonly waits: readonly MachineWaits[];
}

function Waits({ startedAt, waits }: WaitsProps) {
  const events = [...new Set(waits.flatMap((machine) => machine.events))];
  const actors = [...new Set(waits.flatMap((machine) => machine.actors))].map(humanize);
  const timers = waits.flatMap((machine) => machine.timers);
  const names = (all: readonly string[]): string =>
    `${all
      .slice(0, MAX_LISTED)
      .map((name) => excerpt(name, 60))
      .join(', ')}${all.length > MAX_LISTED ? ` and ${all.length - MAX_LISTED} more` : ''}`;
  const startMs = Date.parse(startedAt);
  return (
    <ul class="waits">
      {events.length > 0 && <li class="verbatim">Waits for events from its program: {names(events)}</li>}
      {actors.length > 0 && <li class="verbatim">Waits for actors: {names(actors)}</li>}
      {timers.map(({ delay, dueMs }) => (
        <li key={delay}>
          Timer <span class="verbatim">{excerpt(formatDelay(delay), 60)}</span> fires
          {dueMs !== null && Number.isFinite(startMs) && <Countdown toMs={startMs + dueMs} />}
        </li>
      ))}
      {events.length + actors.length + timers.length === 0 && <li class="muted">Waits for nothing in its charts.</li>}
    </ul>
  );
}
