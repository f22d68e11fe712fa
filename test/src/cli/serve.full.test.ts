import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { remoteActor, startActor } from '../../../src/react/remote-actor.ts';
import { followRun, startRun } from '../../../src/react/run-client.ts';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, streaming } from '../../support/chat-server.ts';
import { cli, startCli, temporaryFolder } from '../../support/cli.ts';

const ALICE = 'a-token-of-alice==';
const BOB = 'the-token-of-bob';
const TOKENS = { POSTCHAIN_TOKENS: `${ALICE}=alice, ${BOB}=bob` };
const request = { request: 'What does the Yield phase decide?' };

/** Writes a module that imports what durable machines need. */
function moduleWith(code: string) {
  const folder = temporaryFolder();
  const module = join(folder, 'module.mjs');
  const [durable, xstate] = ['dist/durable.js', 'node_modules/xstate/dist/xstate.esm.js'].map((path) =>
    JSON.stringify(pathToFileURL(path).href),
  );
  const imports = `import { createDurableMachine, memoryJournals } from ${durable};
    import { createMachine } from ${xstate};`;
  writeFileSync(module, `${imports}\n${code}`);
  return { folder, module };
}

/** Starts `postchain serve` on a free port. */
async function serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const started = startCli(['serve', '--port', '0', ...args], env);
  await expect.poll(() => started.text.stderr).toContain('Press Ctrl-C to stop the server.');
  const [, url = ''] = /^Server: (http:\/\/\S+)$/mu.exec(started.text.stderr) ?? [];
  const [, token = ''] = /Bearer ([\w-]{43})"/u.exec(started.text.stderr) ?? [];
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    started.child.kill(signal);
    return (await started.finished).code;
  };
  return { ...started, server: { url, token }, stop };
}

async function answerOf(server: { readonly url: string; readonly token: string }, runId: string) {
  for await (const { view, error } of followRun(() => server, runId, new AbortController().signal)) {
    if (error !== null) throw error;
    if (view.answer !== null) return view.answer;
  }
  return null;
}

