import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import type { JournalStore } from '../../../../machines/contracts/journal-store.ts';
import { replay } from '../../../../src/journal/replay/replay.ts';
import { fileJournals } from '../../../../src/journal/stores/file-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { startScripted } from '../../../support/run-chain.ts';

const BEGUN = '{"type":"run-start","request":"r","startedAt":"2026-01-01T10:00:00.000Z","forkedFrom":null}\n';

async function read(store: JournalStore, runId: string): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of store.read(runId)) entries.push(entry);
  return entries;
}

describe('journals in a folder', () => {
  it.each([
    ['{"type":"run-start"}\n', 'damaged'],
    ['{"type":"run-start","request":3,"startedAt":"\\u001b]0;x\\u0007"}\n', 'damaged'],
    ['{"type":"run-start","request":"r","startedAt":"\\u001b]0;x"}\n', 'damaged'],
    [`${BEGUN}{"type":"run-end","status":"\\u001b[2J"}\n`, 'damaged'],
    [`${BEGUN}{"type":"run-end"}\n`, 'damaged'],
    [`${BEGUN}null\n`, 'damaged'],
    [BEGUN, 'interrupted'],
    ['', 'damaged'],
  ])('that begin or end with %j are listed as they stand', async (text, status) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.jsonl'), text);
    expect(await fileJournals(folder).list()).toMatchObject([{ runId: 'a', status }]);
  });

  it('are listed whatever else stands in the folder', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.jsonl'), BEGUN);
    mkdirSync(join(folder, 'folder.jsonl'));
    for (const name of ['a%.jsonl', '%E0%A4.jsonl', 'a b.jsonl', '.jsonl.lock'])
      writeFileSync(join(folder, name), BEGUN);
    expect((await fileJournals(folder).list()).map(({ runId }) => runId)).toEqual(['a']);
    mkdirSync(join(folder, 'b.jsonl'));
    await expect(read(fileJournals(folder), 'b')).rejects.toMatchObject({
      code: 'invalid_journal',
      message: /EISDIR/u,
    });
  });
});

describe('journals that are redacted', () => {
  it('hide from a file what the pieces of a reply cut in two', async () => {
    const secret = 'sk-0123456789abcdef0123456789';
    const store = fileJournals(temporaryFolder(), { redact: (text) => text.replace(/sk-[0-9a-f]{26}/gu, '[key]') });
    const { run } = startScripted({ action: { ...replies.action, response: secret } }, { journals: store });
    await run.answer;
    expect(JSON.stringify(run.journal.filter(({ type }) => type === 'text-delta'))).not.toContain(secret);
    const text = JSON.stringify(await read(store, 'run-1'));
    expect(text).toContain('[key]');
    for (let at = 0; at + 8 <= secret.length; at += 1) expect(text).not.toContain(secret.slice(at, at + 8));
    expect(replay(await read(store, 'run-1')).divergence).toBeNull();
  });

  it('that were begun without a hook are not gone on with by one', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const { run } = startScripted();
    await run.answer;
    for (const [runId, length] of [
      ['a', 9],
      ['b', run.journal.length],
    ] as const) {
      const writer = fileJournals(folder).create(runId);
      for (const entry of run.journal.slice(0, length)) writer.write(entry);
      writer.close();
    }
    const store = fileJournals(folder, { redact: (text) => text });
    await expect(store.open('a')).rejects.toThrow('The run "a" was begun without redact');
    (await store.open('b')).writer.close();
    (await fileJournals(folder).open('a')).writer.close();
  });
});
