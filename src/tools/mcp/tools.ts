import type { CallToolResult, Client, ContentBlock } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import { clipped } from '../../../machines/text/clip.ts';
import { firstLongNumber } from '../../internal/json-text.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import type { LeftOut } from './mcp-connection.ts';

const MAX_PAGES = 50;
/** Pages in a row without a new tool. */
const MAX_BARREN_PAGES = 10;
const MAX_TOOLS = 1_000;
/** A schema goes into every prompt that offers its tool. */
const MAX_SCHEMA_CHARS = 50_000;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.optional(z.unknown()) });
const toolSchema = z.object({
  name: z.string().check(z.minLength(1)),
  title: z.catch(z.optional(z.string()), undefined),
  description: z.catch(z.optional(z.string()), undefined),
  inputSchema: z.looseObject({ type: z._default(z.literal('object'), 'object') }),
  annotations: z.catch(z.optional(z.object({ readOnlyHint: z.optional(z.boolean()) })), undefined),
  execution: z.catch(z.optional(z.object({ taskSupport: z.optional(z.string()) })), undefined),
});

export type Tool = z.output<typeof toolSchema>;

/** Lists all tools, page by page, sorted by name: the order of some servers changes. An invalid tool is left out. */
export async function listTools(
  client: Client,
  signal: AbortSignal,
): Promise<{ readonly tools: readonly Tool[]; readonly leftOut: readonly LeftOut[] }> {
  const tools = new Map<string, Tool>();
  const leftOut: LeftOut[] = [];
  for (const listed of await listPages(client, signal)) {
    const { data } = toolSchema.safeParse(listed);
    const reason = data === undefined ? 'its name or its input schema is invalid' : whyUnusable(data, tools);
    if (data !== undefined && reason === null) tools.set(data.name, data);
    else leftOut.push({ tool: nameOf(listed), reason: reason ?? '' });
  }
  return { tools: [...tools.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)), leftOut };
}

function whyUnusable({ name, inputSchema, execution }: Tool, others: ReadonlyMap<string, Tool>): string | null {
  if (others.has(name)) return 'another tool has the same name';
  if (execution?.taskSupport === 'required') return 'it runs as a task, which is not supported';
  if (charsOf(inputSchema) <= MAX_SCHEMA_CHARS) return null;
  return `its input schema has more than ${MAX_SCHEMA_CHARS} characters`;
}

/** The lists of some servers never end, so reading stops at a cursor that was followed before, or after some pages without a new tool. */
async function listPages(client: Client, signal: AbortSignal): Promise<readonly unknown[]> {
  const tools: unknown[] = [];
  const names = new Set<string>();
  const followed = new Set<string | undefined>();
  let cursor: string | undefined;
  for (let barren = 0; barren < MAX_BARREN_PAGES && !followed.has(cursor); ) {
    followed.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const listed = await client.request({ method: 'tools/list', params }, pageSchema, {
      signal,
      timeout: MAX_TIMER_MS,
    });
    const hasNews = listed.tools.some((tool) => !names.has(nameOf(tool)));
    if (hasNews) for (const tool of listed.tools) tools.push(tool);
    for (const tool of listed.tools) names.add(nameOf(tool));
    if (tools.length > MAX_TOOLS || followed.size > MAX_PAGES)
      throw new Error(`its list of tools exceeds ${MAX_TOOLS} tools or ${MAX_PAGES} pages`);
    const { nextCursor } = listed;
    if (typeof nextCursor !== 'string' && typeof nextCursor !== 'number') break;
    cursor = String(nextCursor);
    barren = hasNews ? 0 : barren + 1;
  }
  return tools;
}

function nameOf(listed: unknown): string {
  const { name } = (listed ?? {}) as { name?: unknown };
  return typeof name === 'string' ? redactSecrets(name, []) : '';
}

function charsOf(schema: object): number {
  try {
    return JSON.stringify(schema).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const MAX_WORD_CHARS = 200;

/**
 * Returns a tool's result as text: its text parts, descriptions of other parts without their data, and, if there is no text part, its
 * structured content as JSON.
 */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const isStructured = structuredContent !== undefined && !content.some(({ type }) => type === 'text');
  return [...content.map(partText), ...(isStructured ? structuredLines(structuredContent) : [])].join('\n');
}

/** The client parses structured content, so that long numbers have lost digits. */
function structuredLines(structured: unknown): readonly string[] {
  const json = JSON.stringify(structured);
  const long = firstLongNumber(json);
  return long === null
    ? [json]
    : [json, `[numbers with more than 15 digits, such as ${long.path.join('.')}, may be rounded]`];
}

function partText(part: ContentBlock): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return described(part.type, part.mimeType, bytesOf(part.data));
    case 'resource_link':
      return described('link to a resource', part.name, part.uri, part.mimeType, sized(part.size));
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return `${described('resource', resource.uri, resource.mimeType)}\n${resource.text}`;
      return described('resource', resource.uri, resource.mimeType, bytesOf(resource.blob));
    }
    default:
      return '[content of an unknown type]';
  }
}

function described(kind: string, ...words: readonly (string | undefined)[]): string {
  const known = words.filter((word) => word !== undefined && word !== '');
  return `[${[kind, ...known.map((word = '') => clipped(word, MAX_WORD_CHARS))].join(', ')}]`;
}

function bytesOf(data: string): string {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return sized(Math.floor(((data.length - padding) * 3) / 4));
}

function sized(bytes: number): string;
function sized(bytes: number | undefined): string | undefined;
function sized(bytes: number | undefined): string | undefined {
  return bytes === undefined ? undefined : `${bytes} bytes`;
}
