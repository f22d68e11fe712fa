import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import type { LeftOut } from './mcp-connection.ts';
import type { McpSettings } from './options.ts';

const MAX_PAGES = 50;
const MAX_TOOLS = 1_000;
/** A schema goes into every prompt that offers its tool. */
const MAX_SCHEMA_CHARS = 50_000;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const toolSchema = z.object({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({ type: z.literal('object').default('object') }),
  execution: z.object({ taskSupport: z.string().optional() }).optional().catch(undefined),
});

/** A tool as its server tells it. */
export type Tool = z.output<typeof toolSchema>;

/** All that `tools/list` tells, page by page. What a server says wrongly of one tool leaves out that one. */
export async function listTools(
  client: Client,
  signal: AbortSignal,
): Promise<{ readonly tools: readonly Tool[]; readonly leftOut: readonly LeftOut[] }> {
  const tools = new Map<string, Tool>();
  const leftOut: LeftOut[] = [];
  for (const told of await listed(client, signal)) {
    const { data } = toolSchema.safeParse(told);
    const reason = data === undefined ? 'its name or the schema of its arguments cannot be read' : unfit(data, tools);
    if (data !== undefined && reason === null) tools.set(data.name, data);
    else leftOut.push({ tool: nameOf(told), reason: reason ?? '' });
  }
  return { tools: [...tools.values()], leftOut };
}

/** Why a tool cannot be offered; null where it can. */
function unfit({ name, inputSchema, execution }: Tool, others: ReadonlyMap<string, Tool>): string | null {
  if (others.has(name)) return 'there is another of this name';
  if (execution?.taskSupport === 'required') return 'it runs as a task, which is not supported';
  if (charsOf(inputSchema) <= MAX_SCHEMA_CHARS) return null;
  return `the schema of its arguments has more than ${MAX_SCHEMA_CHARS} characters`;
}

async function listed(client: Client, signal: AbortSignal): Promise<readonly unknown[]> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const told = await client.request({ method: 'tools/list', params }, pageSchema, { signal, timeout: MAX_TIMER_MS });
    for (const tool of told.tools) tools.push(tool);
    if (tools.length > MAX_TOOLS) break;
    cursor = told.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error(`its list of tools has no end: more than ${MAX_TOOLS} tools or ${MAX_PAGES} pages`);
}

/** @throws PostChainError `invalid_option` for a name that the server does not have: misspelt, it would silently do nothing. */
export function chosen(tools: readonly Tool[], { name, include, exclude = [] }: McpSettings): readonly Tool[] {
  const names = new Set(tools.map((tool) => tool.name));
  for (const [option, given] of Object.entries({ include, exclude })) {
    const unknown = given?.find((one) => !names.has(one));
    if (unknown === undefined) continue;
    const known = redactSecrets([...names].join(', '), []);
    const message = `${option}: the MCP server "${name}" has no tool ${JSON.stringify(unknown)}; it has ${known}.`;
    throw new PostChainError('invalid_option', message);
  }
  return tools.filter((tool) => (include?.includes(tool.name) ?? true) && !exclude.includes(tool.name));
}

function nameOf(told: unknown): string {
  const { name } = (told ?? {}) as { name?: unknown };
  return typeof name === 'string' ? redactSecrets(name, []) : '';
}

function charsOf(schema: object): number {
  try {
    return JSON.stringify(schema).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