describe('postchain serve', () => {
  it('prints a request that works with its token, keeps the runs for its next start, and stops on a signal', async () => {
    const env = { POSTCHAIN_JOURNALS: join(temporaryFolder(), 'journals') };
    const first = await serve(['--docs', 'docs', '--log', 'json'], env);
    const [, body = ''] = /-d '(.*)'/u.exec(first.text.stderr) ?? [];
    const runId = await startRun(first.server, JSON.parse(body));
    const answer = await answerOf(first.server, runId);
    expect(answer?.status).not.toBe('cancelled');
    await expect.poll(() => first.text.stdout.split('\n')).toHaveLength(3);
    const lines = first.text.stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', method: 'POST', path: '/runs', status: 201, owner: 'local', time: expect.any(String) },
      { level: 'info', method: 'GET', path: `/runs/${runId}/events`, status: 200, owner: 'local' },
    ]);
    expect(await first.stop('SIGINT')).toBe(0);
    await expect(fetch(`${first.server.url}/healthz`)).rejects.toThrow();
    const second = await serve([], env);
    expect(second.server.token).not.toBe(first.server.token);
    expect(await answerOf(second.server, runId)).toEqual(answer);
    expect(await second.stop()).toBe(0);
  });

  it('serves the durable machines of modules under their ids', async () => {
    const { folder, module } = moduleWith(
      `const states = { off: { on: { TOGGLE: 'on' } }, on: {} };
       const lamp = createMachine({ id: 'lamp', initial: 'off', states });
       export const lamps = createDurableMachine(lamp, { journals: memoryJournals() });`,
    );
    const { server, text, stop } = await serve(['--module', module], { POSTCHAIN_JOURNALS: join(folder, 'journals') });
    expect(text.stderr).toContain(`Machine: ${server.url}/machines/lamp\n`);
    const lamp = remoteActor(server, 'lamp', await startActor(server, 'lamp'));
    expect(await lamp.send({ type: 'TOGGLE' })).toBe(true);
    lamp.subscribe(() => {});
    await expect.poll(() => lamp.getSnapshot()?.value).toBe('on');
    expect(await stop()).toBe(0);
    const copy = join(folder, 'copy.mjs');
    copyFileSync(module, copy);
    const { code, stderr } = await cli('serve', '--port', '0', '--module', module, '--module', copy);
    const message = '--module: expected machines with different ids; received two with the id "lamp"';
    expect([code, stderr]).toEqual([2, `postchain: ${message}\n`]);
  });

  it('serves the durable machines of other modules as agents', async () => {
    const { folder, module } = moduleWith(
      `const echo = createMachine({
         id: 'echo',
         initial: 'said',
         context: ({ input }) => ({ said: input }),
         output: ({ context }) => ({ said: context.said }),
         states: { said: { type: 'final' } },
       });
       const host = createDurableMachine(echo, { journals: memoryJournals() });
       export const agent = { host, input: ({ request }) => request, reply: ({ said }) => 'You said: ' + said };`,
    );
    const { server, text, stop } = await serve(['--agents', module], { POSTCHAIN_JOURNALS: join(folder, 'journals') });
    expect(text.stderr).toContain(`Agent: echo; OpenAI clients: ${server.url}/v1, model echo\n`);
    const [, body = ''] = /-d '(.*)'/u.exec(text.stderr) ?? [];
    const runId = await startRun(server, JSON.parse(body));
    expect(await answerOf(server, runId)).toMatchObject({ answerText: 'You said: What is this about?' });
    expect(await stop()).toBe(0);
  });

  it('rejects an unknown option of an agent', async () => {
    const { module } = moduleWith(`export const agent = {
      host: createDurableMachine(createMachine({ id: 'echo' }), { journals: memoryJournals() }),
      inputs: () => 1,
    };`);
    const { code, stderr } = await cli('serve', '--port', '0', '--agents', module);
    expect([code, stderr]).toEqual([2, expect.stringContaining('agents.echo.inputs: unknown option')]);
  });

  it('continues an interrupted run at its next start, and so does the client that followed it', async () => {
    let isBack = false;
    const model = await chatServer(({ method, body, response }) => {
      if (method === 'GET') return void response.end('{}');
      if (isBack) streaming(response).end(completion(JSON.stringify(replyTo(body))));
    });
    const env = {
      POSTCHAIN_JOURNALS: join(temporaryFolder(), 'journals'),
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-a-key-that-is-secret',
      ...TOKENS,
    };
    const first = await serve(['--model', 'good'], env);
    expect(first.text.stderr).toContain('Bearer $TOKEN');
    const alice = { url: first.server.url, token: ALICE };
    const runId = await startRun(alice, request);
    const connections: string[] = [];
    const following = (async () => {
      for await (const { view, connection } of followRun(() => alice, runId, new AbortController().signal)) {
        if (connections.at(-1) !== connection) connections.push(connection);
        if (view.answer !== null) return view.answer;
      }
      return null;
    })();
    await expect.poll(() => model.exchanges.filter(({ method }) => method === 'POST').length).toBeGreaterThan(0);
    await expect.poll(() => connections).toEqual(['open']);
    expect(await first.stop()).toBe(0);
    isBack = true;
    const { server, text } = await serve(['--model', 'good', '--port', new URL(alice.url).port], env);
    expect(await following).toMatchObject({ answerText: replies.yield.answer });
    expect(connections).toEqual(['open', 'connecting', 'open', 'closed']);
    await expect(answerOf({ ...server, token: BOB }, runId)).rejects.toMatchObject({ code: 'unknown_run' });
    await expect.poll(() => text.stdout).toMatch(/^GET \/runs\/\S+\/events 404 \d+ ms bob$/mu);
    expect(text.stdout + text.stderr).not.toMatch(/token-of/u);
  });

  it('lets pages of the given origins call it', async () => {
    const origins = ['--origin', 'https://chat.example.com/', '--origin', 'app://localhost/'];
    const { server } = await serve([...origins, '--token', BOB]);
    const statusFor = async (origin: string) =>
      (await fetch(`${server.url}/runs`, { headers: { origin, authorization: `Bearer ${BOB}` } })).status;
    for (const origin of ['https://chat.example.com', 'app://localhost']) expect(await statusFor(origin)).toBe(200);
    // The origin of any sandboxed page.
    expect(await statusFor('null')).toBe(403);
    expect(await statusFor('https://evil.example.com')).toBe(403);
  });

  it.each([
    [
      ['--host', '0.0.0.0'],
      {},
      /--host 0\.0\.0\.0 lets other machines connect: set POSTCHAIN_TOKENS .* and --allow-host/,
    ],
    [['--host', '0.0.0.0'], TOKENS, /--allow-host to the public name of the server$/m],
    [['--host', '0.0.0.0', '--allow-host', 'chain.example.com'], {}, /set POSTCHAIN_TOKENS/],
    [['--token', 'secret'], {}, /expected unique tokens of at least 16 characters/],
    [[], { POSTCHAIN_TOKENS: 'secret-without-owner' }, /POSTCHAIN_TOKENS .token=owner/],
    [['--docs', 'no-such-folder'], {}, /"no-such-folder"/],
  ])('rejects %j with %j, before anything starts', async (args, env, message) => {
    const { code, stdout, stderr } = await startCli(['serve', '--port', '0', ...args], env).finished;
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^postchain: .*\n$/u);
    expect(stderr).not.toContain('secret');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('rejects a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await startCli(['serve', '--port', String(port)]).finished;
    expect(stderr).toBe(
      `postchain: --port: port ${port} on 127.0.0.1 is already in use; pass another port, or 0 for a free one\n`,
    );
    expect(code).toBe(2);
  });
});
