import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { type DeleteFlags, deleteRuns } from '../../../src/cli/delete-runs.ts';
import { replayCommand } from '../../../src/cli/replay-command.ts';
import { resumeCommand } from '../../../src/cli/resume-and-fork-commands.ts';
import { runsCommand } from '../../../src/cli/runs-command.ts';
import { showCommand } from '../../../src/cli/show-command.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { createDurableMachine, type DurableEntry } from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { writeJournal } from '../../support/journal-files.ts';
import { startScripted } from '../../support/run-chain.ts';
import { fakeTerminal, type Key, waitForText } from '../../support/terminal.ts';

const DAY_MS = 86_400_000;

/** Records runs that started so many days ago, by id. */
async function recordedRuns(days: Readonly<Record<string, number>>) {
  const journals = temporaryFolder();
  for (const [runId, age] of Object.entries(days)) {
    const { run } = startScripted({}, { newId: () => runId });
    await run.answer;
    const startedAt = new Date(Date.now() - age * DAY_MS).toISOString();
    await writeJournal(
      fileJournals(journals),
      runId,
      run.entries.map((entry) => storedEntry(entry.type === 'start' ? { ...entry, startedAt } : entry)),
    );
  }
  const left = async () => (await fileJournals(journals).list()).map(({ id }) => id).toSorted();
  const remove = (flags: Omit<DeleteFlags, 'journals'>, asker: Parameters<typeof deleteRuns>[1] = null) =>
    deleteRuns({ journals, ...flags }, asker);
  return { journals, left, remove };
}

