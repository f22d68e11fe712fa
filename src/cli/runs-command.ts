import { readRun } from '../chain/journal/run-journal.ts';
import { queueText } from '../chain/presentation/entry-words.ts';
import { newestFirst, whereOf } from '../durable/journals/journal-store.ts';
import { figuresIn } from '../inspection/run-figures.ts';
import { count, cutEnd, grouped, oneLine, printableJson } from '../internal/printable.ts';
import { olderRuns } from './delete-runs.ts';
import {
  type FindFlags,
  hostedActors,
  type ListedRun,
  listAll,
  listedRun,
  NO_RUNS,
  shortRunIds,
  statusWord,
} from './find-run.ts';
import { openExistingJournals } from './open-journals.ts';
import { colorsFor, columnsOf, localTime, wrapLines } from './screen.ts';

export interface RunsFlags extends FindFlags {
  readonly json?: boolean;
  readonly limit?: number;
  /** Each `name=value`. */
  readonly where?: readonly string[];
  /** One of `STATUS_WORDS`. */
  readonly status?: string;
  /** Milliseconds. */
  readonly olderThan?: number;
}

const GAP = 2;
/** If fewer characters are left for the request, it gets a line of its own. */
const MIN_REQUEST_CHARS = 24;
/** On a terminal. */
const DEFAULT_LIMIT = 20;

export async function runsCommand(flags: RunsFlags, stdout: NodeJS.WriteStream = process.stdout): Promise<string> {
  const all = await listEverywhere(flags);
  const old = flags.olderThan === undefined ? all : olderRuns(all, flags.olderThan);
  const chosen = old.filter(({ status }) => flags.status === undefined || statusWord(status) === flags.status);
  const limit = flags.limit ?? (stdout.isTTY && !flags.json ? DEFAULT_LIMIT : Number.POSITIVE_INFINITY);
  const runs = chosen.slice(0, limit);
  if (flags.json) return `${printableJson(JSON.stringify(runs, null, 2))}\n`;
  if (all.length === 0) return `${flags.where ? 'No run or actor matches.' : NO_RUNS}\n`;
  if (old.length === 0) return 'No run or actor is that old.\n';
  if (runs.length === 0) return `No run or actor is ${flags.status}.\n`;
  const { dim } = colorsFor(stdout);
  const figures = stdout.isTTY ? await figuresOf(runs, flags) : runs.map(() => UNKNOWN);
  const lines = rowsOf(runs, figures, shortRunIds(all), stdout);
  const interrupted = runs.filter(({ status }) => status === 'interrupted');
  const isActor = (run: ListedRun): boolean => run.machine !== undefined;
  const module = interrupted.some(isActor) && !flags.module ? ', for an actor with --module FILE' : '';
  const waiting = runs.filter((run) => run.waiting !== null && !isActor(run)).length;
  if (interrupted.length > 0)
    lines.push(dim(`${grouped(interrupted.length)} interrupted; continue one with: postchain resume <run>${module}`));
  if (runs.some((run) => isActor(run) && run.waiting?.for === 'approval'))
    lines.push(dim('answer the approval of an actor with: postchain approve <actor> --module FILE'));
  if (waiting > 0) lines.push(dim(`${count(waiting, 'waiting run')}; answer in: postchain resume <run>`));
  const more = chosen.length - runs.length;
  if (more > 0) lines.push(dim(`${grouped(more)} more; see all with: postchain runs --limit ${chosen.length}`));
  return wrapLines(`${lines.join('\n')}\n`, stdout);
}

/** Returns the runs and actors in the journals, and the actors in the stores of the modules, newest first. */
async function listEverywhere(flags: RunsFlags): Promise<readonly ListedRun[]> {
  const filter = flags.where === undefined ? {} : { where: whereOf(flags.where) };
  const recorded = await listAll(flags, filter);
  const known = new Set(recorded.map(({ id }) => id));
  const hosted = (await hostedActors(flags, filter)).flatMap(({ actor }) =>
    known.has(actor.id) ? [] : [listedRun(actor)],
  );
  return [...recorded, ...hosted].sort(newestFirst);
}

/** The duration, model and cost of a run, from its journal; empty if they are unknown. */
type Figures = Readonly<Record<'time' | 'model' | 'cost', string>>;

const UNKNOWN: Figures = { time: '', model: '', cost: '' };

