import { chmodSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type * as z from 'zod/mini';
import type { ConsentChoice } from '../../machines/contracts/context.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { ProfileName } from '../../machines/contracts/profile.ts';
import { createPostChain, type PostChain } from '../chain/create-post-chain.ts';
import { parsePhase, parseSessionId, type Turn } from '../chain/runtime/run-options.ts';
import { journalFile } from '../durable/journals/file-journals.ts';
import type { JournalStore } from '../durable/journals/journal-store.ts';
import { count, firstLineOf, oneLine } from '../internal/printable.ts';
import { describeSystemError } from '../internal/system-error.ts';
import type { ContentPart } from '../llm/content.ts';
import { type ChosenModel, chooseModel, type ServerFlags } from './choose-model.ts';
import { whileWorking } from './long-work.ts';
import { recordableServer } from './mcp-servers.ts';
import { type JournalFlags, openJournals } from './open-journals.ts';
import type { AnswerFormat } from './render-answer.ts';
import {
  type BuiltIn,
  openCapabilities,
  openDocuments,
  openSessions,
  readAttachment,
  readHistory,
  readInstructions,
} from './run-inputs.ts';

export interface RunFlags extends ServerFlags {
  readonly docs?: readonly string[];
  /** The name of an embedding model. */
  readonly embeddings?: string;
  /** Paths of images and PDF files. */
  readonly attach?: readonly string[];
  readonly history?: string;
  /** A text, or "@" and the path of a file. */
  readonly instructions?: string;
  readonly capability?: readonly BuiltIn[];
  readonly mcp?: readonly string[];
  readonly session?: string;
  readonly sessionFile?: string;
  readonly model?: string;
  readonly fallbackModel?: readonly string[];
  readonly profile?: ProfileName;
  readonly maxCycles?: number;
  /** Seconds. */
  readonly timeout?: number;
  readonly startAt?: string;
  readonly manual?: boolean;
  readonly consent?: ConsentChoice;
  readonly approve?: 'always' | 'never';
  readonly format?: AnswerFormat;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** A file, or false for no journal. */
  readonly journal?: string | false;
  readonly journals?: string;
  /** Overwrites a file that is not a journal. */
  readonly force?: boolean;
  readonly inspect?: boolean;
  readonly inspectPort?: number;
}

export interface PreparedRun {
  readonly chain: PostChain;
  readonly startAt: Phase;
  readonly history: readonly Turn[];
  readonly attachments: readonly ContentPart[];
  readonly sessionId: string | undefined;
  /** What the journal records, so that `resume` and `fork` can prepare the run again. */
  readonly host: { readonly flags: Readonly<Record<string, Json>> };
  /** Closes the sessions and tools of the run. */
  readonly close: () => Promise<void>;
  readonly notes: readonly string[];
}

type Json = z.core.util.JSONType;

const MAX_CHECK_MS = 3_000;

/** Opens everything that a run needs. Reports invalid flags, paths and keys before anything starts. */
export async function prepareRun(flags: RunFlags, store?: JournalStore): Promise<PreparedRun> {
  const startAt = parsePhase(flags.startAt ?? 'action');
  const sessionId = flags.session === undefined ? undefined : parseSessionId(flags.session);
  if (flags.embeddings !== undefined && flags.docs === undefined)
    throw new PostChainError('invalid_option', '--embeddings searches documents: add --docs PATH');
  const journals = store ?? (await journalsOf(flags));
  const instructions = flags.instructions === undefined ? undefined : await readInstructions(flags.instructions);
  const [attachments, first, fallbacks, documents, history, sessions] = await Promise.all([
    Promise.all((flags.attach ?? []).map(readAttachment)),
    chooseModel(flags.model, process.env, flags),
    Promise.all((flags.fallbackModel ?? []).map((name) => chooseModel(name, process.env, flags))),
    flags.docs ? whileWorking('Loading documents', openDocuments(flags.docs, flags)) : null,
    flags.history === undefined ? [] : readHistory(flags.history),
    openSessions(flags),
  ]);
  const tools = await openCapabilities(flags.capability ?? [], flags.mcp ?? [], documents);
  const close = async (): Promise<void> => {
    sessions?.close();
    await tools.close();
  };
  try {
    const models = [first, ...fallbacks];
    if (attachments.length > 0 && models.every(({ name }) => name === 'offline'))
      throw new PostChainError('unsupported_file', '--attach: the extractive model reads text only; add --model NAME');
    const leftMs = await checkModels(models, (flags.timeout ?? 600) * 1000);
    const chain = createPostChain({
      model: first.model,
      fallbackModels: fallbacks.map(({ model }) => model),
      ...(documents && { documents: documents.source }),
      capabilities: tools.capabilities,
      ...(instructions !== undefined && { instructions }),
      ...(flags.profile !== undefined && { profile: flags.profile }),
      consent: 'ask',
      ...(sessions && { sessions }),
      ...(journals && { journals }),
      limits: {
        ...(flags.maxCycles !== undefined && { maxCycles: flags.maxCycles }),
        ...(flags.timeout !== undefined && { totalMs: leftMs }),
      },
    });
    const summary = [
      models.map(({ model }) => model.id).join(', then '),
      documents === null ? 'no documents (use --docs)' : count(documents.documents.length, 'document'),
      ...(tools.capabilities.length > 0 ? [count(tools.capabilities.length, 'tool')] : []),
      ...(attachments.length > 0 ? [count(attachments.length, 'file')] : []),
      ...(history.length > 0 ? [count(history.length, 'earlier turn')] : []),
      ...(sessionId === undefined ? [] : [`session ${oneLine(sessionId)}`]),
    ];
    const skipped = (documents?.skipped ?? []).map(({ path, reason }) => oneLine(`  skipped ${path}: ${reason}`));
    const ignored = models.every(({ name }) => name === 'offline') ? flagsIgnoredOffline(flags) : [];
    return {
      chain,
      startAt,
      history,
      attachments,
      sessionId,
      host: { flags: recordableFlags(flags, models) },
      close,
      notes: [
        summary.join(' · '),
        ...skipped,
        ...(ignored.length > 0 ? [`The extractive model ignores ${ignored.join(', ')}`] : []),
      ],
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function flagsIgnoredOffline({ instructions, api, reasoningEffort, serviceTier }: RunFlags): readonly string[] {
  const flags = {
    '--instructions': instructions,
    '--api': api,
    '--reasoning-effort': reasoningEffort,
    '--service-tier': serviceTier,
  };
  return Object.entries(flags).flatMap(([name, given]) => (given === undefined ? [] : [name]));
}

/** Checks the keys of the models, for at most a quarter of the time. Returns the milliseconds that are left. */
async function checkModels(models: readonly ChosenModel[], totalMs: number): Promise<number> {
  const startMs = performance.now();
  await Promise.all(models.map(({ check }) => check?.(Math.min(MAX_CHECK_MS, totalMs / 4))));
  return Math.max(1, totalMs - Math.floor(performance.now() - startMs));
}

async function journalsOf({ journal, force = false, ...flags }: RunFlags): Promise<JournalStore | null> {
  if (journal === undefined) return journalsForRun(flags);
  if (journal === false) return null;
  await requireReplaceable(journal, force);
  return journalFile(journal);
}

/**
 * Returns the store for a new run. If the default place is not writable, the run continues without a journal and prints a warning; a place that
 * the user chose must be writable.
 */
function journalsForRun(flags: JournalFlags): JournalStore {
  const store = openJournals(flags);
  if (flags.journals !== undefined || process.env['POSTCHAIN_JOURNALS']) return store;
  return {
    ...store,
    create(runId) {
      try {
        return store.create(runId);
      } catch (error) {
        process.stderr.write(`postchain: warning: the run is not recorded: ${oneLine(firstLineOf(error))}\n`);
        return { failure: null, write: () => {}, close: () => {} };
      }
    },
  };
}

/** Makes an existing file readable by its owner only. Throws `invalid_path` if it would be lost and is not a journal, unless forced. */
async function requireReplaceable(path: string, force: boolean): Promise<void> {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file?.isFile()) return;
  if (file.size > 0 && !force && (await journalFile(path).list())[0]?.status === 'damaged')
    throw new PostChainError(
      'invalid_path',
      `--journal: ${path} exists and is not a journal; pass another name, or --force to overwrite it`,
    );
  try {
    chmodSync(path, 0o600);
  } catch (cause) {
    const message = `--journal: ${path} cannot be made readable by only you: ${describeSystemError(cause)}`;
    throw new PostChainError('invalid_path', message, { cause });
  }
}

/** Returns the flags that `resume` and `fork` need, without keys. */
function recordableFlags(flags: RunFlags, models: readonly ChosenModel[]): Record<string, Json> {
  const [first, ...fallbacks] = models.map(({ name }) => name);
  const { docs, embeddings, capability, mcp, sessionFile, api, reasoningEffort, serviceTier } = flags;
  const baseUrl = models.map((model) => model.baseUrl).find((url) => url !== undefined);
  return {
    model: first ?? 'offline',
    ...(fallbacks.length > 0 && { fallbackModel: fallbacks }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(flags.stream === false && { stream: false }),
    ...(api && { api }),
    ...(reasoningEffort && { reasoningEffort }),
    ...(serviceTier && { serviceTier }),
    ...(docs && { docs: docs.map((path) => resolve(path)) }),
    ...(embeddings && { embeddings }),
    ...(capability && { capability: [...capability] }),
    ...(mcp && { mcp: mcp.map(recordableServer), directory: process.cwd() }),
    ...(sessionFile && { sessionFile: resolve(sessionFile) }),
  };
}
