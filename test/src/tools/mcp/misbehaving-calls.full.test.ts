import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { callTool, connectUntilTestEnds, hasExited, misbehavingServer } from '../../../support/mcp.ts';

const SECRET = 'sk-1234567890abcdef';

describe('a server that misbehaves during a call', () => {
  it('by exiting fails the call with its exit code and last output, without secrets; the next call restarts it', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain', { env: { SECRET } }));
    const first = await callTool(connection, 'pid');
    await expect(callTool(connection, 'die')).rejects.toMatchObject({
      code: 'mcp_failed',
      message:
        'The MCP server "bad" failed at "die": it exited with code 7; last standard error: first | out of memory [31m, key [key]',
    });
    const both = await Promise.all([callTool(connection, 'pid'), callTool(connection, 'pid')]);
    expect(both[0]).toBe(both[1]);
    expect(both[0]).not.toBe(first);
    expect(hasExited(first)).toBe(true);
  });

  it('by exiting while a child process holds its pipes fails the call too', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('parent'));
    await expect(callTool(connection, 'die')).rejects.toThrow('failed at "die": it exited with code 7');
  });

  it('by returning 100 MB or writing endlessly fails the call and is killed', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain'));
    for (const tool of ['huge', 'flood']) {
      const pid = await callTool(connection, 'pid');
      await expect(callTool(connection, tool)).rejects.toThrow(/exceeded maximum size of 10000000 bytes$/u);
      expect(await callTool(connection, 'pid')).not.toBe(pid);
      expect(hasExited(pid)).toBe(true);
    }
  });

  it('by writing garbage between responses is tolerated', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain'));
    expect(await callTool(connection, 'garbage')).toBe('after garbage');
  });

  it.each([
    ['by reporting an error', 'fail', /^no such file \[31mred$/u],
    ['by returning an invalid result', 'broken', /^The MCP server "bad" failed at "broken": Invalid result [^\n{]+$/u],
  ])('%s fails the call with a one-line error', async (_, tool, message) => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain'));
    await expect(callTool(connection, tool)).rejects.toThrow(message);
  });

  it('by requesting sampling, elicitation, or roots is declined', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain'));
    expect(JSON.parse(await callTool(connection, 'refusals'))).toEqual([
      ['sampling/createMessage', -32601],
      ['elicitation/create', -32601],
      ['roots/list', -32601],
    ]);
  });

  it('is notified when a call is aborted, without leaving a listener', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain'));
    const { signal, abort } = abortable();
    const hanging = callTool(connection, 'hang', {}, signal);
    setImmediate(abort);
    await expect(hanging).rejects.toThrow('failed at "hang"');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(await callTool(connection, 'cancelled')).toBe('[true]');
    await expect(callTool(connection, 'pid', {}, AbortSignal.abort())).rejects.toThrow('failed at "pid"');
    expect(await callTool(connection, 'cancelled')).toBe('[true]');
  });

  it('has the timeout of the chain, not the one minute of the SDK', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain'));
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await callTool(connection, 'pid');
    const waits = timers.mock.calls.map(([, timeoutMs]) => timeoutMs);
    timers.mockRestore();
    expect(waits).toContain(2_147_483_647);
    expect(waits).not.toContain(60_000);
  });
});

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
