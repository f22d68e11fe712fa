import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RunProduct } from '../../../machines/contracts/journal.ts';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { inspectedActions } from '../../../src/cli/inspected-actions.ts';
import { forkCommand, resumeCommand } from '../../../src/cli/resume-and-fork-commands.ts';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import { fileJournals, journalFile } from '../../../src/durable/journals/file-journals.ts';
import type { JournalStore } from '../../../src/durable/journals/journal-store.ts';
import { sqliteJournals } from '../../../src/durable/journals/sqlite-journals.ts';
import type { NeedsTrust } from '../../../src/inspection/wire.ts';
import { extractiveModel } from '../../../src/models/extractive/extractive-model.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { writeJournal } from '../../support/journal-files.ts';
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
async function aKilledRun(host: RunProduct['host']) {
  const { run } = startScripted({}, { newId: () => 'friendly' }, { ...(host && { host }) });
  await run.answer;
  const [start, ...others] = run.entries.slice(0, 20).map(storedEntry);
  // As if the extractive model had answered: no other is resumed with it.
  const product = { ...Object(start).product, modelId: extractiveModel().id };
  return [{ ...start, product } as DurableEntry, ...others];
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

describe('a run that someone else may have recorded', () => {
  it.each<[string, (folder: string) => { store: JournalStore; name: string; flags?: object }]>([
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
  ])('starts no command from %s', async (_, place) => {
    const trap = aTrap();
    const { store, name, flags = {} } = place(temporaryFolder());
    anInstallation();
    await writeJournal(store, 'friendly', await aKilledRun({ flags: trap.flags }));
    const refused = {
      code: 'invalid_option',
      message: expect.stringMatching(/would start mcp "touch .*owned".*may come from someone else.*--trust/u),
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
    await writeJournal(fileJournals(folder), 'friendly', await aKilledRun(null));
    expect(await resumeCommand('last', { journals: folder, quiet: true }, streams())).toBeTypeOf('number');
  });

  it.each<[string, Record<string, string | string[]>, Record<string, string>, string]>([
    ['none', {}, { OPENAI_API_KEY: 'x' }, 'gpt-4.1-mini'],
    ['none, with the default of the user', {}, { POSTCHAIN_MODEL: 'mine' }, 'mine'],
    ['a fallback model', { model: 'offline', fallbackModel: ['dear'] }, {}, 'dear'],
    [
      'a model on the server of the user',
      { model: 'dear', baseUrl: 'http://a/' },
      { OPENAI_BASE_URL: 'http://a/' },
      'dear',
    ],
  ])('does not spend the key of the user: its model is %s', async (_, flags, env, model) => {
    anInstallation(env);
    const folder = temporaryFolder();
    await writeJournal(fileJournals(folder), 'friendly', await aKilledRun({ flags }));
    const refused = { code: 'invalid_option', message: expect.stringContaining(`would use the model "${model}" with`) };
    await expect(resumeCommand('last', { journals: folder }, streams())).rejects.toMatchObject(refused);
    await expect(forkCommand('last', { journals: folder, at: 5 }, streams())).rejects.toMatchObject(refused);
  });

  it.each<[string, Key[], boolean]>([
    ['Escape', ['escape'], false],
    ['no', ['enter'], false],
    ['yes', ['down', 'enter'], true],
  ])('starts its command at a terminal only after yes (%s)', async (_, keys, isStarted) => {
    const trap = aTrap();
    anInstallation();
    const folder = temporaryFolder();
    await writeJournal(fileJournals(folder), 'friendly', await aKilledRun({ flags: trap.flags }));
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

describe('a run that is replaced while the user reviews it', () => {
  const fork = { at: 5, set: {} };
  /** A store with a run that names one command, and one that gives another run when it is read again. */
  async function aReplacedRun(first: string[], readsOfFirst: number) {
    const trap = aTrap();
    anInstallation();
    const [folder, replaced] = [temporaryFolder(), temporaryFolder()];
    const run = (mcp: string[]) => aKilledRun({ flags: { model: 'offline', ...(mcp.length > 0 && { mcp }) } });
    await writeJournal(fileJournals(folder), 'friendly', await run(first));
    await writeJournal(fileJournals(replaced), 'friendly', await run(trap.flags.mcp));
    let reads = 0;
    const now = (): JournalStore => fileJournals(reads++ < readsOfFirst ? folder : replaced);
    const store = {
      ...fileJournals(folder),
      read: (id: string) => now().read(id),
      open: (id: string) => now().open(id),
    };
    return { trap, actions: inspectedActions({ journals: store, isFile: false, isForeign: true }) };
  }

  it.each(['resume', 'fork'] as const)('after the question was shown is asked about again (%s)', async (name) => {
    const { trap, actions } = await aReplacedRun(['harmless'], 1);
    const act = async (confirmed: NeedsTrust | null) =>
      name === 'resume'
        ? actions.resume('friendly', { force: false, confirmed })
        : actions.fork('friendly', fork, { confirmed });
    const asked = (await act(null)) as NeedsTrust;
    expect(asked.actions).toEqual(['start mcp "harmless"']);
    expect(await act(asked)).toMatchObject({ actions: [`start mcp "touch ${trap.file}"`] });
    expect(trap.isOwned()).toBe(false);
  });

  it('after its first entry was read opens nothing', async () => {
    const { trap, actions } = await aReplacedRun([], 1);
    await expect(actions.resume('friendly', { force: false, confirmed: null })).rejects.toThrow(
      /was replaced while it was being opened/u,
    );
    const forked = await aReplacedRun([], 1);
    expect(await forked.actions.fork('friendly', fork, { confirmed: null })).toHaveProperty('id');
    expect([trap.isOwned(), forked.trap.isOwned()]).toEqual([false, false]);
  });

  it('is not taken over if it was answered at that moment, and can be resumed', async () => {
    const { actions } = await aReplacedRun([], 9);
    await expect(actions.resume('friendly', { force: true, confirmed: null })).rejects.toThrow(/answered at the same/u);
    expect(await actions.resume('friendly', { force: false, confirmed: null })).toHaveProperty('id');
  });
});

describe('a run in the journal directory of the user', () => {
  const here = (flags: object) => ({ flags: { ...flags, directory: process.cwd() } });

  it.each<[string, (folder: string) => [place: string, env: Record<string, string>]]>([
    ['the default one', (folder) => [join(folder, 'journals'), { POSTCHAIN_HOME: folder }]],
    ['POSTCHAIN_JOURNALS', (folder) => [folder, { POSTCHAIN_JOURNALS: folder }]],
  ])('is continued without --trust: %s', async (_, places) => {
    const trap = aTrap();
    const [folder, env] = places(temporaryFolder());
    anInstallation(env);
    await writeJournal(fileJournals(folder), 'friendly', await aKilledRun(here(trap.flags)));
    await expect(resumeCommand('last', {}, streams())).rejects.toMatchObject({ code: 'mcp_failed' });
    expect(trap.isOwned()).toBe(true);
  });

  it('starts no command if it was started in another directory', async () => {
    const trap = aTrap();
    const folder = temporaryFolder();
    anInstallation({ POSTCHAIN_JOURNALS: folder });
    await writeJournal(
      fileJournals(folder),
      'friendly',
      await aKilledRun({ flags: { ...trap.flags, directory: '/another' } }),
    );
    await expect(forkCommand('last', { at: 5 }, streams())).rejects.toThrow(
      /it was started in "\/another"; pass --trust/u,
    );
    expect(trap.isOwned()).toBe(false);
  });

  it.each([
    ['secret\r', 'mcp_failed', true],
    ['\u0004', 'invalid_option', false],
  ])('asks at a terminal for the keys that its commands need: %j', async (typed, code, isStarted) => {
    anInstallation();
    const trap = aTrap();
    const folder = temporaryFolder();
    await writeJournal(
      fileJournals(folder),
      'friendly',
      await aKilledRun({ flags: { mcp: [`touch ${trap.file}-[hidden]`] } }),
    );
    const fake = fakeTerminal(300);
    const resumed = resumeCommand('last', { journals: folder, trust: true }, streams(fake, true));
    const failed = expect(resumed).rejects.toMatchObject({ code });
    await waitForText(fake, 'Value of');
    await fake.type(typed);
    await failed;
    expect(existsSync(`${trap.file}-secret`)).toBe(isStarted);
    expect(fake.written()).not.toContain('secret');
  });
});
