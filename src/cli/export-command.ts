import { open } from 'node:fs/promises';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry, Redact } from '../../machines/contracts/journal.ts';

import { exportRun } from '../inspection/export/export-run.ts';
import { type Redaction, redacted, redactionOf, redactionsIn } from '../inspection/export/redaction.ts';
import { suspectsIn } from '../inspection/export/suspects.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import { entriesOf } from '../journal/journal-lines.ts';
import { findRun, type JournalFlags } from './open-journals.ts';

export interface ExportFlags extends JournalFlags {
  readonly output?: string;
  readonly redact?: readonly string[];
  readonly preview?: boolean;
  readonly force?: boolean;
}

const SHOWN_REDACTIONS = 200;

/** `postchain export`: writes a run as one page, or tells what would be hidden in it. Gives what is printed. */
export async function exportCommand(name: string, flags: ExportFlags): Promise<string> {
  const redact = flags.redact && redactionOf(flags.redact);
  const { store, runId } = await findRun(name, flags);
  const entries = await entriesOf(store.read(runId));
  const redactions = redact ? [...redactionsIn(entries, redact)] : [];
  if (flags.preview) return previewText(entries, redactions, redact, flags.redact);
  const path = flags.output ?? nameFor(entries, redact);
  const { html, checksum } = await exportRun(entries, { ...(redact && { redact }) });
  await write(path, html, flags.force === true);
  const size = `${grouped(Math.ceil(Buffer.byteLength(html) / 1_000))} kB`;
  const hidden = redact ? `${count(redactions.length, 'text')} redacted` : 'nothing redacted';
  return [
    `${path}: ${count(entries.length, 'entry', 'entries')}, ${size}, ${hidden}. It opens from disk, with no network.`,
    `SHA-256 of the run in it: ${checksum}`,
    ...idleLines(entries, flags.redact),
    ...suspectLines(entries, redact),
    '',
  ].join('\n');
}

/** By the id of the run, which somebody else may have given it. */
function nameFor([start]: readonly JournalEntry[], redact: Redact = (text) => text): string {
  const runId = start?.type === 'run-start' ? redact(start.runId) : '';
  return `run-${runId.slice(0, 8).replace(/[^\w-]/gu, '_')}.html`;
}

/** For its owner to read, whoever could read what it takes the place of. */
async function write(path: string, html: string, force: boolean): Promise<void> {
  try {
    const file = await open(path, force ? 'w' : 'wx', 0o600);
    try {
      if ((await file.stat()).isFile()) await file.chmod(0o600);
      await file.writeFile(html);
    } finally {
      await file.close();
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why =
      code === 'EEXIST' ? 'there is such a file; --force writes over it' : `it cannot be written (${message})`;
    throw new PostChainError('invalid_path', `${path}: ${why}.`, { cause });
  }
}

/** What would be hidden, and what else one would perhaps not give away. */
function previewText(
  entries: readonly JournalEntry[],
  redactions: readonly Redaction[],
  redact: Redact | undefined,
  patterns: readonly string[] = [],
): string {
  const told = redactions
    .slice(0, SHOWN_REDACTIONS)
    .map(
      ({ seq, path, before, after }) =>
        `${String(seq).padStart(5)} ${oneLine(path)}\n      - ${oneLine(before)}\n      + ${oneLine(after)}`,
    );
  const more = redactions.length - told.length;
  return [
    'Nothing is written. In the file would stand the request, the context, what the model replied, passages of the documents and the names of models.',
    patterns.length === 0
      ? 'Nothing would be redacted: --redact TEXT, or --redact /EXPRESSION/, hides what it finds.'
      : `${count(redactions.length, 'text')} would be redacted:`,
    ...told,
    ...(more > 0 ? [`… and ${grouped(more)} more`] : []),
    ...idleLines(entries, patterns),
    ...suspectLines(entries, redact),
    '',
  ].join('\n');
}

/** What finds nothing is perhaps written in another way there. */
function idleLines(entries: readonly JournalEntry[], patterns: readonly string[] = []): readonly string[] {
  return patterns
    .filter((pattern) => redactionsIn(entries, redactionOf([pattern])).next().done)
    .map((pattern) => oneLine(`${JSON.stringify(pattern)} hides nothing: it is nowhere in the run.`));
}

/** What is left that looks like a secret, or like somebody. */
function suspectLines(entries: readonly JournalEntry[], redact?: Redact): readonly string[] {
  const left = suspectsIn(redact ? redacted(entries, redact) : entries);
  if (left.length === 0) return [];
  return [
    'Look at these before you give it away:',
    ...left.map(({ what, text, seq, path, places }) =>
      oneLine(
        `  ${text}, which looks like ${what}: ${seq} ${path}${places > 1 ? `, and ${count(places - 1, 'more place')}` : ''}`,
      ),
    ),
  ];
}
