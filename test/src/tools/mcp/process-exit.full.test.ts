import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { hasExited, mcpHttpServer, oneToolServer, sendMessage } from '../../../support/mcp.ts';

/** A separate program that uses the built package and never calls exit. */
async function program(...args: readonly string[]) {
  const child = spawn(process.execPath, ['test/support/mcp-embedder.mjs', ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stderr, lines: stdout.trim().split('\n') };
}

it('a program that closed its connection exits by itself, and its server with it', async () => {
  const { code, stderr, lines } = await program('plain');
  expect({ code, stderr, lines }).toEqual({ code: 0, stderr: '', lines: [expect.stringMatching(/^\d+$/u), 'closed'] });
  expect(hasExited(String(lines[0]))).toBe(true);
});

it.each([
  ['died', 'dying', ['closed']],
  ['is executing a call', 'hanging', ['The MCP server "it" failed at "hang": it was closed', 'closed']],
  ['never answered', 'silent', ['The MCP server "it" could not be connected: no answer within 300 ms']],
  ['left a child process behind', 'parent', [expect.stringMatching(/^\d+$/u), 'closed']],
])('a program whose server %s exits by itself without unhandled rejections', async (_, manner, lines) => {
  expect(await program(manner)).toEqual({ code: 0, stderr: '', lines });
});

it('a program with a server at a URL exits by itself', async () => {
  const works = { content: [{ type: 'text', text: 'worked' }] };
  const { url } = await mcpHttpServer(
    oneToolServer(({ id }, response) => sendMessage(response, { id, result: works })),
  );
  expect(await program('over HTTP', url)).toEqual({ code: 0, stderr: '', lines: ['worked', 'closed'] });
});
