import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { type ActorEntry, endReportedBy, parentPath } from './actor-entries.ts';
import type { ActorNote, ActorRecord, ReceivedEvent } from './actor-log.ts';
import { chartIndexOf } from './chart-index.ts';
import { humanizeEvent, ignoredWords, type Transition } from './explain.ts';
import { pluralize } from './format.ts';
import { groupBy } from './group-by.ts';
import type { LoadedEntries, RunFold } from './run-fold.ts';
import { countUpTo, lastUpTo } from './sorted.ts';
import { type AttemptSpan, type CapabilitySpan, usageOf } from './spans.ts';
import { lastEntryOfStep, stepStarts } from './system-step.ts';
import { machineWaits } from './system-waits.ts';
import type { FieldDifference } from './system-words.ts';
import {
  actorName,
  answerText,
  answerWords,
  contextDifferences,
  effectWords,
  errorText,
  eventMembers,
  eventWords,
  guardsText,
  isInitial,
  lateText,
  movesText,
  statesText,
} from './system-words.ts';
import { excerpt, jsonExcerpt, lowerFirst } from './text.ts';
import { callRows, forkRow, plainRow, toolRow } from './trace-items.ts';
import { lazy, type TraceRow } from './trace-row.ts';
import { INIT } from './transition-log.ts';

interface System extends LoadedEntries {
  readonly count: number;
  readonly isOver: boolean;
}

interface Traced extends System {
  /** The entry with which a fork continues what it has copied; null for others. */
  readonly forkedAt: number | null;
  readonly starts: readonly number[];
  readonly childrenOf: (actor: ActorRecord) => readonly ActorRecord[];
  readonly callsOf: (actor: ActorRecord) => readonly AttemptSpan[];
  readonly toolsOf: (actor: ActorRecord) => readonly CapabilitySpan[];
}

/** The history of an actor of any machine: its steps and calls in the order of time, with those of its children inside. */
export function systemTrace(system: System): readonly TraceRow[] {
  const { actors, spans } = system.fold;
  const byPath = groupBy(actors, ({ path }) => path);
  /** The latest of several actors at one path that had started by this entry. */
  const ownerOf = (path: string, from: number): ActorRecord | undefined =>
    byPath.get(path)?.findLast((one) => one.from <= from) ?? byPath.get(path)?.[0];
  const children = groupBy(
    actors.filter(({ path, isCall }) => path !== '' && !isCall),
    ({ path, from }) => ownerOf(parentPath(path), from),
  );
  const calls = groupBy(spans.attempts, ({ actor, from }) => ownerOf(actor ?? '', from));
  const tools = groupBy(spans.capabilities, ({ actor, from }) => ownerOf(actor ?? '', from));
  const traced: Traced = {
    ...system,
    forkedAt: system.fold.timeLine.forkStart,
    starts: stepStarts(system.fold),
    childrenOf: (actor) => children.get(actor) ?? [],
    callsOf: (actor) => calls.get(actor) ?? [],
    toolsOf: (actor) => tools.get(actor) ?? [],
  };
  return actors.filter(({ path }) => path === '').flatMap((root) => partsOf(traced, root));
}

/** The rows of an actor: its steps, its calls, its children, and whatever else is recorded about it. */
function partsOf(system: Traced, actor: ActorRecord): readonly TraceRow[] {
  const [calls, tools] = [system.callsOf(actor), system.toolsOf(actor)];
  const made = [
    ...callRows(system, calls, actor.end?.seq ?? system.count - 1),
    ...tools.map((tool) => toolRow(system, tool)),
  ];
  const rows = [
    // The steps of an attempt repeat what its calls show.
    ...(made.length > 0 ? [] : stepRows(system, actor)),
    ...timerRows(system, actor),
    ...actor.notes.flatMap((note, at) => {
      // The repair says that it continues.
      const isRepaired = note.type === 'resumed' && actor.notes[at - 1]?.type === 'retried';
      return isRepaired ? [] : noteRow(system, actor, note, actor.notes[at + 1]);
    }),
    ...made,
    // The rows of what an actor without a chart received follow its row, in order of time.
    ...system
      .childrenOf(actor)
      .flatMap((child) => [childRow(system, child), ...(hasOwnRows(system, child) ? [] : partsOf(system, child))]),
  ];
  rows.sort((one, other) => one.from - other.from);
  const causeOf = ({ text }: TraceRow, at: number): string | undefined => {
    const cause = rows.slice(0, at).findLast((row) => row.status === 'failed' && row.text === text);
    return cause?.kind === 'end' ? 'before the retry' : cause?.title;
  };
  return rows.map((row, at) =>
    row.kind === 'end' && row.status === 'failed' ? { ...row, sameErrorAs: causeOf(row, at) } : row,
  );
}

