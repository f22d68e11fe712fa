import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { connectMcp } from '../../../../src/tools/mcp/connect-mcp.ts';
import type { McpConnection } from '../../../../src/tools/mcp/mcp-connection.ts';
import { callTool, connectUntilTestEnds, misbehavingServer } from '../../../support/mcp.ts';

const refusal = (connecting: Promise<McpConnection>): Promise<{ code: string; message: string }> =>
  connecting.then(
    () => Promise.reject(new Error('it was connected')),
    (error) => error,
  );

describe('a server that cannot be connected', () => {
  it.each([
    [
      'exits immediately',
      misbehavingServer('exiting'),
      /: it exited with code 3; last standard error: cannot find my settings$/u,
    ],
    ['does not exist', { name: 'bad', command: './no-such-server' }, /: spawn \.\/no-such-server ENOENT$/u],
    ['refuses', misbehavingServer('refusing'), /: not today$/u],
    ['answers an unknown protocol version', misbehavingServer('ancient'), /not supported: 1999-01-01$/u],
    [
      'sends an invalid response',
      misbehavingServer('misshapen'),
      /: Invalid result for initialize: protocolVersion: .+$/u,
    ],
    ['never answers', misbehavingServer('silent', { connectTimeoutMs: 150 }), /: no answer within 150 ms$/u],
    ['does not speak JSON', misbehavingServer('babbling', { connectTimeoutMs: 150 }), /: no answer within 150 ms$/u],
    ['lists endless tools', misbehavingServer('endless'), /did not list its tools: its list of tools exceeds/u],
  ])('that %s is rejected with a one-line error', async (_, options, message) => {
    const error = await refusal(connectMcp(options));
    expect(error).toMatchObject({ code: 'mcp_failed', message: expect.stringMatching(message) });
    expect(error.message).toMatch(/^The MCP server "bad" [^\n]+$/u);
  });

  it('leaves no timer that keeps the process alive', async () => {
    const begun = vi.spyOn(globalThis, 'setTimeout');
    const ended = vi.spyOn(globalThis, 'clearTimeout');
    await refusal(connectMcp({ name: 'bad', command: './no-such-server', connectTimeoutMs: 77_777 }));
    const ours = begun.mock.results.filter((_, at) => begun.mock.calls[at]?.[1] === 77_777).map(({ value }) => value);
    const cleared = new Set(ended.mock.calls.map(([timer]) => timer));
    vi.restoreAllMocks();
    expect(ours.length).toBeGreaterThan(0);
    expect(ours.filter((timer) => !cleared.has(timer))).toEqual([]);
  });

  it('can be aborted by a signal', async () => {
    const giveUp = new AbortController();
    const connecting = connectMcp(misbehavingServer('silent', { signal: giveUp.signal }));
    giveUp.abort(new Error('no longer wanted'));
    expect((await refusal(connecting)).message).toMatch(/no longer wanted$/u);
    expect(getEventListeners(giveUp.signal, 'abort')).toEqual([]);
  });
});

describe('a server that supports only the newer protocol, without initialize', () => {
  it('is used with that protocol', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('modern'));
    expect(await callTool(connection, 'pid')).toMatch(/^\d+$/u);
  });
});

describe('the tools of a server', () => {
  it('are listed page by page, with names that models accept', async () => {
    const { capabilities } = await connectUntilTestEnds(misbehavingServer('paged'));
    const names = capabilities.map(({ name }) => name);
    for (const name of names) expect(name).toMatch(/^bad_[\w-]{1,60}$/u);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(['bad_pid', 'bad_a_b', 'bad_a_b_2', 'bad___31mred_', 'bad_untyped']));
  });

  it('have descriptions of bounded length without control characters; without one, the name', async () => {
    const { capabilities } = await connectUntilTestEnds(misbehavingServer('plain'));
    const descriptions = capabilities.map(({ description }) => description);
    for (const description of descriptions) expect(description).toMatch(/^[^\p{Cc}\p{Cf}]{1,1024}$/u);
    expect(descriptions).toEqual(expect.arrayContaining(['pid', '[2Jcleared', `${'y'.repeat(1_023)}…`]));
  });

  it('that cannot be offered are omitted with a reason', async () => {
    const { capabilities, leftOut } = await connectUntilTestEnds(misbehavingServer('plain'));
    expect(capabilities.filter(({ name }) => name === 'bad_same')).toMatchObject([{ description: 'The first.' }]);
    expect(leftOut).toEqual([
      { tool: 'same', reason: 'another tool has the same name' },
      { tool: '', reason: 'its name or its input schema is invalid' },
      { tool: 'list', reason: 'its name or its input schema is invalid' },
      { tool: 'vast', reason: 'its input schema has more than 50000 characters' },
      { tool: 'task', reason: 'it runs as a task, which is not supported' },
      { tool: '', reason: 'its name or its input schema is invalid' },
      { tool: 'polluting', reason: expect.stringContaining('must not have the property __proto__') },
    ]);
    expect(() => createPostChain({ capabilities })).not.toThrow();
  });

  it('are limited to those included and not excluded', async () => {
    const include = ['pid', 'die', 'hang'];
    const { capabilities } = await connectUntilTestEnds(
      misbehavingServer('plain', { include, exclude: ['die'], timeoutMs: 5 }),
    );
    expect(capabilities).toMatchObject([
      { name: 'bad_hang', timeoutMs: 5 },
      { name: 'bad_pid', timeoutMs: 5 },
    ]);
  });

  it.each(['include', 'exclude'])(
    'with a misspelled name to %s are rejected with the available names',
    async (option) => {
      const error = await refusal(connectMcp(misbehavingServer('plain', { [option]: ['pid', 'dye'] })));
      expect(error.code).toBe('invalid_option');
      expect(error.message).toMatch(new RegExp(`^${option}: .+ no tool "dye"; it has .+, a b, a_b, bomb, .+\\.$`, 'u'));
      expect(error.message.length).toBeLessThan(600);
    },
  );
});

describe('[Q2] the tools of a server', () => {
  const approvalOf = async (approval?: 'always' | 'never') => {
    const { capabilities } = await connectUntilTestEnds(misbehavingServer('plain', approval && { approval }));
    return ['pid', 'huge', 'hang'].map((tool) => capabilities.find(({ name }) => name === `bad_${tool}`)?.approval);
  };

  it('need approval, unless they are marked as read-only', async () => {
    expect(await approvalOf()).toEqual([undefined, 'always', 'always']);
  });

  it.each(['always', 'never'] as const)('need it %s if the option says so', async (approval) => {
    expect(await approvalOf(approval)).toEqual([approval, approval, approval]);
  });
});
