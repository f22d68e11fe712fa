import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PostChainError } from '../../../../machines/contracts/error.ts';
import { readRun } from '../../../../src/chain/journal/run-journal.ts';
import { storedEntry } from '../../../../src/chain/journal/stored-entries.ts';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { journalFile, readJournal } from '../../../../src/durable/journals/file-journals.ts';
import { journalText, lineReader, lineWriter } from '../../../../src/durable/journals/journal-lines.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { anError } from '../../../support/errors.ts';
import { fileWith, writeJournal } from '../../../support/journal-files.ts';
import { sendAnswer, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

const LONG = `A user says: ${'it is a long story. '.repeat(60)}`;

async function journalOf(content = LONG): Promise<readonly DurableEntry[]> {
  const { run } = startScripted({}, { limits: { consentMs: 1 } }, { history: [{ role: 'user', content }] });
  for await (const event of run.events)
    if (event.type === 'consent-asked') sendAnswer(run, { type: 'consent.given', choice: 'summarize' });
  return run.entries.map(storedEntry);
}

const read = (path: string) => entriesOf(readJournal(path));

describe('readJournal', () => {
  it('[U12] yields the written entries', async () => {
    const journal = await journalOf();
    const path = join(temporaryFolder(), 'run.jsonl');
    await writeJournal(journalFile(path), 'run-1', journal);
    expect(await read(path)).toEqual(journal);
  });

  it('splits lines at line feeds only', async () => {
    const journal = await journalOf(`${LONG} a\u2028b\u2029c\u0085d\re\r\nf\u000bg`);
    expect(await read(fileWith(journalText(journal)))).toEqual(journal);
  });

  it('accepts empty lines and CRLF line endings', async () => {
    const journal = await journalOf();
    expect(await read(fileWith(`\n${journalText(journal).replaceAll('\n', '\r\n\r\n')}\n`))).toEqual(journal);
  });

  it('yields the complete entries of a file cut off anywhere', async () => {
    const journal = (await journalOf()).slice(0, 6);
    const bytes = Buffer.from(journalText(journal));
    const ends = journal.map((_, at) => Buffer.byteLength(journalText(journal.slice(0, at + 1))));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: ends[0] ?? 0, max: bytes.length }), async (cut) => {
        const whole = ends.filter((end) => end <= cut).length;
        expect(await read(fileWith(bytes.subarray(0, cut)))).toEqual(journal.slice(0, whole));
      }),
      { numRuns: 60 },
    );
  });

  it('reads an entry of ten million characters', async () => {
    const journal = await journalOf('x'.repeat(10_000_000));
    expect(await read(fileWith(journalText(journal)))).toHaveLength(journal.length);
  });

  const start = storedEntry(startScripted().run.entries[0] as never);
  const entry = (seq: number, type = 'capability-start') =>
    ({ seq, atMs: 0, type, capability: 'search', index: 1 }) as unknown as DurableEntry;
  it.each([
    ['an empty file', '', 'the journal is empty'],
    ['a file without a line feed', 'garbage', 'the journal is empty'],
    ['invalid JSON followed by empty lines', 'garbage\n\n\n', 'cannot read entry 0: not valid JSON'],
    ['several lines of invalid JSON', '# Title\n\ntext\n', 'cannot read entry 0: not valid JSON'],
    ['invalid JSON after a valid entry', `${journalText([start])}{"seq"\n`, 'cannot read entry 1: not valid JSON'],
    ['JSON without a checksum', '{"a":1}\n', 'cannot read entry 0: no checksum'],
    ['a gap', journalText([start, entry(2)]), 'cannot read entry 1: expected seq 1; received 2'],
    ['two files in one', journalText([start]).repeat(2), 'cannot read entry 1: checksum mismatch'],
    [
      'another version',
      journalText([{ ...start, format: 2 } as unknown as DurableEntry]),
      'cannot read entry 0: format: expected 3; received 2',
    ],
  ])('rejects %s', async (_, text, message) => {
    const path = fileWith(text);
    await expect(read(path)).rejects.toMatchObject(anError('invalid_journal', `${path}: ${message}`));
  });

  it.each([
    [
      'a journal without a start',
      [entry(0)],
      'run : cannot read entry 0: expected "start"; received "capability-start"',
    ],
    ['an unknown entry type', [start, entry(1, 'lunch')], 'run run-1: cannot read entry 1: not a journal entry'],
    ['two runs in one', [start, { ...start, seq: 1 }], 'run run-1: cannot read entry 1: a second "start"'],
  ])('returns %s, which readRun rejects', async (_, journal, message) => {
    const path = fileWith(journalText(journal));
    expect(await read(path)).toEqual(journal);
    await expect(readRun(readJournal(path))).rejects.toMatchObject(anError('invalid_journal', message));
  });

  it('detects every flipped bit and yields only the entries before it', async () => {
    const journal = (await journalOf('It was so.')).slice(0, 6);
    const bytes = Buffer.from(journalText(journal));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8((bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
        const whole =
          bytes
            .subarray(0, bit >> 3)
            .toString('utf8')
            .split('\n').length - 1;
        const received: DurableEntry[] = [];
        const error = await (async () => {
          for await (const one of readJournal(fileWith(flipped))) received.push(one);
        })().catch((thrown: unknown) => thrown);
        expect(received).toEqual(journal.slice(0, whole));
        // If the last line feed is changed, the last line counts as torn.
        if (whole < journal.length - 1) expect(error).toMatchObject({ code: 'invalid_journal' });
      }),
      { numRuns: sampleSize('flipped bits', 200, 10_000) },
    );
  });

  it('detects every flipped bit of a compressed line, also where it changes no entry', async () => {
    const [line = ''] = lineWriter({}).lines((await journalOf('It was so.')).slice(0, 6));
    const bytes = Buffer.from(line);
    const undetected = Array.from({ length: bytes.length * 8 }, (_, bit) => bit).filter((bit) => {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8((bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
      try {
        return lineReader('run-1').read(flipped.toString('utf8')).length > 0;
      } catch (error) {
        return (error as PostChainError).code !== 'invalid_journal';
      }
    });
    expect(undetected).toEqual([]);
  });

  it('rejects a binary file', async () => {
    await expect(read(fileWith(Buffer.from([0, 255, 10, 254, 0])))).rejects.toMatchObject({ code: 'invalid_journal' });
  });

  it.each(['no-such-file.jsonl', '.'])('rejects the unreadable path "%s" with a one-line error', async (path) => {
    const error = await read(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(anError('invalid_journal', /^[^\n]*E(NOENT|ISDIR)[^\n]*$/));
  });

  it.skipIf(!existsSync('/proc/self/fd'))('closes the file if the reader stops early', async () => {
    const path = fileWith(journalText(await journalOf('x'.repeat(1_000_000))));
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
