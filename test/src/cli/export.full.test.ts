import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { type ExportFlags, exportCommand } from '../../../src/cli/export-command.ts';
import { createDurableMachine, fileJournals } from '../../../src/entries/durable.ts';
import type { ExportedRun, ObservedEntry } from '../../../src/inspection/wire.ts';
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

describe('the exported page of a durable actor', () => {
  const shop = setup({
    types: { input: {} as { customer: string; account: number } },
    actors: { charge: fromPromise(async () => ({ 'ann@example.org': 'charged' })) },
  }).createMachine({
    id: 'shop',
    context: ({ input }) => ({ ...input, receipt: null as unknown }),
    initial: 'charging',
    states: {
      charging: {
        invoke: {
          src: 'charge',
          onDone: { target: 'charged', actions: assign({ receipt: ({ event }) => event.output }) },
        },
      },
      charged: { on: { close: 'closed' } },
      closed: { type: 'final' },
    },
  });

  /** An actor in a store, and a module that exports its machine. */
  async function anActor(id = 'order-of-ann@example.org') {
    const journals = temporaryFolder();
    const host = createDurableMachine(shop, { journals: fileJournals(journals) });
    const actor = await host.open(id, { input: { customer: 'ann@example.org', account: 4111 } });
    await actor.park({ wait: true });
    const module = join(journals, 'shop.mjs');
    writeFileSync(module, 'export const { host } = globalThis.shops;');
    Object.assign(globalThis, { shops: { host } });
    return { journals, module: [module], id };
  }

  /** Exports an actor and returns the text of the command and the data in the page. */
  async function exported(name: string, flags: Partial<ExportFlags>) {
    const output = outputIn(temporaryFolder());
    const text = await exportCommand(name, { output, ...flags });
    const [, data = ''] = /id="recording" data-sha256="[0-9a-f]{64}">([^<]*)/u.exec(readFileSync(output, 'utf8')) ?? [];
    const page = JSON.parse(data) as ExportedRun;
    return { text, data, page, rows: page.lines.map((line) => JSON.parse(line) as ObservedEntry) };
  }

  it('has everything in the journal and, with the machine, charts and contexts', async () => {
    const { journals, module, id } = await anActor();
    const alone = await exported('order-', { journals });
    expect(alone.text).toContain(`${id} looks like an email address`.slice(9));
    expect(alone.page.run).toMatchObject({ runId: id, kind: 'system', status: 'waiting', machine: 'shop' });
    expect(alone.page.run.fidelity.join()).toContain('pass the durable machine "shop": --module FILE');
    expect(alone.page.states).toEqual([]);
    const file = readdirSync(journals).find((name) => name.endsWith('.jsonl')) ?? '';
    expect((await exported(join(journals, file), {})).rows).toEqual(alone.rows);
    const hosted = await exported('order-', { module });
    expect(hosted.page.charts.charts[0]?.states.map(({ name }) => name)).toContain('charged');
    expect(hosted.page.states.length).toBeGreaterThan(0);
    expect(hosted.page.run.fidelity).toEqual([]);
  });

  it('hides text in ids, keys, results, contexts and charts, and stays readable', async () => {
    const { module } = await anActor();
    const patterns = ['ann@example.org', '4111', 'charged', 'value', 'type'];
    const whole = await exported('order-', { module });
    const { data, page, rows } = await exported('order-', { module, redact: patterns });
    for (const text of ['ann@', '4111', 'charged']) {
      expect(whole.data).toContain(text);
      expect(data).not.toContain(text);
    }
    expect(rows.map(({ type }) => type)).toEqual(whole.rows.map(({ type }) => type));
    expect(page.run.title).toBe('order-of-[redacted]');
    const moves = rows.filter((row) => row.type === 'transition').flatMap(({ target }) => target);
    const states = page.charts.charts.flatMap((chart) => chart.states.map(({ id }) => id));
    expect(states).toEqual(expect.arrayContaining([...moves]));
    const preview = await exportCommand('order-', { module, preview: true, redact: ['4111'] });
    expect(preview).toMatch(/all events, results and, with the machine, contexts\..*\n\d+ redactions:/u);
    expect(preview).toMatch(/page\.(?:frame\.context|entry\.input)\.account/u);
  });

  it('has a default name with the whole id', async () => {
    const { journals } = await anActor('order/17');
    const before = process.cwd();
    try {
      process.chdir(journals);
      expect(await exportCommand('order/17', { journals })).toMatch(/^Wrote actor-order_17\.html .*\n.* actor: /u);
    } finally {
      process.chdir(before);
    }
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
