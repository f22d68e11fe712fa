import { count, cutEnd, oneLine, printableJson } from '../internal/printable.ts';
import { type JournalFlags, NO_RUNS, openJournals } from './open-journals.ts';
import { colorsFor, columnsOf } from './screen.ts';

export interface RunsFlags extends JournalFlags {
  readonly json?: boolean;
}

/** `postchain runs`: the runs whose journals are kept, the newest first. */
export async function runsCommand(flags: RunsFlags, stdout = process.stdout): Promise<string> {
  const runs = await openJournals(flags).list();
  if (flags.json) return `${printableJson(JSON.stringify(runs, null, 2))}\n`;
  if (runs.length === 0) return `${NO_RUNS}\n`;
  const { cyan, dim, yellow } = colorsFor(stdout);
  const idChars = Math.max(...runs.map(({ runId }) => oneLine(runId).length));
  const lines = runs.map(({ runId, startedAt, status, request, forkedFrom }) => {
    const fork = forkedFrom && `(fork of ${forkedFrom.runId.slice(0, 8)} at ${forkedFrom.seq}) `;
    const shown = status === 'interrupted' ? yellow(status.padEnd(11)) : status.padEnd(11);
    const room = columnsOf(stdout) - idChars - 35;
    return `${cyan(oneLine(runId).padEnd(idChars))}  ${dim(startedAt.slice(0, 19).padEnd(19))}  ${shown}  ${cutEnd(oneLine(`${fork ?? ''}${request}`), Math.max(10, room))}`;
  });
  const cut = runs.filter(({ status }) => status === 'interrupted').length;
  const hint = cut > 0 ? [dim(`${count(cut, 'interrupted run')}: postchain resume RUN goes on with one`)] : [];
  return `${[...lines, ...hint].join('\n')}\n`;
}
