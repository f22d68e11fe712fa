import { useState } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { capitalize, formatDelay, formatDuration, humanize, pluralize, startedText } from '../../fold/format.ts';
import { awaitedNames, durationOf, endedText, namesText } from '../../fold/run-list.ts';
import { isOver } from '../../fold/step-title.ts';
import { type MachineWaits, systemWaits } from '../../fold/system-waits.ts';
import { excerpt } from '../../fold/text.ts';
import { LinkButton } from '../../link-button.tsx';
import { ForkMark, RunFacts } from '../header/run-details.tsx';
import type { PanelProps } from '../panel.tsx';
import { Countdown } from './countdown.tsx';
import { ExportDialog } from './export-dialog.tsx';

const WORDS: Readonly<Record<string, readonly [string, string]>> = {
  running: ['Running', 'running'],
  waiting: ['Waiting', 'waiting'],
  interrupted: ['Interrupted: its process ended before the actor did', 'waiting'],
  damaged: ['Damaged', 'bad'],
  degraded: ['Failed', 'bad'],
  cancelled: ['Stopped', ''],
  disconnected: ['Disconnected: its program has ended or closed the connection', 'waiting'],
};

/** The head of a system of another program, or of a durable actor: its status, what it waits for, and how much happened. */
export function SystemHead({ inspector, view }: PanelProps) {
  const { run, fold, charts, count } = view;
  const [isExporting, setExporting] = useState(false);
  const isOpen = !isOver(run) && charts !== null && count > 0;
  const waits = isOpen ? systemWaits(fold, charts, count - 1) : null;
  const problem = view.end?.problem ?? run.problem;
  const [word, tone] = run.isIdle ? ['Waiting', 'waiting'] : (WORDS[run.status] ?? [capitalize(endedText(run)), '']);
  const events = fold.actors.filter(({ machine }) => machine !== null).flatMap((actor) => actor.events);
  const ignored = events.filter((event) => event.ignored !== null).length;
  const { seqs, machines } = fold.transitions;
  const figures = [
    `${pluralize(events.length - ignored, 'event')} handled`,
    ...(ignored > 0 ? [`${ignored} ignored`] : []),
    pluralize(seqs.length, 'transition'),
    run.machine === undefined ? pluralize(machines.length, 'machine') : `actor of ${excerpt(run.machine, 80)}`,
    // While it waits, the trace has the time.
    ...(!isOver(run) || count === 0
      ? []
      : [formatDuration(durationOf(run, Date.now()) ?? fold.timeLine.atMs(count - 1))]),
  ];
  return (
    <div class="run-head system">
      <h1 class="verbatim">{excerpt(run.title, 300) || 'Untitled'}</h1>
      <p class="verdict" role="status">
        <b class={`word ${tone}`}>{word}</b>
        {run.waiting && ` since ${startedText(run.waiting.sinceMs)}`} <ForkMark inspector={inspector} run={run} />
      </p>
      {problem && (
        <p class="verbatim" role="alert">
          {excerpt(problem, 400)}
        </p>
      )}
      {run.ending?.failure && (
        <p class="verbatim">
          {run.status !== 'degraded' && 'Earlier: '}
          {excerpt(run.ending.failure, 400)}
        </p>
      )}
      {waits !== null && <Waits run={run} waits={waits} />}
      {run.machine !== undefined && run.fidelity.length > 0 && (
        <p class="muted">{excerpt(run.fidelity.join(' '), 400)}</p>
      )}
      {isExporting && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={() => setExporting(false)} />}
      <p class="figures dotted">
        {figures.map((figure) => (
          <span key={figure}>{figure}</span>
        ))}
        {run.machine !== undefined && inspector.connection.value === 'open' && (
          <LinkButton aria-haspopup="dialog" onClick={() => setExporting(true)}>
            Download…
          </LinkButton>
        )}
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
  readonly run: InspectedRun;
  readonly waits: readonly MachineWaits[];
}

function Waits({ run: { startedAt, machine, waiting }, waits }: WaitsProps) {
  const known = waiting === undefined ? [] : awaitedNames(waiting);
  const events = [...new Set([...known, ...waits.flatMap((one) => one.events)])];
  const actors = [...new Set(waits.flatMap((one) => one.actors))].map(humanize);
  // Delays may pause while no process holds the actor.
  const isPaused = waiting?.dueAtMs === null;
  const startMs = isPaused ? Number.NaN : Date.parse(startedAt);
  const timers = waits.flatMap((one) => one.timers);
  return (
    <ul class="waits">
      {events.length > 0 && (
        <li class="verbatim">
          {machine === undefined ? 'Waits for events from its program' : 'Waits for'}: {namesText(events)}
        </li>
      )}
      {actors.length > 0 && <li class="verbatim">Waits for actors: {namesText(actors)}</li>}
      {timers.map(({ delay, dueMs }) => (
        <li key={delay}>
          Timer <span class="verbatim">{excerpt(formatDelay(delay), 60)}</span>{' '}
          {dueMs === null || !Number.isFinite(startMs) ? 'fires' : <Firing toMs={startMs + dueMs} />}
        </li>
      ))}
      {waits.length === 0 && waiting?.dueAtMs != null && (
        <li>
          Its next timer <Firing toMs={waiting.dueAtMs} />
        </li>
      )}
      {waits.length > 0 && events.length + actors.length + timers.length === 0 && (
        <li class="muted">Waits for nothing in its charts.</li>
      )}
    </ul>
  );
}

const Firing = ({ toMs }: { readonly toMs: number }) =>
  toMs <= Date.now() ? (
    <>was due {startedText(toMs)}</>
  ) : (
    <>
      fires
      <Countdown toMs={toMs} />
    </>
  );
