import { expect, it, vi } from 'vitest';
import { connectMcp } from '../../../../src/tools/mcp/connect-mcp.ts';
import type { McpOptions } from '../../../../src/tools/mcp/options.ts';

const url = 'http://127.0.0.1:1/mcp';

it.each<[unknown, RegExp]>([
  [undefined, /^options of connectMcp: /u],
  ['docs', /^options of connectMcp: /u],
  [{ name: 'a b', command: 'node' }, /^name: must be at most 32 letters.*; received "a b"/u],
  [{ name: 'x'.repeat(33), command: 'node' }, /^name: .* at most 32/u],
  [{ name: 'a' }, /^command: .*; received undefined/u],
  [{ name: 'a', url, command: 'node' }, /^command: unknown option/u],
  [{ name: 'a', url: 'ftp://a/' }, /^url: must be an http or https URL; received "ftp:\/\/a\/"/u],
  [{ name: 'a', url: 'nonsense' }, /^url: must be an http or https URL; received "nonsense"/u],
  [{ name: 'a', url: 'http://user:sec@a/' }, /^"url" must not contain a user or password/u],
  [{ name: 'a', url, headers: { 'x y': 'sec' } }, /^headers: .*"x y" has an invalid name or value/u],
  [{ name: 'a', url, headers: { key: 'sec\nret' } }, /^headers: .*"key" has an invalid name or value/u],
  [{ name: 'a', url, connectTimeoutMs: 0 }, /^connectTimeoutMs: .*; received 0/u],
  [{ name: 'a', command: 'node', timeout: 1 }, /^timeout: unknown option; expected one of name, include/u],
])('rejects invalid options before starting anything: %j', async (options, message) => {
  const error = await connectMcp(options as McpOptions).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) });
  expect(error.message).not.toMatch(/sec|\n/u);
});

it('names the package to install if the SDK is missing', async () => {
  vi.resetModules();
  vi.doMock('@modelcontextprotocol/client', () => {
    throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  });
  const { connectMcp: withoutSdk } = await import('../../../../src/tools/mcp/connect-mcp.ts');
  await expect(withoutSdk({ name: 'a', command: 'node' })).rejects.toMatchObject({
    code: 'mcp_failed',
    message:
      'connectMcp requires the package "@modelcontextprotocol/client", which is not installed; run: npm install @modelcontextprotocol/client',
  });
});