describe('postchain runs --delete', () => {
  it('deletes the named runs', async () => {
    const { journals, left, remove } = await recordedRuns({ apple: 1, banana: 2, cherry: 3 });
    expect(await remove({ delete: ['app', 'cherry'], yes: true })).toBe('Deleted 2 runs.\n');
    expect(await left()).toEqual(['banana']);
    expect(readdirSync(journals)).toHaveLength(1);
  });

  it('needs the store to delete from if a module has another', async () => {
    const deleting = deleteRuns({ delete: ['apple'], yes: true, module: ['orders.mjs'] }, null);
    await expect(deleting).rejects.toThrow('--delete with a module needs the store to delete from');
  });

  it('lists the actors with some attributes', async () => {
    const { journals } = await recordedRuns({ apple: 1 });
    const machine = setup({}).createMachine({ id: 'order', on: { PAY: {} } });
    const stored = fileJournals(journals);
    for (const total of [40, 41]) {
      const orders = createDurableMachine(machine, {
        journals: stored,
        describeAttributes: () => ({ customer: 'c-1', total }),
      });
      await orders.start(`o-${total}`).park();
    }
    const listed = (where: readonly string[]) => runsCommand({ journals, where });
    expect(await listed(['customer=c-1', 'total=40'])).toMatch(/^o-40 .* actor of order customer=c-1 total=40$/mu);
    expect((await listed(['total=40', 'total=41'])).split('\n')).toHaveLength(3);
    expect(await listed(['total=4'])).toBe('No run or actor matches.\n');
    const [actor] = JSON.parse(await runsCommand({ journals, where: ['total=41'], json: true }));
    expect(actor.attributes).toEqual({ customer: 'c-1', total: 41 });
  });

  it('shows and deletes actors of other machines in the same directory', async () => {
    const { journals, left, remove } = await recordedRuns({ apple: 1 });
    const machine = setup({}).createMachine({
      id: 'order',
      initial: 'open',
      states: { open: { on: { PAY: 'paid' } }, paid: {} },
    });
    const orders = createDurableMachine(machine, { journals: fileJournals(journals) });
    await orders.start('o-17', { product: { owner: 'alice' } }).close();
    expect(await left()).toEqual(['apple', 'o-17']);
    for (const command of [replayCommand, resumeCommand])
      await expect(command('o-17', { journals })).rejects.toThrow(
        '"o-17" is a durable actor of order, not a run; "postchain show o-17" prints it. To replay, resume or fork it, pass --module FILE',
      );
    expect(await remove({ delete: true, olderThan: 0, yes: true })).toBe('Deleted 1 run.\n');
    expect(await runsCommand({ journals })).toMatch(/o-17.*waiting +\(PAY since \d{4}-.*\) actor of order$/mu);
    for (const name of ['o-17', 'o-', 'last']) {
      const { terminal, shown } = fakeTerminal(200);
      await showCommand(name, { journals }, terminal.out);
      expect(shown().join('\n')).toMatch(
        /^o-17 · .* · actor of order · waiting · since \d{4}-.*\n +0 .*start .*\n +\d .*closed .*Parked: not in memory until PAY(?! or)/su,
      );
    }
    await expect(runsCommand({ journals: join(journals, 'jornals') })).rejects.toThrow(/jornals" do not exist; check/u);
    const [file = ''] = readdirSync(journals).filter((name) => name.endsWith('.jsonl'));
    const reading = replayCommand(join(journals, file), {});
    await expect(reading).rejects.toThrow('is a durable actor of order, not a run');
    const held = await orders.open('o-17');
    await expect(remove({ delete: ['o-17'], yes: true })).rejects.toThrow('Actor o-17 is in progress');
    await held.stop();
    expect(await runsCommand({ journals, olderThan: 0 })).toMatch(/^o-17 .* stopped .*actor of order$/mu);
    expect(await remove({ delete: ['o-1'], yes: true })).toBe('Deleted 1 actor.\n');
    await (await orders.open('o-18')).stop();
    await expect(remove({ delete: ['o-18'] })).rejects.toThrow('would delete 1 actor; pass --yes');
    expect(await remove({ delete: true, olderThan: 0, yes: true })).toBe('Deleted 1 actor.\n');
    expect(await orders.list()).toEqual([]);
  });

  it('deletes runs that are older than an age', async () => {
    const { left, remove } = await recordedRuns({ apple: 1, banana: 29, cherry: 31 });
    expect(await remove({ delete: true, olderThan: 30 * DAY_MS, yes: true })).toBe('Deleted 1 run.\n');
    expect(await left()).toEqual(['apple', 'banana']);
    expect(await remove({ delete: true, olderThan: 30 * DAY_MS, yes: true })).toBe('No run or actor is that old.\n');
  });

  it('counts the age from the last entry, and keeps runs that wait', async () => {
    const { journals, left, remove } = await recordedRuns({ ended: 90 });
    const { run } = startScripted();
    await run.answer;
    const [first, ...others] = run.entries.map(storedEntry);
    const start = { ...first, startedAt: new Date(Date.now() - 90 * DAY_MS).toISOString() } as DurableEntry;
    const now = new Date().toISOString();
    const place = { seq: 1, atMs: 0 };
    const waiting = { sinceMs: 0, dueAtMs: null, events: [] };
    const journalOf: Record<string, DurableEntry[]> = {
      waiting: [start, { ...place, type: 'closed', closedAt: now, waiting }],
      resumed: [start, { ...place, type: 'resumed', resumedAt: now }, { ...others.at(-1), seq: 2 } as DurableEntry],
    };
    for (const [runId, entries] of Object.entries(journalOf)) {
      await writeJournal(fileJournals(journals), runId, entries);
    }
    expect(await remove({ delete: true, olderThan: 30 * DAY_MS, yes: true })).toBe('Deleted 1 run.\n');
    expect(await left()).toEqual(['resumed', 'waiting']);
  });

  it('never deletes a run in progress', async () => {
    const { journals, left, remove } = await recordedRuns({ apple: 40, banana: 40 });
    const { writer } = await fileJournals(journals).open('apple');
    const { run } = startScripted({}, { newId: () => 'running' });
    await run.answer;
    const running = fileJournals(journals).create('running');
    await running.write(run.entries.slice(0, 9).map(storedEntry));
    await expect(remove({ delete: ['running'], yes: true })).rejects.toThrow(/Run running is in progress/u);
    expect(await remove({ delete: true, olderThan: 1, yes: true }).catch(String)).toMatch(
      /1 run in progress skipped\. Deleted 1 run\. 1 run could not be deleted: apple/u,
    );
    expect(await left()).toEqual(['apple', 'running']);
    await writer.close();
    await running.close();
  });

  it.each<[object, RegExp]>([
    [{ delete: true, yes: true }, /needs run ids, or --older-than/u],
    [{ delete: ['apple'], olderThan: 1, yes: true }, /received both/u],
    [{ delete: ['nothing'], yes: true }, /Run "nothing" not found/u],
    [{ delete: ['apple'] }, /would delete 1 run; pass --yes/u],
  ])('%j deletes nothing', async (flags, message) => {
    const { left, remove } = await recordedRuns({ apple: 1 });
    await expect(remove(flags as DeleteFlags)).rejects.toThrow(message);
    expect(await left()).toEqual(['apple']);
  });

  it.each<[Key[], readonly string[]]>([
    [['enter'], ['apple']],
    [['escape'], ['apple']],
    [['down', 'enter'], []],
  ])('asks at a terminal, where %j leaves %j', async (keys, expected) => {
    const { left, remove } = await recordedRuns({ apple: 1 });
    const fake = fakeTerminal();
    const removed = remove({ delete: ['apple'] }, fake.terminal).catch(String);
    await waitForText(fake, 'Esc');
    expect(fake.shown().join('\n')).toMatch(/apple .*\n.*Delete 1 run\?/u);
    await fake.press(...keys);
    expect(await removed).toContain(expected.length === 0 ? 'Deleted 1 run.' : 'Nothing was deleted');
    expect(await left()).toEqual(expected);
  });
});
