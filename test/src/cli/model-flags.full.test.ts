import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRun } from '../../../src/chain/journal/run-journal.ts';
import { runStartOf } from '../../../src/chain/journal/run-start.ts';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { durableFormat } from '../../../src/durable/durable-format.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { replies } from '../../../src/testing/replies.ts';
import {
  type ChatServer,
  chatServer,
  completion,
  replyingServer,
  replyTo,
  respondWithJson,
  streaming,
} from '../../support/chat-server.ts';
import { aUser, startCli, temporaryFolder } from '../../support/cli.ts';
import { writeJournal } from '../../support/journal-files.ts';

/** Runs the command on this server, and returns its progress, the first entry of its journal and the requests for replies. */
async function runOn({ baseURL, exchanges }: ChatServer, ...flags: readonly string[]) {
  const journal = join(temporaryFolder(), 'run.jsonl');
  const args = ['run', 'Is it so?', ...flags, '--journal', journal];
  const { code, stdout, stderr } = await startCli(args, { OPENAI_BASE_URL: baseURL }).finished;
  expect(stdout).toContain(replies.yield.answer);
  expect(code).toBe(0);
  const [firstLine = ''] = readFileSync(journal, 'utf8').split('\n');
  const posted = exchanges.filter(({ method }) => method === 'POST');
  return { stderr, start: durableFormat.parse(JSON.parse(firstLine)), posted };
}

/** A server that has only the model "good". */
const serverOfOne = () =>
  chatServer(({ body, response }) => {
    if (body.model !== 'good')
      return respondWithJson(response, 404, { error: { message: 'the model does not exist' } });
    streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });

describe('postchain run --fallback-model', () => {
  it('[C4] tries the models in order until one answers', async () => {
    const server = await serverOfOne();
    const models = ['--model', 'bad', '--fallback-model', 'worse', '--fallback-model', 'good'];
    const { stderr, start, posted } = await runOn(server, ...models);
    expect(stderr).toContain('openai:bad, then openai:worse, then openai:good');
    expect(start).toMatchObject({
      product: { modelId: 'openai:bad', fallbackModelIds: ['openai:worse', 'openai:good'] },
    });
    expect(posted.map(({ body }) => body.model).slice(0, 3)).toEqual(['bad', 'worse', 'good']);
  });

  it('[C4] accepts offline', async () => {
    const server = await serverOfOne();
    const models = ['--model', 'bad', '--fallback-model', 'offline', '--docs', 'docs'];
    const env = { OPENAI_BASE_URL: server.baseURL };
    const { code, stdout } = await startCli(['run', 'What does the Yield phase decide?', ...models], env).finished;
    expect(code).toBe(0);
    expect(stdout).toContain('the extractive model (no LLM)');
  });
});

describe('postchain run without a usable model', () => {
  it('prints why as an error, and only what the documents gave', async () => {
    const { baseURL } = await serverOfOne();
    const args = ['run', 'What does the Yield phase decide?', '--model', 'bad'];
    const alone = await startCli(args, { OPENAI_BASE_URL: baseURL }).finished;
    expect(alone).toMatchObject({ code: 3, stdout: '' });
    expect(alone.stderr).toMatch(
      /\n\npostchain: .*404.*: the model does not exist; or use another --base-url or --model/u,
    );
    const { code, stdout } = await startCli([...args, '--docs', 'docs'], { OPENAI_BASE_URL: baseURL }).finished;
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Passages found:\n- The Yield phase decides by these rules/u);
    const json = await startCli([...args, '--json'], { OPENAI_BASE_URL: baseURL }).finished;
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'degraded', metadata: { reason: 'model_unavailable' } });
  });
});

describe('postchain run --api, --reasoning-effort and --service-tier', () => {
  it('are sent with each request, and recorded for resume', async () => {
    const server = await chatServer(({ body, response }) => {
      const content = [{ type: 'output_text', text: JSON.stringify(replyTo(body)) }];
      respondWithJson(response, 200, {
        object: 'response',
        status: 'completed',
        output: [{ type: 'message', content }],
      });
    });
    const flags = ['--api', 'responses', '--reasoning-effort', 'low', '--service-tier', 'flex', '--no-stream'];
    const { start, posted } = await runOn(server, '--model', 'good', ...flags);
    expect(new Set(posted.map(({ path }) => path))).toEqual(new Set(['/v1/responses']));
    expect(posted[0]?.body).toMatchObject({ reasoning: { effort: 'low' }, service_tier: 'flex' });
    const recorded = { api: 'responses', reasoningEffort: 'low', serviceTier: 'flex' };
    expect(start).toMatchObject({ product: { host: { flags: recorded } } });
  });
});

