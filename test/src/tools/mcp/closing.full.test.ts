import { describe, expect, it, vi } from 'vitest';
import { connectMcp } from '../../../../src/tools/mcp/connect-mcp.ts';
import {
  callTool,
  connectUntilTestEnds,
  everythingServer,
  hasExited,
  misbehavingServer,
} from '../../../support/mcp.ts';

describe('closing a server', () => {
  it('ends the process, fails in-flight calls, and rejects later ones; closing twice is a no-op', async () => {
    const connection = await connectMcp(misbehavingServer('plain'));
    const pid = await callTool(connection, 'pid');
    const hanging = expect(callTool(connection, 'hang')).rejects.toThrow('failed at "hang": it was closed');
    await Promise.all([connection.close(), connection[Symbol.asyncDispose]()]);
    await hanging;
    expect(hasExited(pid)).toBe(true);
    await expect(callTool(connection, 'pid')).rejects.toThrow('The MCP server "bad" failed at "pid": it was closed');
  });

  it.concurrent.each(['stubborn', 'parent'])('also ends a server that is %s', async (manner) => {
    const connection = await connectMcp(misbehavingServer(manner));
    const pid = await callTool(connection, 'pid');
    await connection.close();
    expect(hasExited(pid)).toBe(true);
  });
});

describe('the environment of a server', () => {
  it('contains only the given variables and none of our secrets', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-1234567890abcdef');
    const [bare, given] = await Promise.all([
      connectUntilTestEnds(everythingServer({ include: ['get-env'] })),
      connectUntilTestEnds(everythingServer({ include: ['get-env'], env: { OPENAI_API_KEY: 'given' } })),
    ]);
    vi.unstubAllEnvs();
    const names = Object.keys(JSON.parse(await callTool(bare, 'get-env')));
    expect(names).toContain('PATH');
    expect(names).not.toContain('OPENAI_API_KEY');
    expect(JSON.parse(await callTool(given, 'get-env'))).toMatchObject({ OPENAI_API_KEY: 'given' });
  });
});
