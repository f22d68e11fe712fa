import { open } from 'node:fs/promises';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Redact } from '../durable/journals/journal-store.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import { exportRun } from '../inspection/export-run.ts';
import { exportNotes, type Redaction, redactionOf, redactionsIn } from '../inspection/redaction.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import { describeSystemError } from '../internal/system-error.ts';
import { findRun, type JournalFlags } from './find-run.ts';

export interface ExportFlags extends JournalFlags {
  readonly output?: string;
  readonly redact?: readonly string[];
  readonly preview?: boolean;
  readonly force?: boolean;
}

const MAX_LISTED = 200;

export async function exportCommand(name: string, flags: ExportFlags): Promise<string> {
  const redact = flags.redact && redactionOf(flags.redact);
  const { store, runId } = await findRun(name, flags);
  const entries = await entriesOf(store.read(runId));
  const redactions = redact ? [...redactionsIn(entries, redact)] : [];
  if (flags.preview) return previewText(entries, redactions, flags.redact);
  const path = flags.output ?? defaultPath(entries, redact);
  const { html, checksum } = await exportRun(entries, { ...(redact && { redact }) });
  await writePrivate(path, html, flags.force === true);
  const size = `${grouped(Math.ceil(Buffer.byteLength(html) / 1_000))} kB`;
  const redactedCount = redact ? count(redactions.length, 'redaction') : 'no redactions';
  return [
    `Wrote ${path} (${count(entries.length, 'entry', 'entries')}, ${size}, ${redactedCount})`,
    `SHA-256 of the run: ${checksum}`,
    ...exportNotes(entries, flags.redact),
    '',
  ].join('\n');
}

/** Returns a safe file name from the run id, which may come from someone else. */
function defaultPath([start]: readonly JournalEntry[], redact: Redact = (text) => text): string {
  const runId = start?.type === 'start' ? redact(start.input.runId) : '';
  return `run-${runId.slice(0, 8).replace(/[^\w-]/gu, '_')}.html`;
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
  entries: readonly JournalEntry[],
  redactions: readonly Redaction[],
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
    'Preview: nothing is written. The page would contain the request, the context, model replies, document passages and model names.',
    patterns.length === 0
      ? 'No redactions. Use --redact TEXT or --redact /REGEX/ to hide text.'
      : `${count(redactions.length, 'redaction')}${redactions.length === 0 ? '' : ':'}`,
    ...listed,
    ...(more > 0 ? [`… and ${grouped(more)} more`] : []),
    ...exportNotes(entries, patterns),
    '',
  ].join('\n');
}