describe('postchain run --embeddings', () => {
  it('[C5] searches the documents by meaning, too, and records it for resume', async () => {
    const server = await chatServer(({ path, body, response }) => {
      if (path !== '/v1/embeddings') return void streaming(response).end(completion(JSON.stringify(replyTo(body))));
      const data = Array.from(body.input as unknown as string[], (text, index) => ({
        index,
        embedding: [/dog|pets/i.test(text) ? 1 : 0, 0.1],
      }));
      respondWithJson(response, 200, { object: 'list', data });
    });
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'house.md'), '# House rules\n\nPets are not allowed.');
    const flags = ['--model', 'good', '--docs', folder, '--embeddings', 'small'];
    const { start, posted } = await runOn(server, ...flags);
    const embedded = posted.filter(({ path }) => path === '/v1/embeddings');
    expect(embedded.map(({ body }) => [body.model, body.input])).toEqual([
      ['small', ['House rules\nPets are not allowed.']],
      ['small', ['Is it so?']],
    ]);
    expect(start).toMatchObject({ product: { host: { flags: { embeddings: 'small' } } } });
  });

  it('needs documents', async () => {
    const { code, stderr } = await startCli(['run', 'Is it so?', '--embeddings', 'small']).finished;
    expect({ code, stderr: stderr.trim() }).toMatchObject({ code: 2 });
    expect(stderr).toContain('--embeddings searches documents: add --docs PATH');
  });
});

describe('postchain run --no-stream', () => {
  it('[A6] requests each reply as one response, and records it for resume', async () => {
    const server = await chatServer(({ body, response }) => {
      const message = { role: 'assistant', content: JSON.stringify(replyTo(body)) };
      respondWithJson(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
    });
    const { start, posted } = await runOn(server, '--model', 'good', '--no-stream');
    expect(new Set(posted.map(({ body }) => body.stream))).toEqual(new Set([false]));
    expect(start).toMatchObject({ product: { host: { flags: { stream: false } } } });
  });
});

/** Runs once with this server, and keeps only the first entries, as after a kill. */
async function aKilledRun(baseURL: string) {
  const env = { OPENAI_API_KEY: 'sk-mine' };
  const { place, ...user } = aUser(env);
  await user.call('run', 'Is it so?', '--model', 'good', '--base-url', baseURL);
  const [{ id: runId = '' } = {}] = await fileJournals(place).list();
  const entries = await readRun(fileJournals(place).read(runId));
  const killed = join(place, 'killed');
  const journals = fileJournals(killed);
  await writeJournal(journals, runId, entries.slice(0, 20).map(storedEntry));
  return { user: aUser(env, killed), start: runStartOf(entries), killed };
}

describe('the base URL of the model server', () => {
  it('is recorded, and used again when the run is resumed without OPENAI_BASE_URL', async () => {
    const server = await replyingServer();
    const { user, start } = await aKilledRun(server.baseURL);
    expect(start.product.host).toMatchObject({ flags: { model: 'good', baseUrl: server.baseURL } });
    const before = server.exchanges.length;
    expect(await user.call('resume', 'last')).toMatchObject({ code: 0 });
    expect(server.exchanges.length).toBeGreaterThan(before);
  });

  it('is not replaced silently by another OPENAI_BASE_URL', async () => {
    const [first, second] = [await replyingServer(), await replyingServer()];
    const { user, killed } = await aKilledRun(first.baseURL);
    const env = { OPENAI_API_KEY: 'sk-mine', OPENAI_BASE_URL: second.baseURL, POSTCHAIN_JOURNALS: killed };
    const refused = await startCli(['resume', 'last'], env).finished;
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe(
      `postchain: Run ${refused.stderr.split(' ')[2]} used the model server ${first.baseURL}, but OPENAI_BASE_URL is ${second.baseURL}; set OPENAI_BASE_URL or --base-url to the one to use\n`,
    );
    const resumed = await user.call('resume', 'last', '--base-url', second.baseURL);
    expect(resumed.code).toBe(0);
    expect(second.exchanges.length).toBeGreaterThan(0);
  });

  it('of a run that someone else recorded gets no key without --trust', async () => {
    const server = await replyingServer();
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
    const [{ id: runId = '' } = {}] = await fileJournals(user.place).list();
    const { limits } = runStartOf(await readRun(fileJournals(user.place).read(runId))).input;
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
    const server = await replyingServer();
    const user = aUser({}, temporaryFolder());
    const ended = await user.call('run', 'Is it so?', '--model', 'good', '--base-url', server.baseURL);
    const [{ id: runId = '' } = {}] = await fileJournals(user.place).list();
    await server.stop();
    const again = await user.call('resume', 'last');
    expect(again).toMatchObject({ code: 0, stdout: ended.stdout });
    expect(again.stderr).toContain('This run has already ended.');
    const json = await user.call('resume', runId, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ answerText: replies.yield.answer });
    expect(json.stderr).toBe('');
    const entries = await readRun(fileJournals(user.place).read(runId));
    expect(entries.at(-1)?.type).toBe('end');
  });

  it('fork does not report that a fork that ends at once had ended before', async () => {
    const user = aUser({}, temporaryFolder());
    await user.call('run', 'Is it so?', '--model', 'offline');
    const { stderr } = await user.call('fork', 'last', '--at', '20');
    expect(stderr).toContain('the fork repeats the run from there on');
    expect(stderr).not.toContain('already ended');
  });
});
