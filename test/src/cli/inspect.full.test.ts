import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMachine } from 'xstate';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { createDurableMachine, fileJournals } from '../../../src/entries/durable.ts';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, streaming, taskOf } from '../../support/chat-server.ts';
import { aUser, cli, type startCli, temporaryFolder } from '../../support/cli.ts';
import { openPage, rawRequest } from '../../support/inspection-server.ts';
import { writeJournal } from '../../support/journal-files.ts';
import { scriptedChain } from '../../support/run-chain.ts';

type Started = ReturnType<typeof startCli>;

const shop = createMachine({ id: 'order', initial: 'open', states: { open: { on: { PAY: 'paid' } }, paid: {} } });

/** The URL printed by the command. */
async function addressIn({ text }: Pick<Started, 'text'>): Promise<string> {
  const printed = /^Inspector: (http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/)$/mu;
  await expect.poll(() => text.stderr).toMatch(printed);
  return printed.exec(text.stderr)?.[1] ?? '';
}

const stays = (started: Started) =>
  expect.poll(() => started.text.stderr).toContain('Press Ctrl-C to stop the inspector');

/** Opens a page on the run of a started command and waits for its first entries. */
async function openedRun(started: Started) {
  const page = await openPage(await addressIn(started));
  const { chosen } = await page.runs(({ runs }) => runs.length === 1);
  const runId = chosen ?? '';
  page.say({ type: 'open', runId, from: 0 });
  await expect.poll(() => page.lines(runId).length).toBeGreaterThan(3);
  return { page, runId };
}

/** A model whose reply to one task waits for `go()`. */
async function aWaitingModel(waitsAt: string) {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const server = await chatServer(async ({ method, body, response }) => {
    if (method === 'GET') return void response.end('{}');
    const task = taskOf(body);
    if (task === waitsAt) await gone;
    streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });
  return { go, env: { OPENAI_BASE_URL: server.baseURL, OPENAI_API_KEY: 'sk-a-key-that-is-secret' } };
}

