import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_JOURNALS } from '../../../src/chain/journal/journal-format.ts';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, respondWithJson, streaming } from '../../support/chat-server.ts';
import { cli, startCli, temporaryFolder } from '../../support/cli.ts';

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
    const journal = join(temporaryFolder(), 'run.jsonl');
    const models = ['--model', 'bad', '--fallback-model', 'worse', '--fallback-model', 'good'];
    const env = { OPENAI_BASE_URL: server.baseURL };
    const { code, stdout, stderr } = await startCli(['run', 'Is it so?', ...models, '--journal', journal], env)
      .finished;
    expect(stdout).toContain(replies.yield.answer);
    expect(code).toBe(0);
    expect(stderr).toContain('openai:bad, then openai:worse, then openai:good');
    const [firstLine] = readFileSync(journal, 'utf8').split('\n');
    expect(RUN_JOURNALS.parse(JSON.parse(firstLine ?? ''))).toMatchObject({
      modelId: 'openai:bad',
      fallbackModelIds: ['openai:worse', 'openai:good'],
    });
    const asked = server.exchanges.filter(({ method }) => method === 'POST').map(({ body }) => body.model);
    expect(asked.slice(0, 3)).toEqual(['bad', 'worse', 'good']);
  });

  it('[C4] accepts offline', async () => {
    const server = await serverOfOne();
    const models = ['--model', 'bad', '--fallback-model', 'offline', '--docs', 'docs'];
    const env = { OPENAI_BASE_URL: server.baseURL };
    const { code, stdout } = await startCli(['run', 'What does the Yield phase decide?', ...models], env).finished;
    expect(code).toBe(0);
    expect(stdout).toContain('without a language model');
  });

  it('rejects an empty name with one line, before anything starts', async () => {
    const { code, stdout, stderr } = await cli('run', 'x', '--fallback-model', ' ');
    expect(stderr).toMatch(/^postchain: .*\n$/);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
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
    const journal = join(temporaryFolder(), 'run.jsonl');
    const flags = ['--api', 'responses', '--reasoning-effort', 'low', '--service-tier', 'flex', '--no-stream'];
    const env = { OPENAI_BASE_URL: server.baseURL };
    const { code, stdout } = await startCli(
      ['run', 'Is it so?', '--model', 'good', ...flags, '--journal', journal],
      env,
    ).finished;
    expect(stdout).toContain(replies.yield.answer);
    expect(code).toBe(0);
    const posted = server.exchanges.filter(({ method }) => method === 'POST');
    expect(new Set(posted.map(({ path }) => path))).toEqual(new Set(['/v1/responses']));
    expect(posted[0]?.body).toMatchObject({ reasoning: { effort: 'low' }, service_tier: 'flex' });
    const [firstLine] = readFileSync(journal, 'utf8').split('\n');
    const recorded = { api: 'responses', reasoningEffort: 'low', serviceTier: 'flex' };
    expect(RUN_JOURNALS.parse(JSON.parse(firstLine ?? ''))).toMatchObject({ host: { flags: recorded } });
  });

  it('are rejected in one line if they are invalid', async () => {
    const { code, stderr } = await cli(
      'run',
      'x',
      '--model',
      'good',
      '--base-url',
      'http://127.0.0.1:1/v1',
      '--service-tier',
      ' ',
    );
    expect(stderr).toMatch(/^postchain: .*serviceTier.*\n$/);
    expect(code).toBe(2);
  });
});

describe('postchain run --no-stream', () => {
  it('[A6] requests each reply as one response, and records it for resume', async () => {
    const server = await chatServer(({ body, response }) => {
      const message = { role: 'assistant', content: JSON.stringify(replyTo(body)) };
      respondWithJson(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
    });
    const journal = join(temporaryFolder(), 'run.jsonl');
    const env = { OPENAI_BASE_URL: server.baseURL };
    const { code, stdout } = await startCli(
      ['run', 'Is it so?', '--model', 'good', '--no-stream', '--journal', journal],
      env,
    ).finished;
    expect(stdout).toContain(replies.yield.answer);
    expect(code).toBe(0);
    const posted = server.exchanges.filter(({ method }) => method === 'POST');
    expect(new Set(posted.map(({ body }) => body.stream))).toEqual(new Set([false]));
    const [firstLine] = readFileSync(journal, 'utf8').split('\n');
    expect(RUN_JOURNALS.parse(JSON.parse(firstLine ?? ''))).toMatchObject({ host: { flags: { stream: false } } });
  });
});
