import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import type { ConsentChoice } from '../../machines/contracts/context.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalStore } from '../../machines/contracts/journal.ts';

import type { ChatModel } from '../../machines/contracts/model.ts';
import type { PassageSource } from '../../machines/contracts/passage.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { Document } from '../documents/document.ts';
import { parsePhase, parseSessionId, type Turn } from '../engine/runtime/run-options.ts';
import { createPostChain, type PostChain } from '../index.ts';
import { makeDirectory } from '../internal/make-directory.ts';
import { count, oneLine } from '../internal/printable.ts';
import { journalFile } from '../journal/file-journals.ts';
import type { SqliteSessions } from '../journal/sqlite-sessions.ts';
import { type BuiltIn, openCapabilities } from './open-capabilities.ts';
import { journalsForRun } from './open-journals.ts';
import type { AnswerFormat } from './render-answer.ts';

export interface RunFlags {
  readonly docs?: readonly string[];
  readonly history?: string;
  readonly capability?: readonly BuiltIn[];
  readonly mcp?: readonly string[];
  readonly session?: string;
  readonly sessionFile?: string;
  readonly model?: string;
  readonly fallbackModel?: readonly string[];
  readonly maxCycles?: number;
  readonly timeout?: number;
  readonly startAt?: string;
  readonly manual?: boolean;
  readonly consent?: ConsentChoice;
  readonly format?: AnswerFormat;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** A file; false: none is kept. */
  readonly journal?: string | false;
  readonly journals?: string;
  readonly inspect?: boolean;
  readonly inspectPort?: number;
}

export interface PreparedRun {
  readonly chain: PostChain;
  readonly startAt: Phase;
  readonly history: readonly Turn[];
  readonly sessionId: string | undefined;
  /** What the run is prepared by again, to go on with it later. */
  readonly host: Readonly<Record<string, Json>>;
  /** Closes what the run was given. */
  readonly close: () => Promise<void>;
  /** What the run begins with, in lines for people. */
  readonly notes: readonly string[];
}

const MAX_CHECK_MS = 3_000;

/** Everything that can be wrong with a run is found here, before anything starts. */
export async function prepareRun(flags: RunFlags, journals = journalsOf(flags)): Promise<PreparedRun> {
  const startAt = parsePhase(flags.startAt ?? 'action');
  const sessionId = parseSessionId(flags.session) ?? undefined;
  const [first, fallbacks, documents, history, sessions] = await Promise.all([
    chooseModel(flags.model, process.env),
    Promise.all((flags.fallbackModel ?? []).map((name) => chooseModel(name, process.env))),
    flags.docs ? openDocuments(flags.docs) : null,
    historyOf(flags.history),
    openSessions(flags),
  ]);
  const tools = await openCapabilities({ names: flags.capability ?? [], servers: flags.mcp ?? [], documents });
  const close = async (): Promise<void> => {
    sessions?.close();
    await tools.close();
  };
  try {
    const chain = createPostChain({
      model: first.model,
      fallbackModels: fallbacks.map(({ model }) => model),
      ...(documents && { documents: documents.source }),
      capabilities: tools.capabilities,
      ...(sessions && { sessions }),
      ...(journals && { journals }),
      limits: {
        ...(flags.maxCycles !== undefined && { maxCycles: flags.maxCycles }),
        ...(flags.timeout !== undefined && { totalMs: flags.timeout * 1000 }),
      },
    });
    const models = [first, ...fallbacks];
    await Promise.all(models.map(({ check }) => check(Math.min(MAX_CHECK_MS, (flags.timeout ?? 600) * 250))));
    const begun = [
      models.map(({ model }) => model.id).join(', then '),
      documents === null ? 'no documents (--docs DIR gives some)' : count(documents.files, 'document'),
      ...(tools.capabilities.length > 0 ? [count(tools.capabilities.length, 'tool')] : []),
      ...(history.length > 0 ? [count(history.length, 'earlier turn')] : []),
      ...(sessionId === undefined ? [] : [`session ${oneLine(sessionId)}`]),
    ];
    const skipped = (documents?.skipped ?? []).map(({ path, reason }) => oneLine(`  skipped ${path}: ${reason}`));
    const host = { flags: keptFlags(flags, models) };
    return { chain, startAt, history, sessionId, host, close, notes: [begun.join(' · '), ...skipped] };
  } catch (error) {
    await close();
    throw error;
  }
}

async function historyOf(path: string | undefined): Promise<readonly Turn[]> {
  if (path === undefined) return [];
  const { readHistory } = await import('./read-history.ts');
  return readHistory(path);
}

