import { expect, it, vi } from 'vitest';
import { connectMcp } from '../../../../src/tools/mcp/connect-mcp.ts';
import type { McpOptions } from '../../../../src/tools/mcp/options.ts';

const url = 'http://127.0.0.1:1/mcp';

it.each<[object, RegExp]>([
  [{ name: 'a b', command: 'node' }, /^name: expected letters.*; received "a b"/u],
  [{ name: 'x'.repeat(33), command: 'node' }, /^name: .* at most 32/u],
  [{ name: 'a' }, /^command: .*; received undefined/u],
  [{ name: 'a', url, command: 'node' }, /^command: unknown option/u],
  [{ name: 'a', url: 'ftp://a/' }, /^url: expected a URL with http or https.*; received "ftp:\/\/a\/"/u],
  [{ name: 'a', url: 'nonsense' }, /^url: expected a URL.*; received "nonsense"/u],
  [{ name: 'a', url: 'http://user:sec@a/' }, /^url: .*; received one with a user or password/u],
  [{ name: 'a', url, headers: { 'x y': 'sec' } }, /^headers: "x y" is no header that HTTP can send/u],
  [{ name: 'a', url, headers: { key: 'sec\nret' } }, /^headers: "key" is no header that HTTP can send/u],
  [{ name: 'a', url, connectTimeoutMs: 0 }, /^connectTimeoutMs: .*; received 0/u],
  [{ name: 'a', command: 'node', timeout: 1 }, /^timeout: unknown option; expected one of name, include/u],
])('options that make no sense are refused before anything is started: %j', async (options, message) => {
  const error = await connectMcp(options as McpOptions).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) });
  expect(error.message).not.toMatch(/sec|\n/u);
});

it('without the SDK’s package, it is said what to install', async () => {
  vi.resetModules();
  vi.doMock('@modelcontextprotocol/client', () => {
    throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  });
  const { connectMcp: withoutSdk } = await import('../../../../src/tools/mcp/connect-mcp.ts');
  await expect(withoutSdk({ name: 'a', command: 'node' })).rejects.toMatchObject({
    code: 'mcp_failed',
    message:
      'connectMcp needs the package @modelcontextprotocol/client, which is not installed beside postchain; run npm install @modelcontextprotocol/client',
  });
});
