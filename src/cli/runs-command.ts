import { count, cutEnd, oneLine, printableJson } from '../internal/printable.ts';
import { type JournalFlags, NO_RUNS, openJournals } from './find-run.ts';
import { colorsFor, columnsOf } from './screen.ts';

export interface RunsFlags extends JournalFlags {
  readonly json?: boolean;
}

const STATUS_CHARS = 11;
const TIME_CHARS = 19;
const MIN_REQUEST_CHARS = 10;

/** `postchain runs`: lists recorded runs, newest first. */
export async function runsCommand(flags: RunsFlags, stdout = process.stdout): Promise<string> {
  const runs = await openJournals(flags).list();
  if (flags.json) return `${printableJson(JSON.stringify(runs, null, 2))}\n`;
  if (runs.length === 0) return `${NO_RUNS}\n`;
  const { cyan, dim, yellow } = colorsFor(stdout);
  const idChars = Math.max(...runs.map(({ runId }) => oneLine(runId).length));
  const requestChars = Math.max(MIN_REQUEST_CHARS, columnsOf(stdout) - idChars - STATUS_CHARS - TIME_CHARS - 5);
  const lines = runs.map(({ runId, startedAt, status, request, forkedFrom }) => {
    const fork = forkedFrom ? `(fork of ${forkedFrom.runId.slice(0, 8)} at ${forkedFrom.seq}) ` : '';
    const padded = status.padEnd(STATUS_CHARS);
    return [
      cyan(oneLine(runId).padEnd(idChars)),
      dim(startedAt.slice(0, TIME_CHARS).padEnd(TIME_CHARS)),
      status === 'interrupted' ? yellow(padded) : padded,
      cutEnd(oneLine(`${fork}${request}`), requestChars),
    ].join('  ');
  });
  const interrupted = runs.filter(({ status }) => status === 'interrupted').length;
  if (interrupted > 0)
    lines.push(dim(`${count(interrupted, 'interrupted run')}; continue one with: postchain resume <run>`));
  return `${lines.join('\n')}\n`;
}