/** Reads the journals of these runs of the chain. */
async function figuresOf(runs: readonly ListedRun[], flags: FindFlags): Promise<readonly Figures[]> {
  const own = runs.filter(({ machine }) => machine === undefined);
  if (own.length === 0) return runs.map(() => UNKNOWN);
  const store = openExistingJournals(flags);
  const read = async (run: ListedRun): Promise<Figures> => {
    if (!own.includes(run)) return UNKNOWN;
    const figures = await readRun(store.read(run.id)).then(figuresIn, () => null);
    if (figures === null) return UNKNOWN;
    const { durationMs, models, cost } = figures;
    return {
      time: durationMs === null ? '' : shortDuration(durationMs),
      model: oneLine(models[0] ?? ''),
      cost: cost === null ? '' : `${Number(cost.amount.toPrecision(2))} ${oneLine(cost.currency)}`,
    };
  };
  return Promise.all(runs.map(read));
}

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

function shortDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  return ms < HOUR ? `${Math.round(ms / MINUTE)} min` : `${Math.round(ms / HOUR)} h`;
}

/**
 * Formats each run as one line; on a narrow terminal, as two. On a terminal, the columns have names, and those that no run fills or that
 * leave no room for the request are omitted.
 */
function rowsOf(
  runs: readonly ListedRun[],
  figures: readonly Figures[],
  shortId: (runId: string) => string,
  stdout: NodeJS.WriteStream,
): string[] {
  const { cyan, dim, yellow } = colorsFor(stdout);
  const columns = columnsOf(stdout);
  const gap = ' '.repeat(GAP);
  const statusOf = (text: string): string =>
    (['interrupted', 'waiting', 'queued'].includes(text.trim()) ? yellow : String)(text);
  const all = [
    { name: 'RUN', cells: runs.map(({ id }) => oneLine(shortId(id))), paint: cyan },
    { name: 'STARTED', cells: runs.map(({ startedAt }) => localTime(startedAt)), paint: dim },
    { name: 'STATUS', cells: runs.map(({ status }) => statusWord(status)), paint: statusOf },
    ...(['time', 'model', 'cost'] as const).map((key) => ({
      name: key.toUpperCase(),
      cells: figures.map((one) => one[key]),
      paint: dim,
    })),
  ].map((column) => ({ ...column, chars: Math.max(...[column.name, ...column.cells].map((cell) => cell.length)) }));
  const filled = all.filter(({ cells }, at) => at < FIXED || cells.some((cell) => cell !== ''));
  const widthOf = (shown: typeof all): number => shown.reduce((sum, { chars }) => sum + chars + GAP, 0);
  while (filled.length > FIXED && columns - widthOf(filled) < MIN_REQUEST_CHARS) filled.pop();
  const indent = widthOf(filled);
  const isNarrow = columns - indent < MIN_REQUEST_CHARS;
  const lines = runs.map((run, at) => {
    const cells = filled.map(({ cells: texts, chars, paint }) => paint((texts[at] ?? '').padEnd(chars)));
    return `${cells.join(gap)}${isNarrow ? '\n' : ''}${gap}${cutEnd(requestText(run, shortId), columns - (isNarrow ? GAP : indent))}`;
  });
  if (!stdout.isTTY || isNarrow) return lines;
  return [dim([...filled.map(({ name, chars }) => name.padEnd(chars)), 'REQUEST'].join(gap)), ...lines];
}

/** The columns that are always shown: id, start and status. */
const FIXED = 3;

function requestText(run: ListedRun, shortId: (runId: string) => string): string {
  const { request, reason, forkedFrom, waiting, queued, attributes } = run;
  const fork = forkedFrom ? `(fork of ${oneLine(shortId(forkedFrom.actorId))} at ${forkedFrom.seq}) ` : '';
  const wait = waiting
    ? `(${waiting.for} since ${localTime(waiting.since)}${waiting.due === null ? '' : `, due ${localTime(waiting.due)}`}) `
    : '';
  const place = queued ? `(${queueText(queued, localTime)}) ` : '';
  const why = reason === undefined ? '' : `(${reason}) `;
  const about = Object.entries(attributes ?? {}).map(([name, value]) => ` ${name}=${value}`);
  return oneLine(`${fork}${wait}${place}${why}${request}${about.join('')}`);
}
