import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { connected, hasEnded, misbehaving, use } from '../../../support/mcp.ts';

const SECRET = 'sk-1234567890abcdef';

describe('a server that misbehaves during a call', () => {
  it('by exiting fails the call with its exit code and last output, without secrets; the next call restarts it', async () => {
    const connection = await connected(misbehaving('plain', { env: { SECRET } }));
    const first = await use(connection, 'pid');
    await expect(use(connection, 'die')).rejects.toMatchObject({
      code: 'mcp_failed',
      message:
        'The MCP server "bad" failed at "die": it exited with code 7; last standard error: first | out of memory [31m, key [key]',
    });
    const both = await Promise.all([use(connection, 'pid'), use(connection, 'pid')]);
    expect(both[0]).toBe(both[1]);
    expect(both[0]).not.toBe(first);
    expect(hasEnded(first)).toBe(true);
  });

  it('by exiting while a child process holds its pipes fails the call too', async () => {
    const connection = await connected(misbehaving('parent'));
    await expect(use(connection, 'die')).rejects.toThrow('failed at "die": it exited with code 7');
  });

  it('by returning 100 MB or writing endlessly fails the call and is killed', async () => {
    const connection = await connected(misbehaving('plain'));
    for (const tool of ['huge', 'flood']) {
      const pid = await use(connection, 'pid');
      await expect(use(connection, tool)).rejects.toThrow(/exceeded maximum size of 10000000 bytes$/u);
      expect(await use(connection, 'pid')).not.toBe(pid);
      expect(hasEnded(pid)).toBe(true);
    }
  });

  it('by writing garbage between responses is tolerated', async () => {
    const connection = await connected(misbehaving('plain'));
    expect(await use(connection, 'garbage')).toBe('after garbage');
  });

  it.each([
    ['by reporting an error', 'fail', /^no such file \[31mred$/u],
    ['by returning an invalid result', 'broken', /^The MCP server "bad" failed at "broken": Invalid result [^\n{]+$/u],
  ])('%s fails the call with a one-line error', async (_, tool, message) => {
    const connection = await connected(misbehaving('plain'));
    await expect(use(connection, tool)).rejects.toThrow(message);
  });

  it('by requesting sampling, elicitation, or roots is declined', async () => {
    const connection = await connected(misbehaving('plain'));
    expect(JSON.parse(await use(connection, 'refusals'))).toEqual([
      ['sampling/createMessage', -32601],
      ['elicitation/create', -32601],
      ['roots/list', -32601],
    ]);
  });

  it('is notified when a call is aborted, without leaving a listener', async () => {
    const connection = await connected(misbehaving('plain'));
    const { signal, abort } = abortable();
    const hanging = use(connection, 'hang', {}, signal);
    setImmediate(abort);
    await expect(hanging).rejects.toThrow('failed at "hang"');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(await use(connection, 'cancelled')).toBe('[true]');
    await expect(use(connection, 'pid', {}, AbortSignal.abort())).rejects.toThrow('failed at "pid"');
    expect(await use(connection, 'cancelled')).toBe('[true]');
  });

  it('has the timeout of the chain, not the one minute of the SDK', async () => {
    const connection = await connected(misbehaving('plain'));
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await use(connection, 'pid');
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
