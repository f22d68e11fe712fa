import { open } from 'node:fs/promises';
import { PostChainError } from '../../machines/contracts/error.ts';
import { readRun } from '../chain/journal/run-journal.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import { exportRun, sharedEntries } from '../inspection/export-run.ts';
import { exportNotes, type Redaction, redactionOf, redactionsIn } from '../inspection/redaction.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import { describeSystemError } from '../internal/system-error.ts';
import { durableMachines } from './durable-modules.ts';
import { type FindFlags, find } from './find-run.ts';

export interface ExportFlags extends FindFlags {
  readonly output?: string;
  readonly redact?: readonly string[];
  readonly preview?: boolean;
  readonly force?: boolean;
}

const MAX_LISTED = 200;
const MAX_NAME = 64;

export async function exportCommand(name: string, flags: ExportFlags): Promise<string> {
  const redact = flags.redact && redactionOf(flags.redact);
  const { entries, isActor, ...of } = await findEntries(name, flags);
  const shared = await sharedEntries(entries, of);
  const redactions = redact ? [...redactionsIn(shared, redact)] : [];
  const notes = exportNotes(shared, flags.redact);
  if (flags.preview) return previewText(isActor, redactions, notes, flags.redact);
  // The id may come from someone else.
  const id = (redact ? redact(of.id) : of.id).slice(0, isActor ? MAX_NAME : 8).replace(/[^\w-]/gu, '_');
  const path = flags.output ?? `${isActor ? 'actor' : 'run'}-${id}.html`;
  const { html, checksum } = await exportRun(entries, { ...of, ...(redact && { redact }) });
  await writePrivate(path, html, flags.force === true);
  const size = `${grouped(Math.ceil(Buffer.byteLength(html) / 1_000))} kB`;
  const redactedCount = redact ? count(redactions.length, 'redaction') : 'no redactions';
  return [
    `Wrote ${path} (${count(entries.length, 'entry', 'entries')}, ${size}, ${redactedCount})`,
    `SHA-256 of the ${isActor ? 'actor' : 'run'}: ${checksum}`,
    ...notes,
    '',
  ].join('\n');
}

/** Finds a run, or a durable actor, with its machine if a module exports it. */
async function findEntries(name: string, flags: ExportFlags) {
  const found = await find(name, flags);
  if (found.kind === 'run') {
    const entries = await readRun(found.store.read(found.runId));
    return { id: runStartOf(entries).input.runId, isActor: false, hosts: [], entries };
  }
  const entries = await entriesOf(found.store.read(found.id));
  const [start] = entries;
  // The id of a journal file is its path, which the page must not disclose.
  const id = found.isFile && start?.type === 'start' ? start.actorId : found.id;
  return { id, isActor: true, hosts: found.host ? [found.host] : await durableMachines(flags), entries };
}

/** Writes a file that only its owner can read, even if it replaces one that others can. */
async function writePrivate(path: string, html: string, force: boolean): Promise<void> {
  try {
    const file = await open(path, force ? 'w' : 'wx', 0o600);
    try {
      if ((await file.stat()).isFile()) await file.chmod(0o600);
      await file.writeFile(html);
    } finally {
      await file.close();
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const problem =
      code === 'EEXIST'
        ? `${path} already exists; use --force to overwrite it`
        : `Cannot write ${path}: ${describeSystemError(cause)}`;
    throw new PostChainError('invalid_path', problem, { cause });
  }
}

function previewText(
  isActor: boolean,
  redactions: readonly Redaction[],
  notes: readonly string[],
  patterns: readonly string[] = [],
): string {
  const listed = redactions
    .slice(0, MAX_LISTED)
    .map(
      ({ seq, path, before, after }) =>
        `${String(seq).padStart(5)} ${oneLine(path)}\n      - ${oneLine(before)}\n      + ${oneLine(after)}`,
    );
  const more = redactions.length - listed.length;
  return [
    `Preview: nothing is written. The page would contain ${isActor ? 'all events, results and, with the machine, contexts' : 'the request, the context, model replies, document passages and model names'}.`,
    patterns.length === 0
      ? 'No redactions. Use --redact TEXT or --redact /REGEX/ to hide text.'
      : `${count(redactions.length, 'redaction')}${redactions.length === 0 ? '' : ':'}`,
    ...listed,
    ...(more > 0 ? [`… and ${grouped(more)} more`] : []),
    ...notes,
    '',
  ].join('\n');
}