/** Whether the row of an actor contains others. */
const hasOwnRows = (system: Traced, actor: ActorRecord): boolean =>
  actor.machine !== null || system.callsOf(actor).length + system.toolsOf(actor).length > 0;

function childRow(system: Traced, child: ActorRecord): TraceRow {
  const { path, machine, from, end, started } = child;
  const [calls, tools] = [system.callsOf(child), system.toolsOf(child)];
  const isOpen = end === null && !system.isOver;
  const isFailed = end?.status === 'error';
  const hasRows = hasOwnRows(system, child);
  const name = actorName(system, path);
  const begun = started ?? from;
  const { forkedAt } = system;
  const isRepeated = forkedAt !== null && machine === null && begun < forkedAt && (end === null || end.seq > forkedAt);
  const isRetry = started === null && (system.fold.entries.typeOf(from) as string) === 'retried';
  const about = [
    machine !== null ? 'machine' : child.child !== null ? 'child process' : name === 'call' ? '' : 'call',
    isRepeated ? 'repeated in this fork' : isRetry ? 'retry' : '',
    calls.length > 0 ? pluralize(calls.length, 'model call') : '',
    tools.length > 0 ? pluralize(tools.length, 'tool call') : '',
  ];
  return {
    // Several actors may start in one step.
    id: `actor${from}${path}`,
    kind: hasRows ? 'actor' : 'activity',
    title: excerpt(name, 80),
    note: about.filter(Boolean).join(', '),
    get text() {
      if (isFailed) return errorText(end.error);
      return answerText(system.log, child) || (end?.output == null ? '' : jsonExcerpt(end.output, 120));
    },
    status: isFailed ? 'failed' : end?.status === 'done' ? 'done' : isOpen ? 'open' : 'ended',
    from: isRepeated ? forkedAt : begun,
    ...(isRepeated && {
      early: { from: begun, to: forkedAt - 1 },
      within: { from: begun, to: end?.seq ?? system.count - 1 },
    }),
    to: end?.seq ?? (isOpen ? null : system.count - 1),
    usage: calls.length === 0 ? null : usageOf(calls, null),
    // The first step inside a machine begins with the same entry.
    selection:
      machine !== null
        ? null
        : { kind: 'entry', from: begun, to: end?.seq ?? system.count - 1, ...(started === null && { actor: path }) },
    ...(hasRows && { children: () => partsOf(system, child) }),
  };
}

/** What a machine does with one event, including the transitions that follow at once. */
interface Step {
  readonly from: number;
  readonly event: string;
  readonly received: ReceivedEvent | null;
  readonly moves: number[];
}

/** The steps of an actor. A machine raises the ends of its states itself, so they belong to the step that reached them. */
function stepsOf({ machine, from, events, moves }: ActorRecord, { entries }: RunFold): readonly Step[] {
  const steps: Step[] = machine === null ? [] : [{ from, event: INIT, received: null, moves: [] }];
  const isEnd = (event: string): boolean => event.startsWith('xstate.done.state.');
  let next = 0;
  const receiveUpTo = (seq: number): void => {
    for (let event = events[next]; event !== undefined && event.seq <= seq; event = events[next]) {
      steps.push({ from: event.seq, event: event.type, received: event, moves: [] });
      next += 1;
    }
  };
  for (const { seq, event } of moves) {
    receiveUpTo(seq);
    const last = steps.at(-1);
    const isSame = last !== undefined && (last.event === event || isEnd(event));
    if (isSame && entries.stepOf(last.from).to > seq) last.moves.push(seq);
    else steps.push({ from: seq, event, received: null, moves: [seq] });
  }
  receiveUpTo(Number.POSITIVE_INFINITY);
  return steps;
}

function stepRows(system: Traced, actor: ActorRecord): readonly TraceRow[] {
  const { fold, count } = system;
  const steps = stepsOf(actor, fold);
  return steps.flatMap((step, index) => {
    const { from, event, received, moves } = step;
    const isEndOfCall = received !== null && moves.length === 0 && endReportedBy(actor.path, event) !== null;
    // The row of the call shows its end.
    if (isEndOfCall) return [];
    const to = Math.min(lastEntryOfStep(fold, from, count), (steps[index + 1]?.from ?? count) - 1);
    // Recorded states are known after an external event with all that it caused: the last of its rows shows what changed.
    const until = Math.min(fold.entries.stepOf(from).to, steps[index + 1]?.from ?? count, count) - 1;
    const next = steps.slice(index + 1).find((later) => later.moves.length > 0)?.from ?? actor.end?.seq;
    const stays = next ?? (system.isOver ? count - 1 : null);
    const row = stepRow(system, actor, step, Math.max(from, to), until);
    return [moves.length > 0 || event === INIT ? Object.assign(row, { stays }) : row];
  });
}

