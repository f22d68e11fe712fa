import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import type { McpConnection } from '../../../../src/tools/mcp/mcp-connection.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import {
  callTool,
  connectUntilTestEnds,
  everythingOverHttp,
  everythingServer,
  misbehavingServer,
} from '../../../support/mcp.ts';
import { entriesOf, ONE_CALL_PER_PHASE } from '../../../support/run-chain.ts';

/** A run whose Action requests this tool once. */
function runWith({ name, capabilities }: McpConnection, tool: string, args: object): Run {
  const call = { capability: `${name}_${tool}`, arguments: JSON.stringify(args) };
  const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
  return createPostChain({ profile: ONE_CALL_PER_PHASE, model, capabilities }).run({ request: 'Is it so?' });
}

const started = async (run: Run): Promise<void> => {
  for await (const { type } of run.events) if (type === 'capability-start') return;
};

/** How a test starts the reference server, and how it kills it. */
const ways = [
  {
    transport: 'stdio',
    start: async () => {
      const file = join(temporaryFolder(), 'pid');
      const tell = `import { writeFileSync } from 'node:fs'; writeFileSync(process.env.PID_FILE, String(process.pid));`;
      const { args = [] } = everythingServer();
      const preload = `data:text/javascript,${encodeURIComponent(tell)}`;
      return {
        options: everythingServer({ args: ['--import', preload, ...args], env: { PID_FILE: file } }),
        kill: () => void process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL'),
      };
    },
  },
  {
    transport: 'streamable HTTP',
    start: async () => {
      const server = await everythingOverHttp();
      return { options: { name: 'all', url: server.url }, kill: () => void server.process.kill('SIGKILL') };
    },
  },
];

describe.each(ways)('a chain with a real MCP server over $transport', ({ start }) => {
  it('[R2, R5] runs its tools and rejects arguments that fail their schemas', async () => {
    const connection = await connectUntilTestEnds((await start()).options);
    const run = runWith(connection, 'get-sum', { a: 2, b: 40 });
    expect(await run.answer).toMatchObject({ status: 'completed' });
    const output = 'The sum of 2 and 40 is 42.';
    const [end] = entriesOf(run, 'capability-end');
    expect(end?.result).toMatchObject({ capability: 'all_get-sum', success: true, output, error: null });
    expect(JSON.stringify(entriesOf(run, 'operations'))).toContain(output);

    const refused = runWith(connection, 'get-sum', { a: 'two', b: 40 });
    expect(await refused.answer).toMatchObject({ status: 'degraded', reasons: [{ code: 'capability_failed' }] });
    expect(entriesOf(refused, 'capability-end').map(({ result }) => result.code)).toEqual(['arguments_misfit']);
    expect(entriesOf(refused, 'capability-stop')).toMatchObject([
      { reason: 'invalid_next_step', problem: 'a: expected number; received string' },
    ]);
  });

  it('[R7] records a failed result when the server is killed during a call, and still answers', async () => {
    const { options, kill } = await start();
    const run = runWith(await connectUntilTestEnds(options), 'trigger-long-running-operation', {
      duration: 30,
      steps: 1,
    });
    await started(run);
    kill();
    expect(await run.answer).toMatchObject({ status: 'degraded', answerText: replies.synthesis.answerText });
    const [end] = entriesOf(run, 'capability-end');
    expect(end?.result).toMatchObject({ success: false, output: '' });
    expect(end?.result.error).toMatch(/^The MCP server "all" failed at "trigger-long-running-operation": .+$/u);
  });
});

describe('a canceled run', () => {
  it('cancels the call at the server and answers immediately', async () => {
    const connection = await connectUntilTestEnds(misbehavingServer('plain', { approval: 'never' }));
    const run = runWith(connection, 'hang', {});
    await started(run);
    run.cancel();
    expect(await run.answer).toMatchObject({ status: 'cancelled' });
    expect(await callTool(connection, 'cancelled')).toBe('[true]');
  });
});
