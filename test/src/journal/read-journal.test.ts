import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { openJournalFile } from '../../../src/journal/jsonl-file.ts';
import { readJournal } from '../../../src/journal/read-journal.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { fileWith, linesOf } from '../../support/journal-file.ts';
import { startScripted } from '../../support/run-chain.ts';

const LONG = `A user says: ${'it is a long story. '.repeat(60)}`;

async function journalOf(content = LONG): Promise<readonly JournalEntry[]> {
  const { run } = startScripted({}, { limits: { consentMs: 1 } }, { history: [{ role: 'user', content }] });
  for await (const event of run.events)
    if (event.type === 'consent-asked') run.send({ type: 'consent.given', choice: 'summarise' });
  return run.journal;
}

async function read(path: string): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of readJournal(path)) entries.push(entry);
  return entries;
}

describe('a journal read from its file', () => {
  it('[U12] gives the entries that were written, one by one', async () => {
    const journal = await journalOf();
    const path = join(temporaryFolder(), 'run.jsonl');
    const file = openJournalFile(path);
    for (const entry of journal) file.write(entry);
    file.close();
    expect(await read(path)).toEqual(journal);
  });

  it('only a line feed ends a line, whatever stands in a text', async () => {
    const journal = await journalOf(`${LONG} a\u2028b\u2029c\u0085d\re\r\nf\u000bg`);
    expect(await read(fileWith(linesOf(journal)))).toEqual(journal);
  });

  it('takes empty lines, and line ends of Windows', async () => {
    const journal = await journalOf();
    expect(await read(fileWith(`\n${linesOf(journal).replaceAll('\n', '\r\n\r\n')}\n`))).toEqual(journal);
  });

  it('gives what was whole, wherever the file was cut off', async () => {
    const journal = (await journalOf()).slice(0, 6);
    const bytes = Buffer.from(linesOf(journal));
    const ends = journal.map((_, at) => Buffer.byteLength(linesOf(journal.slice(0, at + 1))) - 1);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: (ends[0] ?? 0) + 1, max: bytes.length }), async (cut) => {
        const whole = ends.filter((end) => end <= cut).length;
        expect(await read(fileWith(bytes.subarray(0, cut)))).toEqual(journal.slice(0, whole));
      }),
      { numRuns: 60 },
    );
  });

  it('an entry of ten million characters is read as any other', async () => {
    const journal = await journalOf('x'.repeat(10_000_000));
    expect(await read(fileWith(linesOf(journal)))).toHaveLength(journal.length);
  });

  it('an empty file holds no entries', async () => {
    expect(await read(fileWith(''))).toEqual([]);
  });

  const entry = (seq: number) => ({ seq, atMs: 0, type: 'capability-start', capability: 'search', index: 1 });
  it.each([
    ['no JSON', 'garbage', 'line 1 is no JSON'],
    ['no JSON, with empty lines after it', 'garbage\n\n\n', 'line 1 is no JSON'],
    ['several lines of no JSON', '# Title\n\ntext\n', 'line 1 is no JSON'],
    [
      'a line in the middle that is no JSON',
      `${linesOf([entry(0)])}{"seq"\n${linesOf([entry(1)])}`,
      'line 2 is no JSON',
    ],
    ['JSON that is no entry', '{"a":1}\n', 'line 1 is no entry'],
    [
      'a last line that is JSON and no entry',
      linesOf([entry(0), { ...entry(1), type: 'lunch' }]),
      'line 2 is no entry',
    ],
    ['an entry of no object', linesOf([entry(0)]).concat('7\n'), 'line 2 is no entry'],
    ['a gap', linesOf([entry(0), entry(2)]), 'line 2 is entry 2, where 1 was due'],
    ['two journals in one', linesOf([entry(0), entry(0)]), 'line 2 is entry 0, where 1 was due'],
  ])('refuses %s', async (_, text, message) => {
    const path = fileWith(text);
    await expect(read(path)).rejects.toMatchObject({
      code: 'invalid_journal',
      message: expect.stringContaining(`${path}: ${message}`),
    });
  });

  it('refuses bytes that are no text', async () => {
    await expect(read(fileWith(Buffer.from([0, 255, 10, 254, 0])))).rejects.toMatchObject({ code: 'invalid_journal' });
  });

  it.each(['no-such-file.jsonl', '.'])('refuses "%s", which cannot be read, in one line', async (path) => {
    const error = await read(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'invalid_journal',
      message: expect.stringMatching(/^[^\n]*E(NOENT|ISDIR)[^\n]*$/),
    });
  });

  it.skipIf(!existsSync('/proc/self/fd'))('a reader that leaves early leaves no file open', async () => {
    const path = fileWith(linesOf(await journalOf('x'.repeat(1_000_000))));
    for (let turn = 0; turn < 5; turn += 1) for await (const { seq } of readJournal(path)) if (seq === 0) break;
    await expect.poll(() => openFiles().filter((open) => open === path)).toEqual([]);
  });
});

function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}
