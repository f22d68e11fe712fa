import { describe, expect, it, vi } from 'vitest';
import { connectMcp } from '../../../../src/tools/mcp/connect-mcp.ts';
import { connected, everything, hasEnded, misbehaving, use } from '../../../support/mcp.ts';

describe('closing a server', () => {
  it('ends the process, fails in-flight calls, and rejects later ones; closing twice is a no-op', async () => {
    const connection = await connectMcp(misbehaving('plain'));
    const pid = await use(connection, 'pid');
    const hanging = expect(use(connection, 'hang')).rejects.toThrow('failed at "hang": it was closed');
    await Promise.all([connection.close(), connection[Symbol.asyncDispose]()]);
    await hanging;
    expect(hasEnded(pid)).toBe(true);
    await expect(use(connection, 'pid')).rejects.toThrow('The MCP server "bad" failed at "pid": it was closed');
  });

  it.concurrent.each(['stubborn', 'parent'])('also ends a server that is %s', async (manner) => {
    const connection = await connectMcp(misbehaving(manner));
    const pid = await use(connection, 'pid');
    await connection.close();
    expect(hasEnded(pid)).toBe(true);
  });
});

describe('the environment of a server', () => {
  it('contains only the given variables and none of our secrets', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-1234567890abcdef');
    const [bare, given] = await Promise.all([
      connected(everything({ include: ['get-env'] })),
      connected(everything({ include: ['get-env'], env: { OPENAI_API_KEY: 'given' } })),
    ]);
    vi.unstubAllEnvs();
    const names = Object.keys(JSON.parse(await use(bare, 'get-env')));
    expect(names).toContain('PATH');
    expect(names).not.toContain('OPENAI_API_KEY');
    expect(JSON.parse(await use(given, 'get-env'))).toMatchObject({ OPENAI_API_KEY: 'given' });
  });
});
