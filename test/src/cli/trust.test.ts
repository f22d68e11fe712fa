import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import type { JournalStore } from '../../../src/chain/journal/journal-format.ts';
import { fileJournals, journalFile, sqliteJournals } from '../../../src/chain/journal/stores.ts';
import { forkCommand, resumeCommand } from '../../../src/cli/resume-and-fork-commands.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { startScripted } from '../../support/run-chain.ts';
import { fakeTerminal, type Key, waitForText } from '../../support/terminal.ts';

/** The environment of one user's installation. */
function anInstallation(more: Readonly<Record<string, string>> = {}) {
  const home = temporaryFolder();
  const env = {
    POSTCHAIN_HOME: home,
    POSTCHAIN_JOURNALS: '',
    POSTCHAIN_MODEL: '',
    OPENAI_API_KEY: '',
    OPENAI_BASE_URL: '',
    ...more,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return home;
}

/** The journal of a run that was killed early, as anyone can write it. */
async function aKilledRun(host: RunStart['host'], change: (start: RunStart) => RunStart = (start) => start) {
  const { run } = startScripted({}, { newId: () => 'friendly' }, { ...(host && { host }) });
  await run.answer;
  return changed(run.journal.slice(0, 20), change);
}

function changed(
  [start, ...entries]: readonly JournalEntry[],
  change: (start: RunStart) => RunStart,
): readonly JournalEntry[] {
  if (start?.type !== 'run-start') throw new Error('expected the start of a run');
  return [{ ...change(start), seq: 0, atMs: 0 }, ...entries];
}

/** Writes entries as a store writes them, and returns the id of the run. */
function write(store: JournalStore, entries: readonly JournalEntry[]): string {
  const [start] = entries;
  const runId = start?.type === 'run-start' ? start.runId : '';
  const writer = store.create(runId);
  writer.write(entries);
  writer.close();
  return runId;
}

function streams(terminal = fakeTerminal(), isTTY = false) {
  const stderr = Object.assign(terminal.terminal.out, { isTTY });
  const stdin = Object.assign(terminal.terminal.input, { isTTY });
  return { stdin, stdout: fakeTerminal().terminal.out, stderr };
}

/** A command of an MCP server that leaves a file behind if it is started. */
function aTrap() {
  const folder = temporaryFolder();
  const file = join(folder, 'owned');
  return { file, flags: { mcp: [`touch ${file}`] }, isOwned: () => existsSync(file) };
}

describe('a run that this installation did not start', () => {
  it.each<
    [string, (folder: string) => { store: JournalStore; name: string; flags?: object; env?: Record<string, string> }]
  >([
    ['a file', (folder) => ({ store: journalFile(join(folder, 'a.jsonl')), name: join(folder, 'a.jsonl') })],
    ['a directory', (folder) => ({ store: fileJournals(folder), name: 'last', flags: { journals: folder } })],
    [
      'a database',
      (folder) => ({
        store: sqliteJournals(join(folder, 'a.db')),
        name: 'friendly',
        flags: { journals: join(folder, 'a.db') },
      }),
    ],
    [
      'POSTCHAIN_JOURNALS',
      (folder) => ({ store: fileJournals(folder), name: 'fri', env: { POSTCHAIN_JOURNALS: folder } }),
    ],
    [
      'the default directory, from an older version',
      (folder) => ({ store: fileJournals(join(folder, 'journals')), name: 'last', env: { POSTCHAIN_HOME: folder } }),
    ],
  ])('starts no command from %s', async (_, place) => {
    const trap = aTrap();
    const { store, name, flags = {}, env = {} } = place(temporaryFolder());
    anInstallation(env);
    write(store, await aKilledRun({ flags: trap.flags }));
    const refused = {
      code: 'invalid_option',
      message: expect.stringMatching(/would start mcp "touch .*owned".*older version or by someone else.*--trust/u),
    };
    await expect(resumeCommand(name, flags, streams())).rejects.toMatchObject(refused);
    await expect(forkCommand(name, { ...flags, at: 5 }, streams())).rejects.toMatchObject(refused);
    expect(trap.isOwned()).toBe(false);
    await expect(resumeCommand(name, { ...flags, trust: true }, streams())).rejects.toMatchObject({
      code: 'mcp_failed',
    });
    expect(trap.isOwned()).toBe(true);
  });

  it('is continued without a question if it opens nothing', async () => {
    anInstallation();
    const folder = temporaryFolder();
    write(fileJournals(folder), await aKilledRun(null));
    expect(await resumeCommand('last', { journals: folder, quiet: true }, streams())).toBeTypeOf('number');
  });

  it.each<[string, Key[], boolean]>([
    ['Escape', ['escape'], false],
    ['no', ['enter'], false],
    ['yes', ['down', 'enter'], true],
  ])('starts its command at a terminal only after yes (%s)', async (_, keys, isStarted) => {
    const trap = aTrap();
    anInstallation();
    const folder = temporaryFolder();
    write(fileJournals(folder), await aKilledRun({ flags: trap.flags }));
    const fake = fakeTerminal(300);
    const resumed = resumeCommand('last', { journals: folder }, streams(fake, true));
    const refused = expect(resumed).rejects.toMatchObject({ code: isStarted ? 'mcp_failed' : 'invalid_option' });
    await waitForText(fake, 'Esc');
    expect(fake.shown().join('\n')).toContain(`start mcp "touch ${trap.file}"`);
    await fake.press(...keys);
    await refused;
    expect(trap.isOwned()).toBe(isStarted);
  });
});

describe('a run that this installation started', () => {
  /** A recorded run with a document, cut off as by a kill. */
  async function aRunOfMine() {
    const home = anInstallation();
    const docs = join(temporaryFolder(), 'bridges.md');
    writeFileSync(docs, '# Bridges\n\nThe harbour bridge was opened in 1932.\n');
    const folder = temporaryFolder();
    const request = 'When was the harbour bridge opened?';
    await runCommand(request, { journals: folder, docs: [docs], quiet: true }, streams());
    const [{ runId = '' } = {}] = await fileJournals(folder).list();
    const entries = await entriesOf(fileJournals(folder).read(runId));
    return { home, folder, docs, runId, entries: entries.slice(0, 20) };
  }

  const store = (entries: readonly JournalEntry[]) => {
    const journals = temporaryFolder();
    write(fileJournals(journals), entries);
    return { journals };
  };

  it('is resumed and forked without --trust, wherever its journal is, and so is its fork', async () => {
    const { entries } = await aRunOfMine();
    const flags = { ...store(entries), quiet: true };
    expect(await forkCommand('last', { ...flags, at: 10 }, streams())).toBe(0);
    const [fork] = await fileJournals(flags.journals).list();
    const forked = await entriesOf(fileJournals(flags.journals).read(fork?.runId ?? ''));
    expect(forked[0]).toMatchObject({ forkedFrom: { runId: expect.any(String) } });
    expect(await resumeCommand('last', { ...store(forked.slice(0, 20)), quiet: true }, streams())).toBe(0);
    expect(await resumeCommand('last', { ...store(entries), quiet: true }, streams())).toBe(0);
  });

  it.each<[string, (start: RunStart) => RunStart]>([
    ['its run id', (start) => ({ ...start, runId: 'another' })],
    ['its session', (start) => ({ ...start, sessionId: 'another' })],
    ['its documents', (start) => ({ ...start, host: { ...start.host, flags: { docs: ['/etc'] } } })],
    [
      'one more flag',
      (start) => ({ ...start, host: { ...start.host, flags: { ...Object(start.host?.['flags']), mcp: ['x'] } } }),
    ],
    ['its signature', (start) => ({ ...start, host: { ...start.host, signature: 'AAAA' } })],
  ])('is not trusted after a change of %s', async (_, change) => {
    const { entries } = await aRunOfMine();
    const flags = store(changed(entries, change));
    await expect(resumeCommand('last', flags, streams())).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/would .*docs.*--trust/u),
    });
  });

  it('is not trusted by another installation', async () => {
    const { entries } = await aRunOfMine();
    anInstallation();
    await expect(resumeCommand('last', store(entries), streams())).rejects.toThrow(/--trust/u);
  });

  it.skipIf(process.platform === 'win32')('is signed with a key that only its owner can read', async () => {
    const { home, entries } = await aRunOfMine();
    const key = join(home, 'signing.key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(entries)).not.toContain(readFileSync(key, 'utf8').trim());
    expect(readdirSync(home)).toEqual(['cache', 'signing.key']);
    chmodSync(key, 0o644);
    await expect(resumeCommand('last', store(entries), streams())).rejects.toThrow(
      /signing\.key is not private to you/u,
    );
  });

  it('asks at a terminal for the keys that its commands need', async () => {
    anInstallation();
    const trap = aTrap();
    const folder = temporaryFolder();
    write(fileJournals(folder), await aKilledRun({ flags: { mcp: [`touch ${trap.file}-[hidden]`] } }));
    const fake = fakeTerminal(300);
    const resumed = resumeCommand('last', { journals: folder, trust: true }, streams(fake, true));
    const failed = expect(resumed).rejects.toMatchObject({ code: 'mcp_failed' });
    await waitForText(fake, 'Value of');
    await fake.type('secret\r');
    await failed;
    expect(existsSync(`${trap.file}-secret`)).toBe(true);
    expect(fake.written()).not.toContain('secret');
  });
});
