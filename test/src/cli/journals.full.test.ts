import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { localTime } from '../../../src/cli/screen.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { createPostChain, defineCapability } from '../../../src/entries/index.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, streaming, taskOf } from '../../support/chat-server.ts';
import { aUser, cli, startCli, temporaryFolder } from '../../support/cli.ts';

const ANSWER = replies.yield.answer;

/** A model that records its tasks and does not answer its first call for one of them. */
async function aModel(hangsAt: string | null = null) {
  const asked: string[] = [];
  let hangs = hangsAt;
  const server = await chatServer(({ method, body, response }) => {
    // The key is checked before a run.
    if (method === 'GET') return void response.end('{}');
    const task = taskOf(body);
    asked.push(task);
    if (task === hangs) {
      hangs = null;
      return;
    }
    streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });
  return { asked, env: { OPENAI_BASE_URL: server.baseURL, OPENAI_API_KEY: 'sk-a-key-that-is-secret' } };
}

describe('recorded runs', () => {
  it.each(['journals', 'journals.db'])('are listed, shown and replayed from %s', async (name) => {
    const model = await aModel();
    const user = aUser(model.env, join(temporaryFolder(), name));
    expect((await user.call('runs')).stdout).toMatch(/^No recorded runs/u);
    await user.call('run', 'Is it so?', '--model', 'good');
    const { stdout } = await user.call('runs', '--json');
    const [run] = JSON.parse(stdout);
    expect(run).toMatchObject({ request: 'Is it so?', status: 'completed' });
    expect((await user.call('show', 'last', '--json')).stdout).not.toContain('sk-a-key');
    expect((await user.call('runs')).stdout).toContain(
      `${run.id.slice(0, 8)}  ${localTime(run.startedAt)}  completed  Is it so?`,
    );
    const story = await user.call('show', run.id.slice(0, 8));
    expect(story.stdout).toMatch(/^Is it so\?\n.* · openai:good\n +\d+ Cycle 1\n/u);
    expect(story.stdout).toMatch(/\n +\d+ {2}decision .*confidenceReached/u);
    expect(story.stdout).toContain(ANSWER);
    const all = await user.call('show', 'last', '--all');
    expect(all.stdout).toMatch(
      /transition .*cycleLimitReached false \(completedCycles 1, maxCycles 5\); .*confidenceReached true/u,
    );
    const before = model.asked.length;
    expect(await user.call('replay', 'last')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Identical: \d+ entries, 1 decision\n$/u),
    });
    expect(model.asked).toHaveLength(before);
  });

  it('are not written with --no-journal, and go into a file with --journal', async () => {
    const model = await aModel();
    const user = aUser(model.env);
    await user.call('run', 'Is it so?', '--model', 'good', '--no-journal');
    expect(existsSync(user.place)).toBe(false);
    const file = join(temporaryFolder(), 'run.jsonl');
    await user.call('run', 'Is it so?', '--model', 'good', '--journal', file);
    expect(existsSync(user.place)).toBe(false);
    expect((await user.call('replay', file)).stdout).toMatch(/^Identical/u);
  });

  it('only warn if the default location is not writable, but fail if a chosen one is not', async () => {
    const home = join(temporaryFolder(), 'home');
    writeFileSync(home, 'no folder');
    const question = ['run', 'What does the Yield phase decide?', '--docs', 'docs', '--quiet'];
    const run = await startCli(question, { HOME: home, POSTCHAIN_JOURNALS: '' }).finished;
    expect(run).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/warning: the run is not recorded: Cannot write the journal/u),
    });
    const asked = await aUser({}, join(home, 'journals')).call('run', 'Is it so?', '--quiet');
    expect(asked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/Cannot write the journal/u) });
  });

  it('are rejected if an entry was changed by hand', async () => {
    const file = join(temporaryFolder(), 'run.jsonl');
    const user = aUser({});
    await user.call('run', 'Is it so?', '--journal', file);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"type":"phase-end"', '"type":"phase-start"'));
    const { code, stderr } = await user.call('replay', file);
    expect(stderr).toMatch(/cannot read entry \d+: checksum mismatch/u);
    expect(code).toBe(2);
  });
});

