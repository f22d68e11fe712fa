import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, streaming, taskOf } from '../../support/chat-server.ts';
import { aUser, temporaryFolder } from '../../support/cli.ts';
import { type ClientOptions, connectClient } from '../../support/mcp-client.ts';

const TOOL = { capability: 'mcp1_refusals', arguments: '{}' };
const ask = { name: 'ask', arguments: { question: 'Is it so?' } };

/** A client of `postchain mcp` with a tool that requires approval, the progress that it receives, and a user with the same journals. */
async function connect(options: ClientOptions) {
  const model = await chatServer(({ body, response }) => {
    const reply = taskOf(body) === 'action' ? { ...replies.action, calls: [TOOL] } : replyTo(body);
    streaming(response).end(completion(JSON.stringify(reply)));
  });
  const env = { OPENAI_BASE_URL: model.baseURL, POSTCHAIN_HOME: temporaryFolder() };
  const user = aUser(env);
  const args = ['dist/cli.js', 'mcp', '--model', 'good', '--journals', user.place];
  const mcp = ['--mcp', `${process.execPath} test/support/mcp-server.mjs plain`];
  const { PATH = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args, ...mcp],
    env: { PATH, ...env },
    stderr: 'ignore',
  });
  const client = await connectClient(transport, options);
  const progress: unknown[] = [];
  const { onmessage } = transport;
  // The client does not report progress that it receives together with the result.
  transport.onmessage = (message) => {
    if ('method' in message && message.method === 'notifications/progress') progress.push(message.params?.['message']);
    onmessage?.(message);
  };
  return { client, user, progress };
}

describe('postchain mcp', () => {
  it.each(['legacy', 'auto'] as const)(
    'asks the user of a client of either protocol era (%s), and records the run',
    async (mode) => {
      const asked: string[] = [];
      const { client, user, progress } = await connect({
        mode,
        answer(message) {
          asked.push(message);
          return { action: 'accept', content: { approved: true } };
        },
      });
      const result = await client.callTool(ask, { onprogress: () => {} });
      expect(result).toMatchObject({ structuredContent: { answer: 'It is so.', status: 'completed' } });
      expect(asked).toEqual(['Run the tool mcp1_refusals with {}?']);
      expect(progress).toContain('Running mcp1_refusals');
      await client.close();
      const { stdout } = await user.call('show', 'last', '--json', '--journals', user.place);
      expect(stdout).toContain('"status":"completed"');
    },
  );

  it('cancels the run if a client cancels the call while its user is being asked', async () => {
    const cancelling = new AbortController();
    const { client, user } = await connect({
      mode: 'legacy',
      answer: () => {
        cancelling.abort();
        return new Promise(() => {});
      },
    });
    await expect(client.callTool(ask, { signal: cancelling.signal })).rejects.toThrow();
    await expect.poll(async () => (await user.call('runs', '--journals', user.place)).stdout).toContain('cancelled');
  });
});
