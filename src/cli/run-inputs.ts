import { readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { PassageSource } from '../../machines/contracts/passage.ts';
import { instructionsSchema } from '../chain/runtime/instructions.ts';
import type { Turn } from '../chain/runtime/run-options.ts';
import type { SqliteSessions } from '../chain/sqlite-sessions.ts';
import type { ParsedDocument } from '../documents/document.ts';
import { describeValue } from '../internal/describe-value.ts';
import { makeDirectory } from '../internal/make-directory.ts';
import { parseOption } from '../internal/options.ts';
import { oneLine } from '../internal/printable.ts';
import { describeSystemError } from '../internal/system-error.ts';
import { type ContentPart, detectedType, MAX_FILE_BYTES } from '../llm/content.ts';
import type { Capability } from '../tools/capability.ts';
import type { McpConnection } from '../tools/mcp/mcp-connection.ts';
import { openEmbeddings } from './choose-model.ts';
import { homePath } from './home.ts';
import { commandOf } from './mcp-servers.ts';

export interface OpenedDocuments {
  readonly source: PassageSource;
  readonly documents: readonly ParsedDocument[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Loads the documents of a run. `embeddings` is the name of a model of the server, which searches them by meaning, too. Throws `invalid_path`
 * if a path cannot be read or contains no document, and `invalid_key` if the server needs a key.
 */
export async function openDocuments(
  paths: readonly string[],
  { embeddings, baseUrl }: { readonly embeddings?: string; readonly baseUrl?: string } = {},
): Promise<OpenedDocuments> {
  const [{ loadDocuments }, { createPassageIndex }] = await Promise.all([
    import('../documents/load-documents.ts'),
    import('../documents/passage-index.ts'),
  ]);
  const model = embeddings === undefined ? undefined : await openEmbeddings(embeddings, baseUrl);
  const cache = process.env['POSTCHAIN_CACHE'] ?? homePath('cache');
  const { documents, skipped } = await loadDocuments(paths, cache === '' ? {} : { cache });
  if (documents.length === 0)
    throw new PostChainError(
      'invalid_path',
      `No documents in ${paths.join(', ')} (${skipped.length} files skipped); expected Markdown, text, HTML, JSON, PDF or DOCX files`,
    );
  return { source: createPassageIndex(documents, { embeddings: model }), documents, skipped };
}

const HISTORY_FORMAT = 'a JSON array, or JSON lines, of {"role": "user" or "assistant", "content": "…"}';

/**
 * Reads earlier turns from a file, oldest first: a JSON array, or JSON lines, of `{"role", "content"}`. Throws `invalid_path` if the file
 * cannot be read, and `invalid_option`, with the position, for an invalid turn.
 */
export async function readHistory(path: string): Promise<readonly Turn[]> {
  const text = await readText(path, 'history');
  if (text.trimStart().startsWith('['))
    return (parseJson(text, path) as unknown[]).map((value, at) => parseTurn(value, `${path}, turn ${at + 1}`));
  const lines = text.split('\n').map((line, at) => ({ line, position: `${path}, line ${at + 1}` }));
  return lines
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, position }) => parseTurn(parseJson(line, position), position));
}

/**
 * Returns the instructions of a run: the text itself, or after "@" the text of a file. Throws `invalid_path` if the file cannot be
 * read, and `invalid_option` for an empty or too long text.
 */
export async function readInstructions(given: string): Promise<string> {
  const text = given.startsWith('@') ? await readText(given.slice(1), 'instructions') : given;
  return parseOption(instructionsSchema, text, '--instructions');
}

/** Reads a file of the request. Throws `invalid_path` if it cannot be read, is too large, or is neither an image nor a PDF file. */
export async function readAttachment(path: string): Promise<ContentPart> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES)
      throw new PostChainError(
        'invalid_path',
        `--attach: expected at most ${MAX_FILE_BYTES / 1e6} MB; "${path}" has ${(size / 1e6).toFixed(1)} MB`,
      );
    const data = await readFile(path);
    // Images are often saved with the extension of another format.
    const mediaType = detectedType(data);
    if (mediaType !== null) return { type: 'file', data, mediaType, filename: basename(path) };
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw new PostChainError('invalid_path', `Cannot read the file "${path}": ${describeSystemError(cause)}`, {
      cause,
    });
  }
  throw new PostChainError(
    'invalid_path',
    `--attach: expected a PNG, JPEG, GIF, WebP or PDF file; received "${path}". Pass text files with --docs.`,
  );
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (cause) {
    const message = `Cannot read the ${what} "${path}": ${describeSystemError(cause)}`;
    throw new PostChainError('invalid_path', message, { cause });
  }
}

