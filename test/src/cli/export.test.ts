import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { exportCommand } from '../../../src/cli/export-command.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { journalFile } from '../../support/journal-file.ts';
import { startScripted } from '../../support/run-chain.ts';

/** The journal of a short run whose id and request are these. */
async function aRun(runId = 'run-1', request = 'Is it so?') {
  const { run } = startScripted({}, { newId: () => runId }, { request });
  await run.answer;
  return journalFile(run.journal as readonly JournalEntry[]);
}

const exported = (path: string) => join(path, 'run.html');

describe('the file of an export', () => {
  it('is for its owner to read, and carries the checksum that was told', async () => {
    const output = exported(temporaryFolder());
    const told = await exportCommand(await aRun(), { output });
    const [, checksum = 'none'] = /SHA-256 of the run in it: ([0-9a-f]{64})/u.exec(told) ?? [];
    expect(readFileSync(output, 'utf8')).toContain(`data-sha256="${checksum}"`);
    expect(statSync(output).mode & 0o777).toBe(0o600);
  });

  it('takes the place of no other one, and is written through no link', async () => {
    const folder = temporaryFolder();
    const output = exported(folder);
    symlinkSync(join(folder, 'elsewhere.html'), output);
    await expect(exportCommand(await aRun(), { output })).rejects.toMatchObject({
      code: 'invalid_path',
      message: `${output}: there is such a file; --force writes over it.`,
    });
    expect(existsSync(join(folder, 'elsewhere.html'))).toBe(false);
  });

  it('that is written over is for its owner too', async () => {
    const output = exported(temporaryFolder());
    writeFileSync(output, 'old', { mode: 0o644 });
    await exportCommand(await aRun(), { output, force: true });
    expect(readFileSync(output, 'utf8')).toMatch(/^<!doctype html>/u);
    expect(statSync(output).mode & 0o777).toBe(0o600);
  });

  it('has no name that leads elsewhere, and none that says what was hidden', async () => {
    const folder = temporaryFolder();
    const before = process.cwd();
    try {
      process.chdir(folder);
      const told = await exportCommand(await aRun('\u001b[2J/../x'), {});
      expect(told).not.toContain('\u001b');
      await exportCommand(await aRun('acme-bank'), { redact: ['acme'] });
    } finally {
      process.chdir(before);
    }
    const names = readdirSync(folder);
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^run-[\w-]*\.html$/u);
    expect(names.join()).not.toContain('acme');
  });
});

describe('what an export says', () => {
  it('is what it leaves of something that looks like a secret, where only a part is hidden', async () => {
    const output = exported(temporaryFolder());
    const path = await aRun('run-1', `My key is sk-${'abcd'.repeat(8)}, mail ann@example.org or bob@example.org`);
    const told = await exportCommand(path, { output, redact: ['ann@example.org', 'sk-abcd'], force: true });
    expect(told).toContain('bob@example.org, which looks like an e-mail address');
    expect(told).not.toContain('ann@example.org');
  });

  it('is which of several texts is nowhere in it', async () => {
    const flags = { redact: ['so?', 'nowhere'], preview: true };
    expect(await exportCommand(await aRun(), flags)).toContain('"nowhere" hides nothing');
    expect(await exportCommand(await aRun(), flags)).not.toContain('"so?" hides nothing');
  });

  it('has nothing in it that a terminal takes for an order', async () => {
    const { run } = startScripted({}, {}, { host: { 'so\u001b[2J': 'so?' } });
    await run.answer;
    const path = journalFile(run.journal as readonly JournalEntry[]);
    const told = await exportCommand(path, { preview: true, redact: ['so?'] });
    expect(told).toContain('run-start.host.so[2J');
    expect(told).not.toContain('\u001b');
  });
});
