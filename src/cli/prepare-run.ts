import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { z } from 'zod';
import type { ConsentChoice } from '../../machines/contracts/context.ts';
import type { JournalStore } from '../../machines/contracts/journal.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import { parsePhase, parseSessionId, type Turn } from '../engine/runtime/run-options.ts';
import { createPostChain, type PostChain } from '../index.ts';
import { count, oneLine } from '../internal/printable.ts';
import { journalFile } from '../journal/file-journals.ts';
import { type ChosenModel, chooseModel } from './choose-model.ts';
import { journalsForRun } from './find-run.ts';
import { recordableServer } from './mcp-servers.ts';
import type { AnswerFormat } from './render-answer.ts';
import { type BuiltIn, openCapabilities, openDocuments, openSessions, readHistory } from './run-inputs.ts';
import { signRun } from './run-signature.ts';

export interface RunFlags {
  readonly docs?: readonly string[];
  readonly history?: string;
  readonly capability?: readonly BuiltIn[];
  readonly mcp?: readonly string[];
  readonly session?: string;
  readonly sessionFile?: string;
  readonly model?: string;
  readonly fallbackModel?: readonly string[];
  /** Of the model's server. */
  readonly baseUrl?: string;
  readonly maxCycles?: number;
  /** Seconds. */
  readonly timeout?: number;
  readonly startAt?: string;
  readonly manual?: boolean;
  readonly consent?: ConsentChoice;
  readonly format?: AnswerFormat;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** A file, or false for no journal. */
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
  /**
   * Returns what the journal records, so that `resume` and `fork` can prepare the run again: its flags, and a signature that fits them, the
   * id of the run and its session.
   */
  readonly host: (sessionId: string | null) => Readonly<Record<string, Json>>;
  /** Closes the sessions and tools of the run. */
  readonly close: () => Promise<void>;
  /** Lines to print before the run. */
  readonly notes: readonly string[];
}

type Json = z.core.util.JSONType;

const MAX_CHECK_MS = 3_000;

/** Opens everything that a run needs. Reports invalid flags, paths and keys before anything starts. */
export async function prepareRun(flags: RunFlags, journals = journalsOf(flags)): Promise<PreparedRun> {
  const startAt = parsePhase(flags.startAt ?? 'action');
  const sessionId = flags.session === undefined ? undefined : parseSessionId(flags.session);
  const [first, fallbacks, documents, history, sessions] = await Promise.all([
    chooseModel(flags.model, process.env, flags.baseUrl),
    Promise.all((flags.fallbackModel ?? []).map((name) => chooseModel(name, process.env, flags.baseUrl))),
    flags.docs ? openDocuments(flags.docs) : null,
    flags.history === undefined ? [] : readHistory(flags.history),
    openSessions(flags),
  ]);
  const tools = await openCapabilities(flags.capability ?? [], flags.mcp ?? [], documents);
  const close = async (): Promise<void> => {
    sessions?.close();
    await tools.close();
  };
  try {
    const runId = randomUUID();
    const chain = createPostChain({
      newId: () => runId,
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
    await Promise.all(models.map(({ check }) => check?.(Math.min(MAX_CHECK_MS, (flags.timeout ?? 600) * 250))));
    const summary = [
      models.map(({ model }) => model.id).join(', then '),
      documents === null ? 'no documents (use --docs)' : count(documents.documents.length, 'document'),
      ...(tools.capabilities.length > 0 ? [count(tools.capabilities.length, 'tool')] : []),
      ...(history.length > 0 ? [count(history.length, 'earlier turn')] : []),
      ...(sessionId === undefined ? [] : [`session ${oneLine(sessionId)}`]),
    ];
    const skipped = (documents?.skipped ?? []).map(({ path, reason }) => oneLine(`  skipped ${path}: ${reason}`));
    const recorded = recordableFlags(flags, models);
    const host = (sessionId: string | null): Readonly<Record<string, Json>> => {
      const signature = journals && signRun({ runId, sessionId, flags: recorded });
      return { flags: recorded, ...(signature !== null && { signature }) };
    };
    return { chain, startAt, history, sessionId, host, close, notes: [summary.join(' · '), ...skipped] };
  } catch (error) {
    await close();
    throw error;
  }
}

function journalsOf(flags: RunFlags): JournalStore | null {
  if (flags.journal === false) return null;
  return flags.journal === undefined ? journalsForRun(flags) : journalFile(flags.journal);
}

/** Returns the flags that `resume` and `fork` need, without keys. */
function recordableFlags(flags: RunFlags, models: readonly ChosenModel[]): Record<string, Json> {
  const [first, ...fallbacks] = models.map(({ name }) => name);
  const { docs, capability, mcp, sessionFile } = flags;
  const baseUrl = models.map((model) => model.baseUrl).find((url) => url !== undefined);
  return {
    model: first ?? 'offline',
    ...(fallbacks.length > 0 && { fallbackModel: fallbacks }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(docs && { docs: docs.map((path) => resolve(path)) }),
    ...(capability && { capability: [...capability] }),
    ...(mcp && { mcp: mcp.map(recordableServer) }),
    ...(sessionFile && { sessionFile: resolve(sessionFile) }),
  };
}
