import type { ServerResponse } from 'node:http';
import { LLMock } from '@copilotkit/aimock';
import { afterEach, describe, expect, it } from 'vitest';
import { TASKS, type Task } from '../../../../machines/contracts/phase.ts';
import { ONE_CALL_PER_PHASE } from '../../../../machines/contracts/profile.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { replies } from '../../../../src/testing/replies.ts';
import {
  type ChatBody,
  chatServer,
  completion,
  event,
  respondWithJson,
  streaming,
  taskOf,
} from '../../../support/chat-server.ts';
import { entriesOf } from '../../../support/run-chain.ts';

let mock: LLMock | undefined;
afterEach(async () => {
  await mock?.stop();
  mock = undefined;
});

const NO_WAIT = { backoffBaseMs: 0, backoffMaxMs: 0 };

/** Runs with the real client against a server; only HTTP is awaited. */
function runOn(baseURL: string, limits: PostChainOptions['limits'] = NO_WAIT): Run {
  const model = openaiModel({ model: 'gpt-4.1-mini', apiKey: 'sk-secret', baseURL });
  return createPostChain({ profile: ONE_CALL_PER_PHASE, model, limits }).run({ request: 'Is it so?' });
}

async function mockedChain(): Promise<LLMock> {
  mock = new LLMock({ port: 0, chunkSize: 4, logLevel: 'silent' });
  await mock.start();
  return mock;
}

const asks = (task: Task) => (request: object) => taskOf(request as ChatBody) === task;

describe('a run on an OpenAI-compatible server', () => {
  it('[A9] streams, corrects an invalid reply, and answers', async () => {
    const server = await mockedChain();
    for (const task of TASKS) {
      const good = { content: JSON.stringify(replies[task]) };
      // The intention is invalid until the prompt contains a correction.
      if (task === 'intention')
        server.on(
          { predicate: (request) => asks(task)(request) && request.messages.length === 2 },
          { content: '{"goal": 7}' },
        );
      server.on({ predicate: asks(task) }, good);
    }
    const run = runOn(`${server.url}/v1`);
    const answer = await run.answer;
    expect(answer).toMatchObject({ status: 'completed', answerText: replies.synthesis.answerText });
    const [voided, mended] = entriesOf(run, 'attempt-end').filter(({ task }) => task === 'intention');
    expect(voided?.failure).toMatchObject({
      stage: 'schema',
      issues: expect.arrayContaining([expect.objectContaining({ path: 'goal' })]),
    });
    expect(mended?.failure).toBeNull();
    // The chunks of a reply are joined: at most a piece per half second or per kilobyte.
    const pieces = entriesOf(run, 'text-delta');
    expect(pieces.length).toBeGreaterThanOrEqual(8);
    expect(pieces.map(({ text }) => text).join('')).toContain(JSON.stringify(replies.synthesis.answerText));
    const told = JSON.stringify(server.getRequests().map(({ body }) => body));
    expect(told).toContain('- goal: ');
    expect(answer.metadata.usage).toMatchObject({ modelCalls: 8 });
  });

  it('[A13] waits for Retry-After and continues, also for status 500', async () => {
    let refusals = 0;
    const server = await chatServer(({ body, response }) => {
      refusals += 1;
      if (refusals === 1)
        return respondWithJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after-ms': '5' });
      if (refusals === 2) return respondWithJson(response, 500, { error: { message: 'oops' } });
      say(response, replies[taskOf(body)]);
    });
    const run = runOn(server.baseURL);
    expect((await run.answer).status).toBe('completed');
    expect(entriesOf(run, 'attempt-retry').map(({ delayMs }) => delayMs)).toEqual([5, 0]);
  });

  it('[E3] answers degraded with the reason when the server is killed mid-run', async () => {
    const server = await chatServer(async ({ body, response }) => {
      const task = taskOf(body);
      if (task !== 'observation') return say(response, replies[task]);
      streaming(response);
      response.write(event({ choices: [{ index: 0, delta: { content: '{"insights": ["It' } }] }));
      await server.stop();
    });
    const run = runOn(server.baseURL);
    const answer = await run.answer;
    expect(answer).toMatchObject({
      status: 'degraded',
      metadata: { reason: 'model_unavailable', synthesis: { writtenBy: 'engine' } },
    });
    expect(answer.answerText).toBe(replies.experience.summary);
    expect(answer.notes).toMatch(/observation: .*(connection|refused|reset|ended)/i);
    expect(entriesOf(run, 'attempt-end').filter(({ task }) => task === 'observation')).toHaveLength(4);
  });

  it('closes the connection and answers when canceled mid-stream', async () => {
    const server = await chatServer(({ response }) => {
      streaming(response);
      response.write(event({ choices: [{ index: 0, delta: { content: '{"response": "It may' } }] }));
    });
    const run = runOn(server.baseURL);
    for await (const entry of run.events) if (entry.type === 'text-delta') break;
    run.cancel();
    expect((await run.answer).status).toBe('cancelled');
    await server.allClosed();
  });

  it('ends immediately for a rejected key, which never appears in the journal', async () => {
    const server = await chatServer(({ response }) =>
      respondWithJson(response, 401, { error: { message: 'Incorrect API key provided: sk-secret' } }),
    );
    const run = runOn(server.baseURL);
    const answer = await run.answer;
    expect(answer.metadata).toMatchObject({ reason: 'model_unavailable', usage: { modelCalls: 1 } });
    expect(JSON.stringify(run.journal)).not.toContain('sk-secret');
  });
});

function say(response: ServerResponse, reply: object): void {
  streaming(response).end(completion(JSON.stringify(reply)));
}