/** A module that exports a durable machine, whose actors are kept beside it. */
const ordersModule = (folder: string, paid: string): string => `
import { createMachine } from ${JSON.stringify(pathToFileURL('node_modules/xstate/dist/xstate.cjs.mjs').href)};
import { createDurableMachine, fileJournals } from ${JSON.stringify(pathToFileURL('dist/durable.js').href)};
const order = createMachine({
  id: 'order',
  initial: 'open',
  states: { open: { on: { PAY: '${paid}' } }, ${paid}: { on: { SHIP: 'open' } } },
});
export const orders = createDurableMachine(order, { journals: fileJournals(${JSON.stringify(join(folder, 'orders'))}) });
`;

const START = `
import { orders } from './orders.mjs';
const order = await orders.open('o-1');
await order.send({ type: 'PAY' });
await order.close();
`;

describe('postchain check-deploy', () => {
  it('replays the runs that have not ended', async () => {
    const model = await aModel('brief');
    const user = aUser(model.env);
    const nothing = 'No runs are recorded. To check durable actors, pass the modules that export their machines.\n';
    expect(await user.call('check-deploy')).toMatchObject({ code: 1, stdout: nothing });
    expect(await user.call('check-deploy', '--json')).toMatchObject({ code: 1, stdout: '[]\n' });
    expect(await user.call('check-deploy', '--journals', '.')).toMatchObject({
      code: 0,
      stdout: 'Nothing waits: there are no runs.\n',
    });
    const other = aUser({});
    await other.call('run', 'Is it so?', '--quiet');
    expect((await other.call('check-deploy')).stdout).toBe('Nothing waits: 1 run has ended.\n');
    const killed = user.start('run', 'Is it so?', '--model', 'good');
    await expect.poll(() => model.asked.at(-1)).toBe('brief');
    killed.child.kill('SIGKILL');
    await killed.finished;
    const same = await user.call('check-deploy');
    expect(same).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^continues {2}\S+ {2}interrupted\n1 of 1 can/u),
    });
  });

  it.each(['missing', 'missing.db', 'mysql://localhost/runs'])('rejects the journals %s', async (name) => {
    const place = name.includes(':') ? name : join(temporaryFolder(), name);
    const { code, stdout, stderr } = await cli('check-deploy', '--journals', place);
    expect(stderr).toMatch(/^postchain: .*; (?:check --journals|expected a directory, an SQLite file .*)\.?\n$/u);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(existsSync(place)).toBe(false);
  });

  it('checks the actors of the durable machines that a module exports', async () => {
    const folder = temporaryFolder();
    const module = join(folder, 'orders.mjs');
    writeFileSync(module, ordersModule(folder, 'PAID'));
    writeFileSync(join(folder, 'start.mjs'), START);
    await promisify(execFile)(process.execPath, [join(folder, 'start.mjs')]);
    expect(await cli('check-deploy', module)).toMatchObject({
      code: 0,
      stdout: 'continues  o-1  waiting\n1 of 1 can continue on this version.\n',
    });
    writeFileSync(module, ordersModule(folder, 'BILLED'));
    const changed = await cli('check-deploy', module);
    expect(changed.stdout).toMatch(/^fails {6}o-1 {2}waiting {2}entry 2: .*\n1 of 1 cannot continue: /u);
    expect(changed.code).toBe(1);
    writeFileSync(module, 'export const orders = 1;');
    expect(await cli('check-deploy', module)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/exports no durable machine/u),
    });
  });
});