/** `until`: the entry after which the context is compared. */
function stepRow(system: Traced, actor: ActorRecord, step: Step, to: number, until: number): TraceRow {
  const { from, event, received, moves } = step;
  const { fold, log, charts } = system;
  const isStart = event === INIT;
  const isIgnored = actor.machine !== null && received !== null && received.ignored !== null;
  const transitions = () =>
    moves.map((seq) => log.entry(seq)).filter((entry): entry is Transition => entry.type === 'transition');
  const moved = lazy(() =>
    isStart && moves.length === 0 ? startText(system, actor) : movesText({ charts, fold }, transitions()),
  );
  const note = lazy(() =>
    [
      isStart ? inputText(actor) : lateText(fold, actor.path, event, from),
      actor.machine === null && actor.path !== '' ? `to ${actorName(system, actor.path)}` : '',
      received === null || received.sender !== null ? '' : payloadText(log.entry(from)),
      received?.sender == null || endReportedBy(actor.path, event) !== null ? '' : `from ${received.sender}`,
      isIgnored ? `ignored: ${ignoredWords(received.ignored ?? [])}` : '',
      guardsText(transitions().flatMap(({ candidates }) => candidates)),
      isStart ? '' : contextText(contextDifferences(fold, actor.path, from - 1, until)),
    ]
      .filter(Boolean)
      .join(' · '),
  );
  return {
    ...plainRow(isIgnored ? 'ignored' : 'step', from, eventWords(system, actor.path, event)),
    id: `step${from}${actor.path}`,
    ...(system.starts.length > 1 && (isStart || moves.length > 0) && { number: countUpTo(system.starts, from) }),
    get moves() {
      return moved();
    },
    get note() {
      return note();
    },
    status: isIgnored ? 'ended' : /^xstate\.error\./u.test(event) ? 'failed' : 'done',
    to,
    selection: { kind: 'entry', from, to },
  };
}

/** The timers of an actor that run or have fired. A cancelled one is listed with the step that started it. */
function timerRows({ fold, charts, count, isOver }: Traced, { path, machine, from, end }: ActorRecord) {
  const chart = end === null ? chartIndexOf(charts).chart(machine ?? '') : undefined;
  const waits = chart && machineWaits(fold, chart, count - 1);
  const timers = fold.transitions.timersOf(path).filter(({ seq }) => seq >= from && seq < (end?.seq ?? count));
  return timers.flatMap(({ seq, event, dueMs, next }): readonly TraceRow[] => {
    const running = waits?.timers.find(
      (timer) => next === null && timer.dueMs === dueMs && event.startsWith(`xstate.after.${timer.delay}.`),
    );
    if (dueMs < 0 || (running === undefined && next?.dueMs !== -1)) return [];
    const to = next?.seq ?? (isOver ? count - 1 : null);
    return [
      {
        ...plainRow('wait', seq, `Timer ${excerpt(humanizeEvent(event).replace(/^after /u, ''), 80)}`),
        note: running === undefined ? 'fired' : `→ ${running.leadsTo}`,
        status: to === null ? 'open' : 'done',
        to,
        ...(running !== undefined && { dueMs }),
        within: { from: seq, to: seq },
      },
    ];
  });
}

function payloadText(entry: JournalEntry): string {
  const event = entry.type === 'delivery' ? entry.event : { type: '' };
  if (event.type === 'approval.given') return answerWords(event);
  return eventMembers(event)
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => `${excerpt(name, 40)}: ${jsonExcerpt(value, 60)}`)
    .join(', ');
}

const inputText = ({ notes, from }: ActorRecord): string => {
  const text = notes.find(({ type, seq }) => type === 'start' && seq === from)?.text ?? '';
  return text === '' ? '' : `input ${text}`;
};

/** The states in which a machine started, or in which it was when it was first observed. */
function startText({ fold, charts }: Traced, { machine, from }: ActorRecord): string {
  const chart = chartIndexOf(charts).chart(machine ?? '');
  const first = fold.transitions.positionsOf(machine ?? '').find(({ since }) => since >= from);
  if (first === undefined || !first.isInitial) return '';
  const words = statesText(chart, fold.charts.get(machine ?? '')?.of ?? machine ?? '', first.targets);
  return first.targets.some((id) => isInitial(chart, id)) ? `in ${words}` : `first recorded in ${words}`;
}

/** `Entry action of failed`: the effect whose error has ended an actor; null if none has. */
export function thrownBy(loaded: LoadedEntries, { machine, notes, end }: ActorRecord): string | null {
  const thrown =
    end?.status === 'error' ? notes.findLast(({ effect, isFailure }) => effect !== undefined && isFailure) : undefined;
  return thrown === undefined ? null : effectWords(loaded, machine, thrown.seq);
}

