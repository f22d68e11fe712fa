import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { readJournal } from '../../../src/journal/read-journal.ts';
import { journalFile } from '../../../src/journal/stores/file-journals.ts';
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
    const writer = journalFile(path).create('run-1');
    for (const entry of journal) writer.write(entry);
    writer.close();
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
    const ends = journal.map((_, at) => Buffer.byteLength(linesOf(journal.slice(0, at + 1))));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: ends[0] ?? 0, max: bytes.length }), async (cut) => {
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

  const start = startScripted().run.journal[0] as JournalEntry;
  const entry = (seq: number, type = 'capability-start') =>
    ({ seq, atMs: 0, type, capability: 'search', index: 1 }) as unknown as JournalEntry;
  it.each([
    ['nothing', '', 'no run begins in it'],
    ['what no line feed ends', 'garbage', 'no run begins in it'],
    ['no JSON, with empty lines after it', 'garbage\n\n\n', 'entry 0 cannot be read: it is no JSON'],
    ['several lines of no JSON', '# Title\n\ntext\n', 'entry 0 cannot be read: it is no JSON'],
    ['a line in the middle that is no JSON', `${linesOf([start])}{"seq"\n`, 'entry 1 cannot be read: it is no JSON'],
    ['JSON without a checksum', '{"a":1}\n', 'entry 0 cannot be read: it has no checksum'],
    ['what is no run', linesOf([entry(0)]), 'entry 0 cannot be read: no run begins with it'],
    ['an unknown kind of entry', linesOf([start, entry(1, 'lunch')]), 'entry 1 cannot be read: it is no entry'],
    ['a gap', linesOf([start, entry(2)]), 'entry 1 cannot be read: entry 2 stands in its place'],
    ['two runs in one', linesOf([start, { ...start, seq: 1 }]), 'entry 1 cannot be read: another run begins'],
    ['two files in one', linesOf([start]).repeat(2), 'entry 1 cannot be read: its checksum does not fit'],
    [
      'another version',
      linesOf([{ ...start, version: 2 } as unknown as JournalEntry]),
      'entry 0 cannot be read: it is of version 2, and this PostChain reads version 1',
    ],
  ])('refuses %s', async (_, text, message) => {
    const path = fileWith(text);
    await expect(read(path)).rejects.toMatchObject({
      code: 'invalid_journal',
      message: expect.stringContaining(`${path}: ${message}`),
    });
  });

  it('notices every bit that was flipped, and gives nothing but what stood before it', async () => {
    const journal = (await journalOf('It was so.')).slice(0, 6);
    const bytes = Buffer.from(linesOf(journal));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8((bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
        const whole =
          bytes
            .subarray(0, bit >> 3)
            .toString('utf8')
            .split('\n').length - 1;
        const given: JournalEntry[] = [];
        const error = await (async () => {
          for await (const one of readJournal(fileWith(flipped))) given.push(one);
        })().catch((thrown: unknown) => thrown);
        expect(given).toEqual(journal.slice(0, whole));
        // The last line feed aside: without it the last line was cut off.
        if (whole < journal.length - 1) expect(error).toMatchObject({ code: 'invalid_journal' });
      }),
      { numRuns: 1_000 },
    );
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