function parseJson(text: string, position: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = oneLine(cause instanceof Error ? cause.message : String(cause));
    throw new PostChainError('invalid_option', `${position}: invalid JSON (${reason}); expected ${HISTORY_FORMAT}`, {
      cause,
    });
  }
}

function parseTurn(value: unknown, position: string): Turn {
  const { role, content } = (value ?? {}) as Partial<Record<keyof Turn, unknown>>;
  const hasRole = role === 'user' || role === 'assistant';
  if (hasRole && typeof content === 'string') return { role, content };
  const problem = hasRole
    ? `"content" must be a string; received ${describeValue(content)}`
    : `"role" must be "user" or "assistant"; received ${describeValue(role ?? value)}`;
  throw new PostChainError('invalid_option', `${position}: ${problem}`);
}

/** Opens the session file; null if none is needed. It opens now so that errors appear before a run starts. Throws `session_failed`. */
export async function openSessions(flags: {
  readonly session?: string;
  readonly sessionFile?: string;
}): Promise<SqliteSessions | null> {
  if (flags.session === undefined && flags.sessionFile === undefined) return null;
  const { sqliteSessions } = await import('../chain/sqlite-sessions.ts');
  const sessions = sqliteSessions(flags.sessionFile ?? withPrivateDirectory(homePath('sessions.db')));
  await sessions.open();
  return sessions;
}

/** Creates the directory of the default file, readable only by the user. */
function withPrivateDirectory(path: string): string {
  try {
    makeDirectory(dirname(path));
  } catch {
    // Opening the file reports the error.
  }
  return path;
}

/** The built-in capabilities that `--capability` accepts. */
export type BuiltIn = 'current_time' | 'search_documents' | 'read_passage';

export interface OpenedCapabilities {
  readonly capabilities: readonly Capability[];
  close(): Promise<void>;
}

/**
 * Opens the capabilities of a run: built-in ones by name, and the tools of MCP servers by URL or command. Throws `invalid_option` or
 * `mcp_failed`, after closing the servers connected so far.
 */
export async function openCapabilities(
  names: readonly BuiltIn[],
  servers: readonly string[],
  documents: OpenedDocuments | null,
): Promise<OpenedCapabilities> {
  const builtIn = await Promise.all([...new Set(names)].map((name) => builtInCapability(name, documents)));
  const connections: McpConnection[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  try {
    for (const [at, server] of servers.entries()) connections.push(await connect(server, `mcp${at + 1}`));
  } catch (error) {
    await close();
    throw error;
  }
  return { capabilities: [...builtIn, ...connections.flatMap(({ capabilities }) => capabilities)], close };
}

async function builtInCapability(name: BuiltIn, documents: OpenedDocuments | null): Promise<Capability> {
  const required = (): OpenedDocuments => {
    if (documents !== null) return documents;
    throw new PostChainError('invalid_option', `--capability ${name} requires --docs`);
  };
  switch (name) {
    case 'current_time':
      return (await import('../tools/current-time.ts')).currentTime();
    case 'search_documents':
      return (await import('../tools/search-documents.ts')).searchDocuments(required().source);
    case 'read_passage':
      return (await import('../tools/read-passage.ts')).readPassage(required().documents);
    default:
      return name satisfies never;
  }
}

/** Connects to a URL, or to a command whose arguments are separated by spaces. */
async function connect(server: string, name: string): Promise<McpConnection> {
  const { connectMcp } = await import('../tools/mcp/connect-mcp.ts');
  if (/^https?:\/\//i.test(server)) return connectMcp({ name, url: server });
  const [command = '', ...args] = commandOf(server, process.env);
  return connectMcp({ name, command, args });
}