describe('postchain resume and fork', () => {
  it('[promise 6] resumes a killed run without repeating calls', async () => {
    const model = await aModel('yield');
    const user = aUser(model.env);
    const killed = user.start('run', 'Is it so?', '--model', 'good', '--profile', 'thorough');
    await expect.poll(() => model.asked.at(-1)).toBe('yield');
    expect((await user.call('runs')).stdout).toContain('running');
    expect(await user.call('resume', 'last')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is still running in process \d+/u),
    });
    killed.child.kill('SIGKILL');
    await killed.finished;
    expect((await user.call('runs')).stdout).toMatch(
      /interrupted.*\n1 interrupted; continue one with: postchain resume <run>/u,
    );
    const resumed = await user.call('resume', 'last');
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining(replies.synthesis.answerText) });
    expect(model.asked.filter((task) => task === 'yield')).toHaveLength(2);
    expect(model.asked.filter((task) => task !== 'yield').sort()).toEqual([
      'action',
      'experience',
      'intention',
      'observation',
      'synthesis',
      'understanding',
    ]);
    expect((await user.call('replay', 'last')).stdout).toMatch(/^Identical/u);
    const again = await user.call('resume', 'last', '--quiet');
    expect(again).toMatchObject({ code: 0, stdout: resumed.stdout });
    expect(model.asked).toHaveLength(8);
  });

  it('leaves a run that waits for approval to the program that has its model and tools', async () => {
    const place = temporaryFolder();
    const calls = [{ capability: 'pay', arguments: '{}' }];
    const pay = defineCapability({
      name: 'pay',
      description: 'Pays.',
      arguments: z.object({}),
      approval: 'always',
      execute: () => {},
    });
    const chain = createPostChain({
      model: scriptedModel(({ task }) => ({ reply: task === 'action' ? { ...replies.action, calls } : {} })),
      capabilities: [pay],
      journals: fileJournals(place),
    });
    const run = chain.run({ request: 'Pay.' });
    for await (const { type } of run.events) if (type === 'approval-asked') break;
    await chain.close();
    const user = aUser({}, place);
    for (const given of [[], ['--model', 'offline'], ['--approve', 'always']])
      expect(await user.call('resume', run.id, ...given)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /needs the (?:tools pay|model scripted, not .+); resume it in the program that started it/u,
        ),
      });
    expect(JSON.parse((await user.call('runs', '--json')).stdout)).toMatchObject([{ status: 'waiting' }]);
  });

  it('changes a threshold in a fork and leaves the original unchanged', async () => {
    const model = await aModel();
    const user = aUser(model.env);
    const file = join(temporaryFolder(), 'run.jsonl');
    await user.call('run', 'Is it so?', '--model', 'good', '--journal', file, '--max-cycles', '2');
    const before = readFileSync(file, 'utf8');
    const at = JSON.parse(before.split('\n').find((line) => line.includes('"type":"decision"')) ?? '').seq;
    const change = ['--at', String(at), '--set', 'thresholds.confidence=0.99'];
    const fork = await user.call('fork', file, '--model', 'good', ...change);
    expect(fork.stderr).not.toContain('confidenceReached');
    expect(fork.stderr).toMatch(/decision .*(?:answerConverged|cycleLimitReached)/u);
    expect(readFileSync(file, 'utf8')).toBe(before);
    const story = await user.call('show', 'last');
    expect(story.stdout).toContain(`at ${at}: thresholds.confidence=0.99`);
  });

  it('reopens the documents of the run in a fork', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'papers'));
    writeFileSync(join(folder, 'papers', 'a.md'), '# Bridges\n\nThe harbour bridge was opened in 1932.\n');
    const user = aUser({});
    await user.call('run', 'When was the harbour bridge opened?', '--docs', join(folder, 'papers'));
    const fork = await user.call('fork', 'last', '--at', '5');
    expect(fork.stderr).toContain('1 document');
    expect(fork.stdout).toContain('1932');
  });
});

describe('edge cases', () => {
  it('lists a new fork before its original, with its origin', async () => {
    const user = aUser((await aModel()).env);
    await user.call('run', 'Is it so?', '--model', 'good');
    const [run] = JSON.parse((await user.call('runs', '--json')).stdout);
    await user.call('fork', 'last', '--at', '5', '--set', 'limits.maxCycles=2');
    const [fork, first] = JSON.parse((await user.call('runs', '--json')).stdout);
    expect(first).toEqual(run);
    expect(fork).toMatchObject({ forkedFrom: { actorId: run.id, seq: 5 } });
    expect((await user.call('runs')).stdout).toContain(`(fork of ${run.id.slice(0, 8)} at 5) Is it so?`);
    expect((await user.call('show', 'last')).stdout).toContain('answer, confidence 0.95');
  });

  it('rejects an empty journal file', async () => {
    const place = temporaryFolder();
    writeFileSync(join(place, 'a.jsonl'), '');
    const user = aUser({}, place);
    expect((await user.call('runs')).stdout).toContain('damaged');
    for (const command of ['show', 'resume'])
      expect(await user.call(command, 'a')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/empty|"start"/u),
      });
  });
});
