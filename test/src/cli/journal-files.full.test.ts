import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunOptions } from '../../../src/chain/runtime/run-options.ts';
import { aUser, temporaryFolder } from '../../support/cli.ts';
import { journalFile } from '../../support/journal-files.ts';
import { startScripted } from '../../support/run-chain.ts';

/** Returns the first entries of a journal, as after an early kill. */
async function aKilledRun(host: NonNullable<RunOptions['host']>) {
  const { run } = startScripted({}, {}, { host });
  await run.answer;
  return run.entries.slice(0, 20);
}

describe('a journal file', () => {
  it.each([
    ['docs', ['secret-papers'], /docs "secret-papers"/u],
    ['mcp', ['touch owned'], /mcp "touch owned"/u],
    ['sessionFile', 'owned', /sessionFile "owned"/u],
    ['mcp', 'touch owned', /has invalid recorded flags/u],
  ])('does not open the %s that an untrusted journal file names', async (flag, value, message) => {
    const folder = temporaryFolder();
    const user = aUser({});
    const place = (text: string): string => text.replace('owned', join(folder, 'owned'));
    const named = Array.isArray(value) ? value.map(place) : place(value);
    const file = journalFile(await aKilledRun({ flags: { [flag]: named } }));
    for (const command of [
      ['resume', file],
      ['fork', file, '--at', '5'],
    ]) {
      const { code, stderr } = await user.call(...command);
      expect(stderr.replace(`${folder}/`, '')).toMatch(message);
      expect(code).toBe(2);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes only recordable flags from a journal', async () => {
    const folder = temporaryFolder();
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'precious');
    const flags = { journal: precious, history: precious, journals: join(folder, 'elsewhere') };
    const file = journalFile(await aKilledRun({ flags }));
    const user = aUser({});
    expect((await user.call('fork', file, '--at', '5')).stderr).not.toContain('postchain:');
    expect([readdirSync(folder), readFileSync(precious, 'utf8')]).toEqual([['precious'], 'precious']);
    expect(readdirSync(user.place)).toHaveLength(1);
  });

  it('resume continues the session of a run, fork does not', async () => {
    const [folder, user] = [temporaryFolder(), aUser({})];
    const sessionFile = join(folder, 'sessions.db');
    const file = join(folder, 'run.jsonl');
    await user.call('run', 'Is it so?', '--session', 's', '--session-file', sessionFile, '--journal', file);
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${lines.slice(0, 20).join('\n')}\n`);
    for (const path of readdirSync(folder)) if (path.startsWith('sessions.db')) rmSync(join(folder, path));
    expect((await user.call('fork', file, '--at', '5', '--trust')).code).toBe(3);
    expect(existsSync(sessionFile)).toBe(false);
    expect((await aUser({}).call('resume', file)).stderr).toMatch(/session "s"/u);
    expect((await user.call('resume', file)).stderr).toMatch(/may come from someone else/u);
    expect((await user.call('resume', file, '--trust')).code).toBe(3);
    const next = await user.call('run', 'And now?', '--session', 's', '--session-file', sessionFile);
    expect(next.stderr).toContain('1 turn recalled');
  });
});

describe('run --journal', () => {
  it('replaces a journal, and any other file only with --force, and makes it readable only by its owner', async () => {
    const file = join(temporaryFolder(), 'run.jsonl');
    const user = aUser({});
    await user.call('run', 'Is it so?', '--journal', file);
    chmodSync(file, 0o644);
    expect((await user.call('run', 'And this?', '--journal', file)).code).toBe(3);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await user.call('show', file)).stdout).toMatch(/^And this\?/u);
    writeFileSync(file, 'precious');
    expect((await user.call('run', 'x', '--journal', file)).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect((await user.call('run', 'x', '--journal', file, '--force')).code).toBe(3);
    expect((await user.call('show', file)).code).toBe(0);
  });
});

describe('replay --vitest', () => {
  it('writes a test and never overwrites other content', async () => {
    const folder = temporaryFolder();
    const user = aUser({});
    const file = join(folder, 'kept.jsonl');
    await user.call('run', 'Is it so?', '--journal', file);
    const at = join(folder, 'a.test.ts');
    for (const _again of [1, 2]) expect((await user.call('replay', file, '--vitest', at)).code).toBe(0);
    expect(readFileSync(join(folder, 'a.jsonl'), 'utf8')).toBe(readFileSync(file, 'utf8'));
    expect(statSync(join(folder, 'a.jsonl')).mode & 0o777).toBe(0o600);
    expect(await user.call('replay', file, '--vitest', join(folder, 'none', 'a.test.ts'))).toEqual({
      code: 2,
      stdout: '',
      stderr: `postchain: Cannot write ${join(folder, 'none', 'a.jsonl')}: no such file or directory (ENOENT)\n`,
    });
    for (const path of [at, join(folder, 'a.jsonl')]) {
      writeFileSync(path, 'mine');
      expect(await user.call('replay', file, '--vitest', at)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('already exists with other content'),
      });
      expect(readFileSync(path, 'utf8')).toBe('mine');
      rmSync(path);
    }
    expect(await user.call('replay', file, '--vitest', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expects the path of a test file'),
    });
    expect((await user.call('replay', file)).code).toBe(0);
  });
});
