import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { toVitest } from '../../../src/chain/journal/to-vitest.ts';
import { journalText } from '../../../src/durable/journals/journal-lines.ts';
import { startScripted } from '../../support/run-chain.ts';

const call = promisify(execFile);

async function recordingOf(request: string): Promise<readonly JournalEntry[]> {
  const { run } = startScripted({}, {}, { request });
  await run.answer;
  return JSON.parse(JSON.stringify(run.entries));
}

/** A folder within the project, so that Vitest finds `postchain`. */
function aFolder(): string {
  const folder = new URL(`../../generated-${process.pid}`, import.meta.url).pathname;
  mkdirSync(folder);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function runTest(folder: string) {
  try {
    const { stdout } = await call('npx', ['vitest', 'run', folder], { env: { ...process.env, NO_COLOR: '1' } });
    return { passed: true, output: stdout };
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return { passed: false, output: stdout + stderr };
  }
}

describe('toVitest', () => {
  it('writes a test that passes on its recording, whatever the request contains, and fails on a different one', async () => {
    const folder = aFolder();
    const recorded = await recordingOf('Is it so? \'); process.exit(7); (\' \\\n*/ $`{1} \u2028 "quoted"');
    writeFileSync(join(folder, 'run.test.ts'), toVitest(recorded, { journalPath: './run.jsonl' }));
    writeFileSync(join(folder, 'run.jsonl'), journalText(recorded.map(storedEntry)));
    expect(await runTest(folder)).toMatchObject({ passed: true, output: expect.stringContaining('1 passed') });
    const other = recorded.map((entry) => (entry.type === 'phase-end' ? { ...entry, summary: 'otherwise' } : entry));
    writeFileSync(join(folder, 'run.jsonl'), journalText(other.map(storedEntry)));
    const { passed, output } = await runTest(folder);
    expect(passed).toBe(false);
    expect(output).toContain('otherwise');
  });

  it('writes a readable test', async () => {
    const text = toVitest(await recordingOf('Is it so?'), { journalPath: './run.jsonl' });
    expect(text).toContain("it('replays: Is it so?', async () => {");
    expect(text).toContain("toEqual(['confidenceReached']);");
    expect(text).toContain("expect(answer?.status ?? null).toBe('completed');");
  });

  it('escapes the path of the recording', async () => {
    const text = toVitest(await recordingOf('Is it so?'), { journalPath: "./a  run #1?%20'.jsonl" });
    const [, address = ''] = /new URL\('(.*)', import/u.exec(text) ?? [];
    const url = new URL(address.replaceAll("\\'", "'"), 'file:///tests/a.test.ts');
    expect(fileURLToPath(url)).toBe("/tests/a  run #1?%20'.jsonl");
  });

  it('rejects a recording that does not replay identically', async () => {
    const recorded = (await recordingOf('Is it so?')).map((entry) =>
      entry.type === 'phase-end' ? { ...entry, summary: 'otherwise' } : entry,
    );
    expect(() => toVitest(recorded, { journalPath: './run.jsonl' })).toThrow(
      expect.objectContaining({ code: 'invalid_journal', message: expect.stringContaining('update the recording') }),
    );
  });
});
