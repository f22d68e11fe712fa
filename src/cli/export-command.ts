import { open } from 'node:fs/promises';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Redact } from '../durable/journals/journal-store.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import { exportRun } from '../inspection/export-run.ts';
import {
  type Redaction,
  redacted,
  redactionOf,
  redactionsIn,
  remainingNumbers,
  suspectsIn,
} from '../inspection/redaction.ts';
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
  if (flags.preview) return previewText(entries, redactions, redact, flags.redact);
  const path = flags.output ?? defaultPath(entries, redact);
  const { html, checksum } = await exportRun(entries, { ...(redact && { redact }) });
  await writePrivate(path, html, flags.force === true);
  const size = `${grouped(Math.ceil(Buffer.byteLength(html) / 1_000))} kB`;
  const redactedCount = redact ? count(redactions.length, 'redaction') : 'no redactions';
  return [
    `Wrote ${path} (${count(entries.length, 'entry', 'entries')}, ${size}, ${redactedCount})`,
    `SHA-256 of the run: ${checksum}`,
    ...unmatchedLines(entries, flags.redact),
    ...remainingNumberLines(entries, redact),
    ...suspectLines(entries, redact),
    '',
  ].join('\n');
}

/** Returns a safe file name from the run id, which may come from someone else. */
function defaultPath([start]: readonly JournalEntry[], redact: Redact = (text) => text): string {
  const runId = start?.type === 'run-start' ? redact(start.runId) : '';
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
  redact: Redact | undefined,
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
    ...unmatchedLines(entries, patterns),
    ...remainingNumberLines(entries, redact),
    ...suspectLines(entries, redact),
    '',
  ].join('\n');
}

/** Warns about patterns without a match: the text may be written differently in the run. */
function unmatchedLines(entries: readonly JournalEntry[], patterns: readonly string[] = []): readonly string[] {
  return patterns
    .filter((pattern) => {
      const redact = redactionOf([pattern]);
      return redactionsIn(entries, redact).next().done && remainingNumbers(entries, redact).length === 0;
    })
    .map((pattern) => oneLine(`Warning: --redact ${JSON.stringify(pattern)} matches nothing`));
}

/** Warns about numbers of the journal format that a pattern matches: the page cannot be shown without them. */
function remainingNumberLines(entries: readonly JournalEntry[], redact: Redact | undefined): readonly string[] {
  const [first, ...others] = redact ? remainingNumbers(entries, redact) : [];
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : `, and ${count(others.length, 'other place')}`;
  return [
    oneLine(
      `Warning: --redact matches the number ${first.text}, which stays (entry ${first.seq}, ${first.path}${more})`,
    ),
  ];
}

/** Lists remaining text that looks like a secret or personal data. */
function suspectLines(entries: readonly JournalEntry[], redact?: Redact): readonly string[] {
  const left = suspectsIn(redact ? redacted(entries, redact) : entries);
  if (left.length === 0) return [];
  return [
    'Check before sharing:',
    ...left.map(({ what, text, seq, path, places }) =>
      oneLine(
        `  ${text} looks like ${what} (entry ${seq}, ${path}${places > 1 ? `, and ${count(places - 1, 'other place')}` : ''})`,
      ),
    ),
  ];
}
