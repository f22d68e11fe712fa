import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { clipped } from '../../../machines/text/clip.ts';
import { unlessAborted } from '../../internal/async.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import type { Capability } from '../capability.ts';
import { callTool } from './connection.ts';
import { failed } from './failed.ts';
import type { Sdk } from './load-sdk.ts';
import type { McpSettings } from './options.ts';
import type { Reconnecting } from './reconnecting.ts';
import type { Tool } from './tools.ts';

/** As long as OpenAI takes the description of a function. */
const MAX_DESCRIPTION_CHARS = 1_024;

interface Parts {
  readonly sdk: Sdk;
  readonly settings: McpSettings;
  readonly server: Reconnecting;
}

/** A tool of a server as a capability of this name. */
export function toolCapability({ sdk, settings, server }: Parts, name: string, tool: Tool): Capability {
  const { $schema: _, ...jsonSchema } = tool.inputSchema;
  return {
    name,
    description: descriptionOf(tool),
    arguments: argumentsSchema(sdk, tool.inputSchema),
    jsonSchema,
    ...(settings.timeoutMs !== undefined && { timeoutMs: settings.timeoutMs }),
    execute: async (args, { signal }) => {
      const result = await called(server, tool, args as Record<string, unknown>, signal).catch((error) => {
        throw failed(settings, `failed at "${redactSecrets(tool.name, [])}"`, error);
      });
      const text = resultText(result);
      if (result.isError)
        throw new PostChainError('mcp_failed', redactSecrets(text, settings.secrets) || 'the tool failed');
      return text;
    },
  };
}

/** A call is made once; only where the server says that it does not know our session, and so did nothing, again in a new one. */
async function called(server: Reconnecting, tool: Tool, args: Record<string, unknown>, signal: AbortSignal) {
  const connection = await unlessAborted(server.get(), signal);
  try {
    return await callTool(connection, tool, args, signal, server.closed);
  } catch (error) {
    if (!connection.isSessionLost(error)) throw error;
    await server.drop(connection);
    return callTool(await unlessAborted(server.get(), signal), tool, args, signal, server.closed);
  }
}

function descriptionOf({ name, title, description }: Tool): string {
  const text = [description, title, name].map(readable).find((one) => one !== '') ?? '';
  return clipped(text, MAX_DESCRIPTION_CHARS);
}

/** Without control characters but line ends and tabs, and without characters that cannot be seen. */
function readable(text = ''): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}]/gu, '').trim();
}

type Check = (value: unknown) => { readonly valid: boolean; readonly errorMessage: string | undefined };

/** With more, a schema that refers to itself doubly takes for ever. */
const MAX_REFERENCES = 32;
const MAX_ISSUE_CHARS = 500;

/**
 * The schema of a tool's arguments, as a Standard Schema, by the SDK's validator that interprets: the schema is the server's, and
 * nothing of it becomes code. Where it cannot be held against, or could take for ever (patterns of the server's own, very many
 * references), the arguments pass, and the server validates them.
 */
export function argumentsSchema(sdk: Sdk, schema: Tool['inputSchema']): StandardSchemaV1 {
  let check: Check | undefined;
  const checked = (value: unknown): ReturnType<Check> => {
    try {
      check ??= isTame(schema) ? new sdk.CfWorkerJsonSchemaValidator().getValidator(schema) : PASS;
      return check(value);
    } catch {
      return PASS(value);
    }
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      validate: (value) => {
        const { valid, errorMessage = '' } = checked(value);
        return valid ? { value } : { issues: [{ message: innermost(errorMessage) }] };
      },
    },
  };
}

const PASS: Check = () => ({ valid: true, errorMessage: undefined });

/** The validator tells a misfit from the outside in, `#: …; #/a: …`. */
function innermost(errorMessage: string): string {
  const told = errorMessage.split('; #').at(-1) ?? '';
  return told
    .replace(/^#?\/?/u, '')
    .replace(/^: /u, '')
    .slice(0, MAX_ISSUE_CHARS);
}

function isTame(schema: unknown): boolean {
  let references = 0;
  const isTameNode = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return true;
    return Object.entries(node).every(([keyword, value]) => {
      if (keyword === 'pattern' && typeof value === 'string') return false;
      if (keyword === 'patternProperties') return false;
      if (keyword.endsWith('ef') && keyword.startsWith('$')) references += 1;
      return references <= MAX_REFERENCES && isTameNode(value);
    });
  };
  return isTameNode(schema);
}

const MAX_WORD_CHARS = 200;

/**
 * A tool's result as text: its texts, one after the other; other parts told in words, never with their bytes. Where there is no
 * text, its structured content as JSON.
 */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const isStructured = structuredContent !== undefined && !content.some(({ type }) => type === 'text');
  return [...content.map(partText), ...(isStructured ? [JSON.stringify(structuredContent)] : [])].join('\n');
}

function partText(part: ContentBlock): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return told(part.type, part.mimeType, bytesOf(part.data));
    case 'resource_link':
      return told('link to a resource', part.name, part.uri, part.mimeType, sized(part.size));
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return `${told('resource', resource.uri, resource.mimeType)}\n${resource.text}`;
      return told('resource', resource.uri, resource.mimeType, bytesOf(resource.blob));
    }
    default:
      return '[a part of an unknown kind]';
  }
}

function told(kind: string, ...words: readonly (string | undefined)[]): string {
  const known = words.filter((word) => word !== undefined && word !== '');
  return `[${[kind, ...known.map((word = '') => clipped(word, MAX_WORD_CHARS))].join(', ')}]`;
}

/** Of base64. */
function bytesOf(data: string): string {
  return sized(Math.floor((data.replace(/=+$/u, '').length * 3) / 4));
}

function sized(bytes: number): string;
function sized(bytes: number | undefined): string | undefined;
function sized(bytes: number | undefined): string | undefined {
  return bytes === undefined ? undefined : `${bytes} bytes`;
}