function journalsOf(flags: RunFlags): JournalStore | null {
  if (flags.journal === false) return null;
  return flags.journal === undefined ? journalsForRun(flags) : journalFile(flags.journal);
}

type Json = z.core.util.JSONType;

/** Without what only the beginning of a run needs, and without the user and the query of an address: they may hold a key. */
function keptFlags(flags: RunFlags, models: readonly ChosenModel[]): Record<string, Json> {
  const [first, ...fallbacks] = models.map(({ name }) => name);
  const { docs, capability, mcp, sessionFile } = flags;
  return {
    model: first ?? 'offline',
    ...(fallbacks.length > 0 && { fallbackModel: fallbacks }),
    ...(docs && { docs: docs.map((path) => resolve(path)) }),
    ...(capability && { capability: [...capability] }),
    ...(mcp && { mcp: mcp.map((server) => (/^https?:/iu.test(server) ? withoutKeys(server) : server)) }),
    ...(sessionFile && { sessionFile: resolve(sessionFile) }),
  };
}

const withoutKeys = (address: string): string =>
  address.replace(/[?#].*$/su, '').replace(/^(https?:\/*)[^/]*@/iu, '$1');

const DEFAULT_MODEL = 'gpt-4.1-mini';

interface ChosenModel {
  readonly model: ChatModel;
  /** What it is chosen by again. */
  readonly name: string;
  /** Asks the server whether it takes the key; rejects with `invalid_key` where it says no, and only then. */
  readonly check: (withinMs: number) => Promise<void>;
}

/**
 * The model of a run: the one named, or, where a key or a server is set in the environment, an OpenAI-compatible one; otherwise
 * the offline extractive model. Throws `invalid_key` or `invalid_option`.
 */
async function chooseModel(named: string | undefined, env: NodeJS.ProcessEnv): Promise<ChosenModel> {
  // An empty variable, as compose files give, is one that is not set.
  const wantsServer = Boolean(env['OPENAI_API_KEY'] || env['OPENAI_BASE_URL']);
  const name = named ?? (env['POSTCHAIN_MODEL'] || (wantsServer ? DEFAULT_MODEL : 'offline'));
  if (name === 'offline') {
    const { extractiveModel } = await import('../models/extractive/extractive-model.ts');
    return { model: extractiveModel(), name, check: async () => {} };
  }
  const { openaiModel } = await import('../models/openai/openai-model.ts');
  const model = openaiModel({ model: name });
  const check = async (withinMs: number): Promise<void> => {
    const refused = await model.checkKey({ signal: AbortSignal.timeout(withinMs) });
    if (refused !== null)
      throw new PostChainError(
        'invalid_key',
        `OPENAI_API_KEY was refused (${refused.message}): set a key that this server accepts, or --model offline.`,
      );
  };
  return { model, name, check };
}

interface OpenedDocuments {
  readonly source: PassageSource;
  readonly documents: readonly Document[];
  readonly files: number;
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/** Reads the documents of a run. Throws `invalid_path` for one that is not there or cannot be read, and where there are none. */
async function openDocuments(paths: readonly string[]): Promise<OpenedDocuments> {
  const [{ loadDocuments }, { createPassageIndex }] = await Promise.all([
    import('../documents/load-documents.ts'),
    import('../documents/passage-index.ts'),
  ]);
  const { documents, skipped } = await loadDocuments(paths);
  if (documents.length === 0)
    throw new PostChainError(
      'invalid_path',
      `Nothing in ${paths.join(', ')} can be read as a document (${skipped.length} skipped): wanted Markdown, text, HTML or JSON (.md .txt .html .json).`,
    );
  return { source: createPassageIndex(documents), documents, files: documents.length, skipped };
}

/** Where sessions are kept when nobody says where. */
const defaultFile = (): string => join(homedir(), '.postchain', 'sessions.db');

/**
 * The file of a run's session; null for a run without one. It is opened now, so that what is wrong with it is found before anything
 * starts. Throws `session_failed` or `invalid_option`.
 */
async function openSessions(flags: {
  readonly session?: string;
  readonly sessionFile?: string;
}): Promise<SqliteSessions | null> {
  if (flags.session === undefined) {
    if (flags.sessionFile === undefined) return null;
    throw new PostChainError('invalid_option', '--session-file: got no session; wanted --session ID beside it.');
  }
  const { sqliteSessions } = await import('../journal/sqlite-sessions.ts');
  const sessions = sqliteSessions(flags.sessionFile ?? prepareFolder(defaultFile()));
  await sessions.open();
  return sessions;
}

/** The folder of the default file is nobody else's to look into. */
function prepareFolder(path: string): string {
  try {
    makeDirectory(dirname(path));
  } catch {
    // Opening the file says so.
  }
  return path;
}
