import { queueText } from '../chain/presentation/entry-words.ts';
import { newestFirst, whereOf } from '../durable/journals/journal-store.ts';
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
import { colorsFor, columnsOf, localTime, wrapLines } from './screen.ts';

export interface RunsFlags extends FindFlags {
  readonly json?: boolean;
  readonly limit?: number;
  /** Each `name=value`. */
  readonly where?: readonly string[];
  /** Milliseconds. */
  readonly olderThan?: number;
}

const STATUS_CHARS = 11;
const TIME_CHARS = 16;
const GAP = 2;
/** If fewer characters are left for the request, it gets a line of its own. */
const MIN_REQUEST_CHARS = 24;
/** On a terminal. */
const DEFAULT_LIMIT = 20;

export async function runsCommand(flags: RunsFlags, stdout: NodeJS.WriteStream = process.stdout): Promise<string> {
  const all = await listEverywhere(flags);
  const chosen = flags.olderThan === undefined ? all : olderRuns(all, flags.olderThan);
  const limit = flags.limit ?? (stdout.isTTY && !flags.json ? DEFAULT_LIMIT : Number.POSITIVE_INFINITY);
  const runs = chosen.slice(0, limit);
  if (flags.json) return `${printableJson(JSON.stringify(runs, null, 2))}\n`;
  if (all.length === 0) return `${flags.where ? 'No run or actor matches.' : NO_RUNS}\n`;
  if (runs.length === 0) return 'No run or actor is that old.\n';
  const { dim } = colorsFor(stdout);
  const lines = rowsOf(runs, shortRunIds(all), stdout);
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

/** Formats each run as one line; on a narrow terminal, as two. */
function rowsOf(runs: readonly ListedRun[], shortId: (runId: string) => string, stdout: NodeJS.WriteStream): string[] {
  const { cyan, dim, yellow } = colorsFor(stdout);
  const columns = columnsOf(stdout);
  const idChars = Math.max(...runs.map(({ id: runId }) => oneLine(shortId(runId)).length));
  const indent = idChars + TIME_CHARS + STATUS_CHARS + 3 * GAP;
  const isNarrow = columns - indent < MIN_REQUEST_CHARS;
  const gap = ' '.repeat(GAP);
  return runs.map((run) => {
    const { id: runId, startedAt, status: stored, request, reason, forkedFrom, waiting, queued, attributes } = run;
    const status = statusWord(stored);
    const fork = forkedFrom ? `(fork of ${oneLine(shortId(forkedFrom.actorId))} at ${forkedFrom.seq}) ` : '';
    const wait = waiting ? `(${waiting.for} since ${localTime(waiting.since)}) ` : '';
    const place = queued ? `(${queueText(queued, localTime)}) ` : '';
    const why = reason === undefined ? '' : `(${reason}) `;
    const about = Object.entries(attributes ?? {}).map(([name, value]) => ` ${name}=${value}`);
    const shown = `${fork}${wait}${place}${why}${request}${about.join('')}`;
    const text = cutEnd(oneLine(shown), columns - (isNarrow ? GAP : indent));
    const padded = isNarrow ? status : status.padEnd(STATUS_CHARS);
    const cells = [
      cyan(oneLine(shortId(runId)).padEnd(idChars)),
      dim(localTime(startedAt).padEnd(TIME_CHARS)),
      ['interrupted', 'waiting', 'queued'].includes(status) ? yellow(padded) : padded,
    ];
    return `${cells.join(gap)}${isNarrow ? '\n' : ''}${gap}${text}`;
  });
}
