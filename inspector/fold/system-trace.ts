import type { RunCharts } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { ActorRecord } from './actor-log.ts';
import { callIndexOf } from './call-index.ts';
import { ancestorsOf, chartIndexOf, lastName } from './chart-index.ts';
import { humanizeEvent } from './explain.ts';
import { humanizeGuard, pluralize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { type AttemptSpan, type CapabilitySpan, usageOf } from './spans.ts';
import { delayWords, machineWaits } from './system-waits.ts';
import { excerpt, jsonExcerpt } from './text.ts';
import { callRows, callTrouble, plainRow, toolRow } from './trace-items.ts';
import { NO_TROUBLE, type TraceRow } from './trace-row.ts';

interface System {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
  readonly count: number;
  readonly isOver: boolean;
}

/** The actors of an observed system: the states that each machine entered, the events that it received, and what it waits for. */
export function systemTrace(system: System): readonly TraceRow[] {
  const { attempts, capabilities } = system.fold.spans;
  const callsOf = byActor(attempts);
  const toolsOf = byActor(capabilities);
  const shown = system.fold.actors.filter(({ isCall }) => !isCall);
  return shown.map((actor) => {
    const { path, from, end } = actor;
    // A later actor may have the same path.
    const isOwn = (span: { readonly from: number }): boolean =>
      span.from >= from && span.from <= (end?.seq ?? system.count);
    return actorRow(system, actor, (callsOf.get(path) ?? []).filter(isOwn), (toolsOf.get(path) ?? []).filter(isOwn));
  });
}

function byActor<Span extends { readonly actor: string | null }>(spans: readonly Span[]): ReadonlyMap<string, Span[]> {
  const found = new Map<string, Span[]>();
  for (const span of spans) {
    const known = found.get(span.actor ?? '');
    if (known === undefined) found.set(span.actor ?? '', [span]);
    else known.push(span);
  }
  return found;
}

function actorRow(
  system: System,
  actor: ActorRecord,
  calls: readonly AttemptSpan[],
  tools: readonly CapabilitySpan[],
): TraceRow {
  const { path, name, machine, from, end, events: received } = actor;
  const isOpen = end === null && !system.isOver;
  const ignored = received.filter((event) => event.ignored !== null).length;
  const notes = [
    machine === null ? 'activity' : '',
    calls.length > 0 ? pluralize(calls.length, 'model call') : '',
    tools.length > 0 ? pluralize(tools.length, 'tool call') : '',
    received.length > 0 ? `${pluralize(received.length - ignored, 'event')} handled` : '',
    ignored > 0 ? `${ignored} ignored` : '',
  ];
  const isFailed = end?.status === 'error';
  const hasRows = machine !== null || received.length + actor.notes.length > 0;
  return {
    // Several actors may start in one step.
    id: `actor${from}${path}`,
    kind: 'actor',
    title: excerpt((path === '' && machine) || name, 80),
    note: notes.filter(Boolean).join(', '),
    text: isFailed ? errorText(end.error) : '',
    status: isFailed ? 'failed' : end?.status === 'done' ? 'done' : isOpen ? 'open' : 'ended',
    from,
    to: end?.seq ?? (isOpen ? null : system.count - 1),
    usage: calls.length === 0 ? null : usageOf(calls, null),
    selection: hasRows ? null : { kind: 'entry', from, to: from },
    trouble: { ...NO_TROUBLE, ...callTrouble(calls), tools: tools.filter(({ error }) => error !== null).length },
    ...(hasRows && { children: () => partsOf(system, actor, calls, tools) }),
  };
}

function errorText(error: unknown): string {
  const { message = jsonExcerpt(error, 200) } = Object(error) as { readonly message?: string };
  return `${message}`;
}

function partsOf(
  system: System,
  actor: ActorRecord,
  calls: readonly AttemptSpan[],
  tools: readonly CapabilitySpan[],
): readonly TraceRow[] {
  const { machine, end, events } = actor;
  const { fold, isOver, count } = system;
  // A later actor may have the same chart.
  const positions = (machine === null ? [] : fold.transitions.positionsOf(machine)).filter(
    ({ since }) => since >= actor.from && since <= (end?.seq ?? count),
  );
  const states = positions.map(({ targets, since }, index): TraceRow => {
    const next = positions[index + 1]?.since ?? end?.seq ?? (isOver ? count - 1 : null);
    return {
      ...plainRow('state', since, targets.map(lastName).join(', ') || (machine ?? '')),
      note: index === 0 ? startNote(system, machine ?? '', targets) : '',
      status: next === null ? 'open' : 'done',
      to: next,
    };
  });
  const received = events.map(
    ({ seq, type, sender, ignored }): TraceRow => ({
      ...plainRow('event', seq, humanizeEvent(type)),
      note: humanizeEvent(type) === type ? eventNote(sender, ignored !== null) : '',
      text:
        ignored === null
          ? ''
          : ignored.length === 0
            ? 'ignored'
            : `ignored: ${ignored.map(humanizeGuard).join(', ')} did not hold`,
      status: ignored !== null ? 'noted' : type.startsWith('xstate.error.') ? 'failed' : 'done',
    }),
  );
  const notes = actor.notes.map(
    ({ seq, title, text, isFailure }): TraceRow => ({
      ...plainRow('event', seq, excerpt(title, 80)),
      text: excerpt(text, 200),
      status: isFailure ? 'failed' : 'done',
    }),
  );
  const waiting = machine === null || end !== null ? [] : waitRow(system, machine);
  const { numbers } = callIndexOf(fold);
  const traced = { ...system, numberOf: (call: AttemptSpan) => numbers.get(call) ?? 0 };
  const made = [...callRows(traced, calls, end?.seq ?? count - 1), ...tools.map((tool) => toolRow(traced, tool))];
  // The states and events of an attempt repeat what its calls show.
  const others = made.length > 0 ? [] : [...states, ...received];
  return [...[...others, ...notes, ...made].sort((one, other) => one.from - other.from), ...waiting];
}

/** Where a machine started, if it had left that state before it was observed. */
function startNote({ charts }: System, machine: string, targets: readonly string[]): string {
  const chart = chartIndexOf(charts).chart(machine);
  const start = chart?.state(chart.root?.initial ?? '');
  if (chart === undefined || start === undefined) return '';
  const isIn = targets.some((id) => ancestorsOf(chart, id).some((around) => around.id === start.id));
  return isIn ? '' : `first recorded; started in ${excerpt(start.name, 60)}`;
}

/** Omits the word "event" if it was ignored, because only events can be ignored. */
const eventNote = (sender: string | null, isIgnored: boolean): string =>
  [isIgnored ? '' : 'event', sender === null ? '' : `from ${sender}`].filter(Boolean).join(' ');

/** The events and delays that would lead on from the states that a machine is in. */
function waitRow({ fold, charts, isOver, count }: System, machine: string): readonly TraceRow[] {
  const chart = chartIndexOf(charts).chart(machine);
  const position = fold.transitions.positionsOf(machine).at(-1);
  if (chart === undefined || position === undefined) return [];
  const { events = [], timers = [], ends = [] } = machineWaits(fold, chart, count - 1) ?? {};
  const words = [...events.map(humanizeEvent), ...delayWords(timers), ...ends.map((name) => `the end of ${name}`)];
  if (words.length === 0) return [];
  return [
    {
      ...plainRow('wait', position.since, `${isOver ? 'Waited' : 'Waiting'} for ${words.join(', ')}`),
      id: `wait${machine}`,
      status: isOver ? 'ended' : 'open',
      to: isOver ? count - 1 : null,
      selection: {
        kind: 'state',
        from: position.since,
        to: count - 1,
        ...(position.targets[0] && { stateId: position.targets[0] }),
      },
    },
  ];
}
