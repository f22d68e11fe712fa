import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { exportCommand } from '../../../src/cli/export-command.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { journalFile } from '../../support/journal-files.ts';
import { startScripted } from '../../support/run-chain.ts';

/** The journal of a short run whose id and request are these. */
async function aRun(runId = 'run-1', request = 'Is it so?') {
  const { run } = startScripted({}, { newId: () => runId }, { request });
  await run.answer;
  return journalFile(run.entries as readonly JournalEntry[]);
}

const outputIn = (folder: string) => join(folder, 'run.html');

describe('the exported page', () => {
  it('is readable only by its owner and contains the printed checksum', async () => {
    const output = outputIn(temporaryFolder());
    const text = await exportCommand(await aRun(), { output });
    const [, checksum = 'none'] = /SHA-256 of the run: ([0-9a-f]{64})/u.exec(text) ?? [];
    expect(readFileSync(output, 'utf8')).toContain(`data-sha256="${checksum}"`);
    expect(statSync(output).mode & 0o777).toBe(0o600);
  });

  it('does not replace an existing file or write through a link', async () => {
    const folder = temporaryFolder();
    const output = outputIn(folder);
    symlinkSync(join(folder, 'elsewhere.html'), output);
    await expect(exportCommand(await aRun(), { output })).rejects.toMatchObject({
      code: 'invalid_path',
      message: `${output} already exists; use --force to overwrite it`,
    });
    expect(existsSync(join(folder, 'elsewhere.html'))).toBe(false);
  });

  it('is also readable only by its owner with --force', async () => {
    const output = outputIn(temporaryFolder());
    writeFileSync(output, 'old', { mode: 0o644 });
    await exportCommand(await aRun(), { output, force: true });
    expect(readFileSync(output, 'utf8')).toMatch(/^<!doctype html>/u);
    expect(statSync(output).mode & 0o777).toBe(0o600);
  });

  it('has a safe default name that contains no redacted text', async () => {
    const folder = temporaryFolder();
    const before = process.cwd();
    try {
      process.chdir(folder);
      const text = await exportCommand(await aRun('\u001b[2J/../x'), {});
      expect(text).not.toContain('\u001b');
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

describe('the output of postchain export', () => {
  it('lists what still looks like a secret if only a part is redacted', async () => {
    const output = outputIn(temporaryFolder());
    const path = await aRun('run-1', `My key is sk-${'abcd'.repeat(8)}, mail ann@example.org or bob@example.org`);
    const text = await exportCommand(path, { output, redact: ['ann@example.org', 'sk-abcd'], force: true });
    expect(text).toContain('bob@example.org looks like an email address');
    expect(text).not.toContain('ann@example.org');
  });

  it('lists a key in the arguments of a command, unless it is hidden', async () => {
    const output = outputIn(temporaryFolder());
    const path = await aRun(
      'run-1',
      'Why does server --api-key hunter2hunter2 fail, and server --api-key [hidden] not?',
    );
    const text = await exportCommand(path, { output });
    expect(text).toContain('--api-key hunter2hunter2 looks like a key on a command line');
    expect(text).not.toContain('--api-key [hidden] looks');
  });

  it('hides numbers that come from a program, and lists those of the format that it cannot hide', async () => {
    const { run } = startScripted({}, {}, { host: { account: 41113333, cycles: 5 } });
    await run.answer;
    const path = journalFile(run.entries as readonly JournalEntry[]);
    const preview = await exportCommand(path, { preview: true, redact: ['41113333'] });
    expect(preview).toContain('start.product.host.account');
    expect(preview).not.toContain('Warning');
    const output = outputIn(temporaryFolder());
    await exportCommand(path, { output, redact: ['41113333'] });
    expect(readFileSync(output, 'utf8')).not.toContain('41113333');
    const text = await exportCommand(path, { preview: true, redact: ['5'] });
    expect(text).toMatch(
      /Warning: a redaction matches the number 5, which stays \(entry 0, start\.input\.limits\.\w+/u,
    );
  });

  it('lists patterns that match nothing', async () => {
    const flags = { redact: ['so?', 'nowhere'], preview: true };
    expect(await exportCommand(await aRun(), flags)).toContain('the redaction "nowhere" matches nothing');
    expect(await exportCommand(await aRun(), flags)).not.toContain('"so?" matches nothing');
  });

  it('contains no control characters', async () => {
    const { run } = startScripted({}, {}, { host: { 'so\u001b[2J': 'so?' } });
    await run.answer;
    const path = journalFile(run.entries as readonly JournalEntry[]);
    const text = await exportCommand(path, { preview: true, redact: ['so?'] });
    expect(text).toContain('start.product.host.so[2J');
    expect(text).not.toContain('\u001b');
  });
});
