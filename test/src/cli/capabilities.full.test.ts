import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, streaming, taskOf } from '../../support/chat-server.ts';
import { aUser, cli, startCli } from '../../support/cli.ts';

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

/** A model that calls the clock, then the server's tool, and then finishes. */
const calling = () => {
  const step = (capability: string, args: object) => ({ capability, arguments: JSON.stringify(args) });
  let asked = 0;
  return chatServer(({ body, response }) => {
    const task = taskOf(body);
    let reply = replyTo(body);
    if (task === 'action') reply = { ...replies.action, calls: [step('current_time', {})] };
    if (task === 'continuation') {
      asked += 1;
      const next = asked === 1 ? [step('mcp1_get-sum', { a: 2, b: 40 })] : [];
      reply = { done: next.length === 0, finalOutput: null, next };
    }
    streaming(response).end(completion(JSON.stringify(reply)));
  });
};

describe('postchain run --capability and --mcp', () => {
  it('[R6] [R10] offers built-in and server capabilities to the model and lets it run several', async () => {
    const server = await calling();
    const env = { OPENAI_BASE_URL: server.baseURL, POSTCHAIN_CONTINUATION: 'model' };
    const given = ['--capability', 'current_time', '--mcp', `node ${everything} stdio`];
    const { code, stderr, stdout } = await startCli(['run', 'How much?', '--model', 'good', ...given], env).finished;
    expect(stderr).toMatch(/current_time: \S/u);
    expect(stderr).toContain('mcp1_get-sum: The sum of 2 and 40 is 42.\n');
    expect({ code, answered: stdout.includes(replies.yield.answer) }).toEqual({ code: 0, answered: true });
    const tools = server.exchanges.flatMap(({ body }) => body.tools ?? []).map((tool) => tool.function.name);
    expect(tools).toEqual(expect.arrayContaining(['current_time', 'mcp1_get-sum']));
  });

  it('rejects a command that does not exist before anything starts', async () => {
    const { code, stdout, stderr } = await cli('run', 'x', '--mcp', 'no-such-command-anywhere');
    expect(stderr).toMatch(/^postchain: .*no-such-command-anywhere/m);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it.each([
    ['an empty request', ' ', [], /request: expected a question or a task/],
    ['a journal that cannot be written', 'x', ['--journal', 'no/such/folder/run.jsonl'], /no\/such\/folder/],
  ])('closes the server it started after %s', async (_, request, flags, message) => {
    const { code, stderr } = await cli('run', request, '--mcp', `node ${everything} stdio`, ...flags);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});

describe('a key in the command of an MCP server', () => {
  it('is not recorded, and is needed again to resume the run', async () => {
    const user = aUser({});
    const command = `node ${everything} stdio`;
    await user.call('run', 'x', '--mcp', `${command} --api-key hunter2hunter2`);
    await user.call('export', 'last', '-o', join(user.place, 'run.html'));
    const entries = (await user.call('show', 'last', '--json')).stdout;
    expect(entries).toContain('--api-key [hidden]');
    for (const text of [entries, readFileSync(join(user.place, 'run.html'), 'utf8')])
      expect(text).not.toContain('hunter2');
    const { code, stderr } = await user.call('fork', 'last', '--at', '5');
    expect(stderr).toMatch(/does not record the value of --api-key in ".*--api-key \[hidden\]"; pass .* --mcp\n$/u);
    expect(code).toBe(2);
  });

  it('can be given as a reference to an environment variable, which is recorded', async () => {
    const user = aUser({ MY_KEY: 'hunter2hunter2' });
    await user.call('run', 'x', '--mcp', `node ${everything} stdio --api-key $MY_KEY`);
    expect(await user.call('fork', 'last', '--at', '5')).toMatchObject({ code: 3 });
    const text = (await user.call('show', 'last', '--json')).stdout;
    expect(text).toContain('--api-key $MY_KEY');
    expect(text).not.toContain('hunter2');
  });
});
