import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startServer } from '../../support/chain-server.ts';
import { installClients } from '../../support/client-packages.ts';

installClients('mcp-conformance', ['@modelcontextprotocol/conformance@0.1.16']);
const PROGRAM = 'node_modules/.clients/mcp-conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js';

/** The others need tools, resources and prompts of their own reference server. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'dns-rebinding-protection',
  'server-sse-multiple-streams',
];

it.each(SCENARIOS)('the conformance suite of MCP accepts the server: %s', async (scenario) => {
  const { url } = await startServer({ authorize: () => 'alice' });
  const options = ['server', '--url', `${url}/mcp`, '--scenario', scenario];
  const { stdout } = await promisify(execFile)('node', [
    '--import',
    './test/support/fs-with-glob.mjs',
    PROGRAM,
    ...options,
  ]);
  expect(stdout).toContain(', 0 failed');
});
