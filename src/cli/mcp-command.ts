import { once } from 'node:events';
import { systemClock } from '../durable/clock.ts';
import { loadOptional } from '../internal/optional-package.ts';
import { oneLine } from '../internal/printable.ts';
import { describeSystemError } from '../internal/system-error.ts';
import { HttpError } from '../server/http-error.ts';
import { ASK, askServer } from '../server/protocols/mcp.ts';
import { RunService } from '../server/run-service.ts';
import { createUsageLimits, DEFAULT_LIMITS } from '../server/usage-limits.ts';
import { openJournals } from './open-journals.ts';
import { prepareRun, type RunFlags } from './prepare-run.ts';

/** Offers the chain as a tool to MCP clients over standard input and output, until the client closes the input. */
export async function mcpCommand(flags: RunFlags): Promise<void> {
  const [sdk, { serveStdio }] = await loadOptional('@modelcontextprotocol/server', 'postchain mcp', () =>
    Promise.all([import('@modelcontextprotocol/server'), import('@modelcontextprotocol/server/stdio')]),
  );
  const { toJSONSchema: toJsonSchema } = await import('zod');
  const { chain, host, close, notes } = await prepareRun(flags, openJournals(flags));
  for (const note of notes) process.stderr.write(`${note}\n`);
  const usage = createUsageLimits(DEFAULT_LIMITS, systemClock);
  const { eventsPerRun } = DEFAULT_LIMITS;
  const runs = new RunService({ name: 'postchain', chain, clock: systemClock, usage, eventsPerRun, onRun: () => {} });
  const owner = 'mcp';
  const leaving = new AbortController();
  const ended = once(process.stdin, 'close');
  const server = serveStdio(() =>
    askServer(sdk, {
      runs,
      offers: [ASK],
      toJsonSchema,
      owner,
      host,
      read: async (runId, use) => use(await runs.updates(owner, runId, leaving.signal)),
      errorFor(error) {
        const message = describeSystemError(error);
        if (!(error instanceof HttpError)) process.stderr.write(`postchain: ${oneLine(message)}\n`);
        return { message };
      },
    }),
  );
  await ended;
  leaving.abort();
  await server.close();
  await chain.close();
  await close();
}
