import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { createLongWork } from '../../../src/cli/long-work.ts';
import { runsCommand } from '../../../src/cli/runs-command.ts';
import { showCommand } from '../../../src/cli/show-command.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { startScripted } from '../../support/run-chain.ts';
import { fakeTerminal } from '../../support/terminal.ts';

const IDS = [
  'e07be2ba-5c33-481b-b352-81912d40ae4b',
  'f139d528-71c8-4903-baad-073c35f5be9e',
  'f139d528-71c8-4903-cccc-073c35f5be9e',
];
const REQUEST = 'What does the Yield phase decide, in which order, and with which of its thresholds?';

async function recordedRuns(ids: readonly string[]) {
  const journals = temporaryFolder();
  const entries: JournalEntry[] = [];
  for (const runId of ids) {
    const { run } = startScripted({}, { newId: () => runId, journals: fileJournals(journals) }, { request: REQUEST });
    await run.answer;
    entries.splice(0, Number.POSITIVE_INFINITY, ...run.entries);
  }
  return { journals, entries };
}

const WIDTHS = [40, 80, 120];

/** A terminal is one column wider than what is written to it, since some wrap a line that fills it. */
const tooLong = (text: string, columns: number): readonly string[] =>
  text.split('\n').filter((line) => line.length >= columns);

beforeEach(() => {
  vi.stubEnv('NO_COLOR', '1');
  vi.stubEnv('FORCE_COLOR', undefined);
});
afterEach(() => void vi.unstubAllEnvs());

describe('postchain runs', () => {
  it.each(WIDTHS)('fits a terminal of %i columns', async (columns) => {
    const { journals } = await recordedRuns(IDS);
    const text = await runsCommand({ journals }, fakeTerminal(columns).terminal.out);
    expect(tooLong(text, columns)).toEqual([]);
    expect(text).toMatch(/^e07be2ba +\d{4}-\d\d-\d\d \d\d:\d\d\s+completed\s.*What does/msu);
    expect(text).toContain('\nf139d528-71c8-4903-b  ');
  });

  it('names its columns on a terminal: also the time and the model, where there is room', async () => {
    const { journals } = await recordedRuns(IDS);
    const [names = '', first = ''] = (await runsCommand({ journals }, fakeTerminal(120).terminal.out)).split('\n');
    expect(names.split(/ {2,}/u)).toEqual(['RUN', 'STARTED', 'STATUS', 'TIME', 'MODEL', 'REQUEST']);
    expect(first.slice(names.indexOf('TIME'), names.indexOf('REQUEST'))).toMatch(/^\d+ ms +scripted +$/u);
    expect(await runsCommand({ journals })).not.toContain('STARTED');
  });

  it('lists only runs with --status', async () => {
    const { journals } = await recordedRuns(IDS);
    expect((await runsCommand({ journals, status: 'completed' })).split('\n').length).toBe(IDS.length + 1);
    expect(await runsCommand({ journals, status: 'failed' })).toBe('No run or actor is failed.\n');
  });

  it('shows times in the local time zone', async () => {
    const { journals } = await recordedRuns(IDS.slice(0, 1));
    const [{ startedAt = '' } = {}] = await fileJournals(journals).list();
    vi.stubEnv('TZ', 'Asia/Kolkata');
    const local = new Date(Date.parse(startedAt) + 5.5 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ');
    expect(await runsCommand({ journals })).toContain(`e07be2ba  ${local}  completed`);
  });

  it('lists at most 20 runs on a terminal, or as many as --limit', async () => {
    const ids = Array.from({ length: 22 }, (_, at) => `run-of-number-${at + 10}`);
    const { journals } = await recordedRuns(ids);
    const { out } = fakeTerminal(80).terminal;
    const rows = (text: string) => text.split('\n').filter((line) => line.startsWith('run-of')).length;
    const text = await runsCommand({ journals }, out);
    expect(rows(text)).toBe(20);
    expect(text).toContain('2 more; see all with: postchain runs --limit 22');
    expect(rows(await runsCommand({ journals, limit: 3 }, out))).toBe(3);
    expect(rows(await runsCommand({ journals }))).toBe(22);
  });

  it('lists only older runs with --older-than', async () => {
    const { journals } = await recordedRuns(IDS.slice(0, 1));
    expect(await runsCommand({ journals, olderThan: 3_600_000_000_000 })).toBe('No run or actor is that old.\n');
    const [{ startedAt = '' } = {}] = await fileJournals(journals).list();
    const age = Date.now() - Date.parse(startedAt);
    if (age > 1) expect(await runsCommand({ journals, olderThan: age - 1 })).toContain('e07be2ba');
  });
});

describe('postchain show', () => {
  it.each(WIDTHS)('fits a terminal of %i columns', async (columns) => {
    const { journals } = await recordedRuns(IDS.slice(0, 1));
    const fake = fakeTerminal(columns);
    await showCommand('last', { journals }, fake.terminal.out);
    expect(tooLong(fake.written(), columns)).toEqual([]);
    expect(fake.written()).toMatch(/ {2}decision\s+confidenceReached:/u);
  });

  it.each(WIDTHS)('--all prints what each guard compared in %i columns, and cuts no value', async (columns) => {
    const { journals, entries } = await recordedRuns(IDS.slice(0, 1));
    const fake = fakeTerminal(columns);
    await showCommand('last', { journals, all: true }, fake.terminal.out);
    expect(tooLong(fake.written(), columns)).toEqual([]);
    const compared = entries.flatMap((entry) =>
      entry.type === 'transition'
        ? entry.candidates
            .filter(({ result }) => result !== 'not-evaluated')
            .flatMap(({ inputs }) => Object.entries(inputs ?? {}).map(([name, value]) => `${name} ${value}`))
        : [],
    );
    expect(compared.length).toBeGreaterThan(20);
    for (const pair of compared) expect(fake.written()).toContain(pair);
  });
});

describe('the status line of long work', () => {
  it('appears after two seconds, fits the terminal, and is removed at the end', () => {
    const fake = fakeTerminal(30);
    let nowMs = 0;
    const work = createLongWork(fake.terminal.out, () => nowMs);
    work.update('Exploring chain: 1 of 2 states found so far');
    expect(fake.written()).toBe('');
    nowMs = 2_500;
    work.update('Exploring chain: 100 of 200 states found so far');
    expect(fake.shown()).toEqual(['Exploring chain: 100 of 200 …']);
    work.end();
    expect(fake.shown()).toEqual([]);
  });

  it('is not written without a terminal', () => {
    const fake = fakeTerminal(30);
    let nowMs = 0;
    const work = createLongWork(Object.assign(fake.terminal.out, { isTTY: false }), () => nowMs);
    nowMs = 10_000;
    work.update('Exploring');
    work.end();
    expect(fake.written()).toBe('');
  });
});