describe('postchain run --inspect', () => {
  it('shows the run live, stays open after it, and exits with its code', async () => {
    const model = await aWaitingModel('brief');
    const user = aUser(model.env);
    const started = user.start('run', 'Is it so?', '--model', 'good', '--inspect');
    const url = await addressIn(started);
    const page = await openPage(url);
    const { runs, chosen } = await page.runs((list) => list.runs.length === 1);
    expect(runs[0]).toMatchObject({ runId: chosen, title: 'Is it so?', status: 'running', live: true, fidelity: [] });
    const runId = chosen ?? '';
    page.say({ type: 'open', runId, from: 0 });
    await expect.poll(() => page.entries(runId).some((entry) => entry.type === 'phase-start')).toBe(true);
    expect(started.text.stdout).toBe('');
    model.go();
    await page.end(runId);
    await stays(started);
    expect(started.text.stdout).toContain(replies.yield.answer);
    const kept = (await user.call('show', 'last', '--json')).stdout.trimEnd().split('\n');
    expect(page.lines(runId).map((line) => JSON.parse(line))).toEqual(kept.map((line) => JSON.parse(line)));
    const after = await openPage(url);
    expect((await after.runs()).runs).toEqual([expect.objectContaining({ status: 'completed', live: false })]);
    started.child.kill('SIGINT');
    expect((await started.finished).code).toBe(0);
    expect((await page.closed).code).toBe(1001);
    await expect(rawRequest(url)).rejects.toThrow('ECONNREFUSED');
  });

  it('Ctrl-C requests the answer so far during the run, and stops the inspector after it, with 130', async () => {
    const model = await aWaitingModel('brief');
    const started = aUser(model.env).start('run', 'Is it so?', '--model', 'good', '--inspect', '--json');
    const { page, runId } = await openedRun(started);
    started.child.kill('SIGINT');
    await page.end(runId);
    await stays(started);
    expect(JSON.parse(started.text.stdout).status).toBe('cancelled');
    expect(started.text.stderr).toMatch(/^Inspector: .*\nPress Ctrl-C to stop the inspector\.\n$/u);
    started.child.kill('SIGINT');
    expect((await started.finished).code).toBe(130);
  });

  it('SIGTERM exits as soon as the answer so far is printed', async () => {
    const model = await aWaitingModel('brief');
    const started = aUser(model.env).start('run', 'Is it so?', '--model', 'good', '--inspect', '--json');
    await openedRun(started);
    started.child.kill('SIGTERM');
    expect((await started.finished).code).toBe(130);
    expect(JSON.parse(started.text.stdout).metadata.reason).toBe('interrupted');
  });

  it('lets the page finish a resumed run', async () => {
    const model = await aWaitingModel('brief');
    const user = aUser(model.env);
    const killed = user.start('run', 'Is it so?', '--model', 'good', '--inspect');
    const { page: first, runId } = await openedRun(killed);
    await expect.poll(() => first.entries(runId).some((entry) => entry.type === 'activity-start')).toBe(true);
    killed.child.kill('SIGKILL');
    await killed.finished;
    const resumed = user.start('resume', 'last', '--inspect', '--quiet');
    const page = await openPage(await addressIn(resumed));
    expect((await page.runs(({ runs }) => runs[0]?.live === true)).chosen).toBe(runId);
    page.say({ type: 'open', runId, from: 0 });
    expect(await page.request({ type: 'send', runId, event: { type: 'run.finished' } })).toMatchObject({
      problem: null,
    });
    await page.end(runId);
    expect(page.entries(runId)).toContainEqual(expect.objectContaining({ type: 'resumed' }));
    await stays(resumed);
    resumed.child.kill('SIGTERM');
    expect((await resumed.finished).code).toBe(3);
  });

  it('lets the page answer a question for consent, without a terminal', async () => {
    const user = aUser({});
    const history = join(temporaryFolder(), 'history.json');
    writeFileSync(history, JSON.stringify([{ role: 'user', content: `Please. ${'It is a long story. '.repeat(80)}` }]));
    const started = user.start('run', 'What is a cycle?', '--docs', 'docs', '--history', history, '--inspect');
    const { page, runId } = await openedRun(started);
    await expect.poll(() => page.entries(runId).some(({ type }) => type === 'consent-asked')).toBe(true);
    const asked = page.entries(runId).find(({ type }) => type === 'consent-asked') as { questionId: string };
    const { questionId } = asked;
    expect(
      await page.request({ type: 'send', runId, event: { type: 'consent.given', questionId, choice: 'remove' } }),
    ).toMatchObject({ problem: null });
    await page.end(runId);
    const given = page
      .entries(runId)
      .filter((entry) => entry.type === 'delivery')
      .map(({ event }) => event);
    expect(given).toContainEqual({ type: 'consent.given', questionId, choice: 'remove' });
    expect(given).not.toContainEqual(expect.objectContaining({ choice: 'keep' }));
  });

  it('does not start the run if the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await expect.poll(() => server.address()).not.toBeNull();
    const { port } = server.address() as AddressInfo;
    const user = aUser({});
    const { code, stdout, stderr } = await user.call('run', 'Is it so?', '--inspect-port', `${port}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(`postchain: port: ${port} is in use; use another port, or 0 for any free one.\n`);
    expect((await user.call('runs')).stdout).toMatch(/^No recorded runs/u);
  });
});

describe('postchain inspect', () => {
  it('serves recorded runs until Ctrl-C and opens the requested one first', async () => {
    const user = aUser({});
    await user.call('run', 'What is a cycle?', '--docs', 'docs');
    await user.call('run', 'What is a journal?', '--docs', 'docs');
    const [, older] = JSON.parse((await user.call('runs', '--json')).stdout);
    const started = user.start('inspect', older.id.slice(0, 10));
    const url = await addressIn(started);
    const page = await openPage(url);
    const { runs, chosen } = await page.runs();
    expect(chosen).toBe(older.id);
    expect(runs.map(({ title, live }) => [title, live])).toEqual([
      ['What is a journal?', false],
      ['What is a cycle?', false],
    ]);
    page.say({ type: 'open', runId: older.id, from: 0 });
    expect((await page.end(older.id)).problem).toBeNull();
    expect(page.entries(older.id).at(-1)).toMatchObject({ type: 'end', summary: { status: 'completed' } });
    expect(started.text.stdout).toBe('');
    started.child.kill('SIGINT');
    expect((await started.finished).code).toBe(0);
    await expect(rawRequest(url)).rejects.toThrow('ECONNREFUSED');
    const all = user.start('inspect');
    expect((await (await openPage(await addressIn(all))).runs()).chosen).toBeNull();
  });

  it('shows a journal file alone, up to any damage', async () => {
    const file = join(temporaryFolder(), 'run.jsonl');
    const user = aUser({});
    await user.call('run', 'What is a cycle?', '--docs', 'docs', '--journal', file);
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, lines.with(30, '{"what":1}').join('\n'));
    const started = user.start('inspect', file, '--port', '0');
    const page = await openPage(await addressIn(started));
    const { runs, chosen } = await page.runs();
    expect(runs).toEqual([expect.objectContaining({ runId: file, title: 'What is a cycle?' })]);
    expect(chosen).toBe(file);
    page.say({ type: 'open', runId: file, from: 0 });
    expect((await page.end(file)).problem).toMatch(/cannot read entry 30: no checksum/u);
    expect(page.lines(file)).toHaveLength(30);
  });

  it('rejects what cannot be shown before it serves anything', async () => {
    const folder = temporaryFolder();
    const [text, empty] = [join(folder, 'a.txt'), join(folder, 'b.txt')];
    writeFileSync(text, 'no journal\n');
    writeFileSync(empty, '');
    for (const [args, message] of [
      [[text], /cannot read entry 0: not valid JSON/u],
      [[empty], /the journal is empty/u],
      [['nothing'], /Run "nothing" not found/u],
      [['last'], /No recorded runs/u],
      [['--journals', text], /is not a directory/u],
      [['--port', '70000'], /Expected a port number from 0 to 65535/u],
      [['--port', 'x'], /Expected a port number/u],
    ] as const) {
      const { code, stdout, stderr } = await aUser({}).call('inspect', ...args);
      expect(stderr).toMatch(message);
      expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 });
    }
  });

  it('shows before a run is resumed that its model is missing', async () => {
    const user = aUser({});
    const { chain } = scriptedChain({}, { newId: () => 'own' });
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const end = run.entries.findIndex(({ type }) => type === 'phase-end') + 1;
    await writeJournal(fileJournals(user.place), 'own', run.entries.slice(0, end).map(storedEntry));
    const page = await openPage(await addressIn(user.start('inspect', '--journals', user.place)));
    const { runs } = await page.runs((list) => list.runs[0]?.status === 'interrupted');
    expect(runs[0]?.blocked).toMatch(/^The run needs the model scripted, .* Resume it in the program that started it/u);
    expect(runs[0]?.blocked).toContain(`:\npostchain resume own --model NAME --journals ${user.place}`);
    const resumed = await page.request({ type: 'act', runId: 'own', action: { type: 'resume' }, confirmed: null });
    expect(resumed.problem).toContain('needs the model scripted');
  });

  it('resumes and forks recorded runs for the page, with the rules of the command line', async () => {
    const model = await aWaitingModel('brief');
    const user = aUser(model.env);
    const killed = user.start('run', 'Is it so?', '--model', 'good', '--docs', 'docs');
    await expect.poll(() => killed.text.stderr).toMatch(/passages found/u);
    const page = await openPage(await addressIn(user.start('inspect')));
    const { runs } = await page.runs((list) => list.runs[0]?.status === 'running');
    const runId = runs[0]?.runId ?? '';
    expect(await page.request({ type: 'act', runId, action: { type: 'resume' }, confirmed: null })).toMatchObject({
      problem: expect.stringContaining('is still running in'),
    });
    killed.child.kill('SIGKILL');
    await killed.finished;
    model.go();
    await page.runs((list) => list.runs[0]?.status === 'interrupted');
    expect(await page.request({ type: 'act', runId, action: { type: 'resume' }, confirmed: null })).toMatchObject({
      result: { runId, needsTrust: null },
      problem: null,
    });
    await page.runs((list) => list.runs[0]?.status === 'completed');
    const fork = { type: 'fork', at: 20, set: { 'limits.maxCycles': 1 } } as const;
    expect(await page.request({ type: 'act', runId, action: fork, confirmed: null })).toMatchObject({
      result: { needsTrust: null },
      problem: null,
    });
    await page.runs((list) => list.runs.length === 2 && list.runs.every(({ status }) => status === 'completed'));
    const strange = await openPage(await addressIn(user.start('inspect', '--journals', user.place)));
    await strange.runs((list) => list.runs.length === 2);
    const asked = await strange.request({ type: 'act', runId, action: fork, confirmed: null });
    expect(asked).toMatchObject({
      result: {
        runId: null,
        needsTrust: {
          doubt: expect.stringMatching(/may come from someone else/u),
          actions: [expect.stringMatching(/^read docs/u), 'use the model "good" with OPENAI_API_KEY'],
        },
      },
    });
    const confirmed = asked.result?.needsTrust ?? null;
    expect(await strange.request({ type: 'act', runId, action: fork, confirmed })).toMatchObject({
      result: { needsTrust: null },
      problem: null,
    });
    await strange.runs((list) => list.runs.length === 3 && list.runs.every(({ status }) => status === 'completed'));
  });

  it('takes over a run that waits in another process, which stops at its next step', async () => {
    const model = await aWaitingModel('nothing');
    const user = aUser(model.env);
    const held = user.start('run', 'Is it so?', '--model', 'good', '--manual', '--inspect');
    const { page: its, runId } = await openedRun(held);
    await expect.poll(() => its.entries(runId).some(({ type }) => type === 'direction-asked')).toBe(true);
    const page = await openPage(await addressIn(user.start('inspect')));
    await page.runs((list) => list.runs[0]?.status === 'running');
    expect(
      await page.request({ type: 'act', runId, action: { type: 'resume', force: true }, confirmed: null }),
    ).toMatchObject({ result: { runId, needsTrust: null }, problem: null });
    void its.request({ type: 'send', runId, event: { type: 'run.finished' } });
    await expect.poll(() => held.text.stderr).toContain('no longer written by this process');
    expect(await page.request({ type: 'send', runId, event: { type: 'run.finished' } })).toMatchObject({
      problem: null,
    });
    await page.runs((list) => list.runs[0]?.live === false && list.runs[0].status !== 'running');
  });

  it('lists durable actors and opens one by its id, with charts from the given module', async () => {
    const folder = temporaryFolder();
    const place = join(folder, 'orders');
    const orders = createDurableMachine(shop, { journals: fileJournals(place) });
    await (await orders.open('o-17')).close();
    const module = join(folder, 'orders.mjs');
    const imported = (file: string): string => JSON.stringify(pathToFileURL(file).href);
    writeFileSync(
      module,
      `import { createMachine } from ${imported('node_modules/xstate/dist/xstate.cjs.mjs')};
import { createDurableMachine, fileJournals } from ${imported('dist/durable.js')};
const machine = createMachine(${JSON.stringify(shop.config)});
export const orders = createDurableMachine(machine, { journals: fileJournals(${JSON.stringify(place)}) });\n`,
    );
    for (const [args, states] of [
      [['o-17', '--journals', place], []],
      [['o-', '--journals', place], []],
      [['o-17', '--module', module], [3]],
      [['--module', module], [3]],
    ] as const) {
      const started = aUser({}).start('inspect', ...args);
      const page = await openPage(await addressIn(started));
      const { runs, chosen } = await page.runs((list) => list.runs.length === 1);
      expect(runs).toMatchObject([{ runId: 'o-17', kind: 'system', status: 'waiting', machine: 'order' }]);
      expect(chosen).toBe(args[0] === '--module' ? null : 'o-17');
      page.say({ type: 'open', runId: 'o-17', from: 0 });
      await expect
        .poll(() =>
          page
            .all('charts')
            .at(-1)
            ?.charts.map((chart) => chart.states.length),
        )
        .toEqual(states);
      started.child.kill('SIGINT');
      expect((await started.finished).code).toBe(0);
    }
  });

  it('keeps its address on a chosen port, with a token that only this user can read', async () => {
    const home = temporaryFolder();
    const user = aUser({ POSTCHAIN_HOME: home });
    const first = user.start('inspect', '--port', '0');
    const free = new URL(await addressIn(first)).port;
    first.child.kill('SIGINT');
    await first.finished;
    const addresses: string[] = [];
    for (let at = 0; at < 2; at += 1) {
      const started = user.start('inspect', '--port', free);
      addresses.push(await addressIn(started));
      started.child.kill('SIGINT');
      await started.finished;
    }
    expect(addresses[0]).toBe(addresses[1]);
    expect(statSync(join(home, 'inspector.key')).mode & 0o777).toBe(0o600);
    const other = aUser({ POSTCHAIN_HOME: temporaryFolder() }).start('inspect', '--port', free);
    expect(await addressIn(other)).not.toBe(addresses[0]);
  });

  it.skipIf(process.platform !== 'linux')('opens the browser without the token in its arguments', async () => {
    const bin = temporaryFolder();
    const seen = join(bin, 'seen');
    const script = `#!/bin/sh\nfile="\${1#file://}"\nprintf '%s\\n' "$1" > ${seen}.new\nstat -c %a "$file" >> ${seen}.new\ncat "$file" >> ${seen}.new\nmv ${seen}.new ${seen}\n`;
    writeFileSync(join(bin, 'xdg-open'), script, { mode: 0o755 });
    const user = aUser({ PATH: `${bin}:${process.env['PATH']}` });
    const started = user.start('inspect', '--open');
    const url = await addressIn(started);
    await expect.poll(() => existsSync(seen)).toBe(true);
    const [argument = '', mode, ...page] = readFileSync(seen, 'utf8').split('\n');
    expect(argument).toMatch(/^file:\/\/\/.*\.html$/u);
    expect(argument).not.toContain(new URL(url).pathname.replaceAll('/', ''));
    expect(mode).toBe('600');
    expect(page.join('')).toContain(`content="0;url=${url}"`);
    started.child.kill('SIGINT');
    await started.finished;
    expect(existsSync(argument.replace('file://', ''))).toBe(false);
  });

  it('is loaded only by the commands that need it', async () => {
    expect((await cli('--version')).code).toBe(0);
    expect(packagesOf('dist/cli.js')).toEqual([]);
    expect(packagesOf('dist/chunks/start.js')).toEqual([]);
    expect(packagesOf('dist/index.js')).not.toContain('ws');
    expect(packagesOf('dist/inspection.js')).not.toContain('ws');
  });
});

/** Returns the packages that a built file imports statically, also through its chunks. */
function packagesOf(file: string, seen = new Set<string>()): readonly string[] {
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^"\n]*"([^"\n]+)";?$/gmu);
  for (const [, name = ''] of imports) {
    const path = name.startsWith('.') ? join(dirname(file), name) : name;
    if (path === name) seen.add(name);
    else if (!seen.has(path)) packagesOf(path, seen);
  }
  return [...seen].filter((name) => !name.startsWith('dist/') && !name.startsWith('node:')).toSorted();
}