/** The failed call after which an action threw and ended an actor; undefined if there is none. */
export function rootCauseOf(loaded: LoadedEntries, actor: ActorRecord): ActorRecord | undefined {
  if (actor.path !== '' || thrownBy(loaded, actor) === null) return undefined;
  const { actors, entries, transitions } = loaded.fold;
  const to = actor.end?.seq ?? 0;
  const { from } = entries.stepOf(lastUpTo(transitions.seqs, to) ?? 0);
  return actors.findLast(
    ({ machine, end }) => machine === null && end?.status === 'error' && end.seq >= from && end.seq <= to,
  );
}

function noteRow(
  system: Traced,
  { end, path, machine, child }: ActorRecord,
  note: ActorNote,
  next?: ActorNote,
): readonly TraceRow[] {
  const { type, seq, title, text, isFailure, effect } = note;
  if (seq === system.forkedAt) return [forkRow(seq)];
  // An actor that a process opens only to stop it does not continue. The row of its end says that it was stopped, or why it failed.
  const isOpened = type === 'resumed' && next?.seq === seq + 1 && (next.type === 'stopped' || next.type === 'retried');
  const isStop = type === 'stopped' || isOpened;
  const isEnd = type === 'failed' && path === '' && next?.type === 'end' && text === next.text;
  // The row of a child process says that it was started, or stopped.
  const isChild = child !== null && effect !== undefined && !isFailure;
  if (type === 'start' || isStop || isEnd || isChild) return [];
  const words = type === 'effect' ? effectWords(system, machine, seq) : excerpt(title, 80);
  const row = plainRow(type === 'end' ? 'end' : isFailure ? 'event' : 'aside', seq, words);
  // The row of its step shows what it waits for.
  const isParked = type === 'closed' && text !== '';
  return [
    {
      ...row,
      text: isParked
        ? 'saved until an event or a timer continues it'
        : type === 'retried'
          ? retriedText(system, seq)
          : excerpt(text, 200),
      status: isFailure ? 'failed' : 'done',
      // Its error is known once its actor has failed.
      ...(type === 'effect' && isFailure && end !== null && { selection: { kind: 'entry', from: seq, to: end.seq } }),
    },
  ];
}

/** `entry action of failed: notify`, by the number of the effect. */
function actionText(system: LoadedEntries, effect: number | undefined): string {
  const [found] = system.fold.actors.flatMap(({ machine, notes }) =>
    notes.flatMap((note) => (note.type === 'effect' && note.effect === effect ? { machine, seq: note.seq } : [])),
  );
  return found === undefined ? 'an action' : lowerFirst(effectWords(system, found.machine, found.seq));
}

/** What failed in the step that begins with an entry: a call, an action or an event, in words. */
export function failedPart(system: LoadedEntries, from: number) {
  const entry = system.log.entry(from) as unknown as ActorEntry;
  const call = (path: string) => ({ kind: 'call', text: excerpt(actorName(system, path), 80) }) as const;
  if (entry.type === 'failed' && 'effect' in entry)
    return { kind: 'action', text: actionText(system, entry.effect) } as const;
  if (entry.type !== 'delivery') return call(Object(entry).actor);
  const ended = endReportedBy(entry.actor, entry.event.type);
  if (ended !== null) return call(ended.path);
  return { kind: 'event', text: excerpt(eventWords(system, entry.actor, entry.event.type), 80) } as const;
}

/** What failed in the step that an entry withdraws, and the result that replaces that of a skipped call: `charge, with "paid by hand"`. */
export function retriedText(system: LoadedEntries & Pick<System, 'count'>, seq: number): string {
  const at = (from: number): ActorEntry => system.log.entry(Math.min(from, system.count - 1)) as unknown as ActorEntry;
  const { failed, isSkipped } = at(seq) as Extract<ActorEntry, { type: 'retried' }>;
  const { kind, text } = failedPart(system, failed);
  const { output } = Object(Object(kind === 'call' && isSkipped && at(seq + 1)).event);
  return `${text}${output === undefined ? '' : `, with ${jsonExcerpt(output, 120)}`}`;
}

const MAX_FIELDS = 3;

export function contextText(fields: readonly FieldDifference[]): string {
  const shown = fields
    .slice(0, MAX_FIELDS)
    .map(({ path, before, after }) => `${excerpt(path, 60)}: ${jsonExcerpt(before, 40)} → ${jsonExcerpt(after, 60)}`);
  return [...shown, ...(fields.length > MAX_FIELDS ? [`${fields.length - MAX_FIELDS} more`] : [])].join(', ');
}
