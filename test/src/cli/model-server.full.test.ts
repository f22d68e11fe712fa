import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runStartOf } from '../../../src/chain/journal/journal-format.ts';
import { fileJournals } from '../../../src/chain/journal/node-stores.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, streaming } from '../../support/chat-server.ts';
import { aUser, startCli, temporaryFolder } from '../../support/cli.ts';

const aServer = () =>
  chatServer(({ method, body, response }) => {
    if (method === 'GET') return void response.end('{}');
    streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });

/** Runs once with this server, and keeps only the first entries, as after a kill. */
async function aKilledRun(baseURL: string) {
  const env = { OPENAI_API_KEY: 'sk-mine' };
  const { place, ...user } = aUser(env);
  await user.call('run', 'Is it so?', '--model', 'good', '--base-url', baseURL);
  const [{ runId = '' } = {}] = await fileJournals(place).list();
  const entries = await entriesOf(fileJournals(place).read(runId));
  const killed = join(place, 'killed');
  const journals = fileJournals(killed);
  const writer = journals.create(runId);
  writer.write(entries.slice(0, 20));
  writer.close();
  return { user: aUser(env, killed), start: runStartOf(entries), killed };
}

describe('the base URL of the model server', () => {
  it('is recorded, and used again when the run is resumed without OPENAI_BASE_URL', async () => {
    const server = await aServer();
    const { user, start } = await aKilledRun(server.baseURL);
    expect(start.host).toMatchObject({ flags: { model: 'good', baseUrl: server.baseURL } });
    const before = server.exchanges.length;
    expect(await user.call('resume', 'last')).toMatchObject({ code: 0 });
    expect(server.exchanges.length).toBeGreaterThan(before);
  });

  it('is not replaced silently by another OPENAI_BASE_URL', async () => {
    const [first, second] = [await aServer(), await aServer()];
    const { user, killed } = await aKilledRun(first.baseURL);
    const env = { OPENAI_API_KEY: 'sk-mine', OPENAI_BASE_URL: second.baseURL, POSTCHAIN_JOURNALS: killed };
    const refused = await startCli(['resume', 'last'], env).finished;
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe(
      `postchain: Run ${refused.stderr.split(' ')[2]} used the model server ${first.baseURL}, but OPENAI_BASE_URL is ${second.baseURL}; pass --base-url with the one to use\n`,
    );
    const resumed = await user.call('resume', 'last', '--base-url', second.baseURL);
    expect(resumed.code).toBe(0);
    expect(second.exchanges.length).toBeGreaterThan(0);
  });

  it('of a run that someone else recorded gets no key without --trust', async () => {
    const server = await aServer();
    const { killed } = await aKilledRun(server.baseURL);
    const before = server.exchanges.length;
    const { code, stderr } = await startCli(['resume', 'last', '--journals', killed], { OPENAI_API_KEY: 'sk-other' })
      .finished;
    expect(stderr).toContain(`would send the run and OPENAI_API_KEY to the model server "${server.baseURL}"`);
    expect({ code, asked: server.exchanges.length }).toEqual({ code: 2, asked: before });
  });
});

describe('the check of the model server before a run', () => {
  it('counts toward --timeout', async () => {
    const server = await chatServer(({ method, response }) => {
      if (method !== 'GET') response.writeHead(400).end('{}');
    });
    const user = aUser({ OPENAI_API_KEY: 'sk-mine' });
    await user.call('run', 'Is it so?', '--model', 'good', '--base-url', server.baseURL, '--timeout', '4');
    const [{ runId = '' } = {}] = await fileJournals(user.place).list();
    const { limits } = runStartOf(await entriesOf(fileJournals(user.place).read(runId)));
    // The check waits for a quarter of the time.
    expect(limits.totalMs).toBeLessThan(3_500);
  });
});

describe('without what a model needs', () => {
  it('a missing openai package is reported before the run starts', async () => {
    const folder = temporaryFolder();
    const hooks = `export async function resolve(name, context, next) {
      if (name === 'openai') throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    }`;
    const register = join(folder, 'register.mjs');
    writeFileSync(join(folder, 'hooks.mjs'), hooks);
    writeFileSync(register, `import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);`);
    const env = { OPENAI_API_KEY: 'x', NODE_OPTIONS: `--import ${register}` };
    expect(await startCli(['run', 'hi'], env).finished).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'postchain: --model gpt-4.1-mini requires the package "openai", which is not installed; run: npm install openai\n',
    });
  });

  it('a missing key is reported in the words of the command line', async () => {
    expect(await startCli(['run', 'hi', '--model', 'gpt-4']).finished).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'postchain: --model gpt-4 requires OPENAI_API_KEY, which is not set; set it (to any text if the server needs none), or use --model offline\n',
    });
  });

  it('resume prints the answer of a run that has ended', async () => {
    const server = await aServer();
    const user = aUser({}, temporaryFolder());
    const ended = await user.call('run', 'Is it so?', '--model', 'good', '--base-url', server.baseURL);
    const [{ runId = '' } = {}] = await fileJournals(user.place).list();
    await server.stop();
    const again = await user.call('resume', 'last');
    expect(again).toMatchObject({ code: 0, stdout: ended.stdout });
    expect(again.stderr).toContain('This run has already ended.');
    const json = await user.call('resume', runId, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ answerText: replies.yield.answer });
    expect(json.stderr).toBe('');
    const entries = await entriesOf(fileJournals(user.place).read(runId));
    expect(entries.at(-1)?.type).toBe('run-end');
  });
});
