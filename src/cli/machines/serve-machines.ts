import { once } from 'node:events';
import type { CallToolResult, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { PostChainError } from '../../../machines/contracts/error.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { createRunSlots } from '../../chain/runtime/run-slots.ts';
import { linkSignals } from '../../internal/async.ts';
import { loadOptional } from '../../internal/optional-package.ts';
import { parseOption } from '../../internal/options.ts';
import { oneLine, printableJson } from '../../internal/printable.ts';
import { describeSystemError } from '../../internal/system-error.ts';
import { allowedFile, requireRoot } from './allowed-file.ts';
import { runInProcess } from './machine-process.ts';
import { machineTools, type ToolName } from './tool-schemas.ts';

export interface MachinesFlags {
  readonly root?: string;
  /** In seconds. */
  readonly timeLimit?: number;
  /** In megabytes. */
  readonly memoryLimit?: number;
}

/** Each call is a process: an agent that sends many at once must not fill the memory. */
const MAX_PROCESSES = 4;

/** Offers tools for XState machines to coding agents over standard input and output, until the client closes the input. */
export async function serveMachines({ root = '.', timeLimit = 60, memoryLimit = 1_024 }: MachinesFlags): Promise<void> {
  const [sdk, { serveStdio }, { toJSONSchema: toJsonSchema }] = await loadOptional(
    '@modelcontextprotocol/server',
    'postchain mcp',
    () =>
      Promise.all([
        import('@modelcontextprotocol/server'),
        import('@modelcontextprotocol/server/stdio'),
        import('zod'),
      ]),
  );
  const directory = requireRoot(root);
  const limits = { timeLimitMs: timeLimit * 1_000, memoryLimitMb: memoryLimit };
  const slots = createRunSlots(MAX_PROCESSES);
  const leaving = new AbortController();
  const ended = once(process.stdin, 'close');
  const server = serveStdio(() => {
    const tools = new sdk.McpServer(
      { name: 'postchain-machines', version: manifest.version },
      { instructions: INSTRUCTIONS },
    );
    for (const [name, { title, description, input }] of Object.entries(machineTools))
      tools.registerTool(
        name,
        {
          title,
          description,
          // Invalid arguments are reported as every other error is.
          inputSchema: unchecked({ ...toJsonSchema(input, { io: 'input' }) }),
          annotations: { readOnlyHint: true, openWorldHint: false },
        },
        (given: unknown, { mcpReq }: { readonly mcpReq: { readonly signal: AbortSignal } }) =>
          called(name as ToolName, given, {
            root: directory,
            slots,
            limits,
            signals: [leaving.signal, mcpReq.signal],
          }),
      );
    return tools;
  });
  await ended;
  leaving.abort();
  await server.close();
}

/** Returns a schema that clients see, and that accepts everything. */
function unchecked(schema: Record<string, unknown>): StandardSchemaWithJSON {
  const jsonSchema = { input: () => schema, output: () => schema };
  return { '~standard': { version: 1, vendor: 'postchain', jsonSchema, validate: (value) => ({ value }) } };
}

const INSTRUCTIONS =
  'Tools for XState 5 machines in files of this project. After each change of a machine: lint it, explore it, and check the properties that its task demands. A failed property has the shortest counterexample; fix the machine, and check again.';

interface CallOptions {
  readonly root: string;
  readonly slots: ReturnType<typeof createRunSlots>;
  readonly limits: Parameters<typeof runInProcess>[1];
  readonly signals: readonly AbortSignal[];
}

async function inSlot<Result>(slots: CallOptions['slots'], run: () => Promise<Result>): Promise<Result> {
  let leave = (): void => {};
  await new Promise<void>((resolve) => {
    leave = slots.enter(resolve);
  });
  try {
    return await run();
  } finally {
    leave();
  }
}

async function called(
  name: ToolName,
  given: unknown,
  { root, slots, limits, signals }: CallOptions,
): Promise<CallToolResult> {
  const { signal, forget } = linkSignals(...signals);
  try {
    const input = parseOption(machineTools[name].input, given, 'arguments');
    const file = allowedFile(input.file, root);
    const journal = 'journal' in input ? { journal: allowedFile(input.journal, root) } : {};
    const result = await inSlot(slots, () =>
      runInProcess({ name, root, input: { ...input, file, ...journal } }, limits, signal),
    );
    const text = printableJson(JSON.stringify(result));
    return { content: [{ type: 'text', text }], structuredContent: result as Record<string, unknown> };
  } catch (error) {
    const code = error instanceof PostChainError ? error.code : 'internal';
    return { isError: true, content: [{ type: 'text', text: `${code}: ${oneLine(describeSystemError(error))}` }] };
  } finally {
    forget();
  }
}
