import type { ConsentChoice } from '../../machines/contracts/consent.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import { createPostChain, type PostChain } from '../runtime/create-postchain.ts';
import { readPhase, type Turn } from '../runtime/run-options.ts';
import { chooseModel } from './choose-model.ts';
import { openDocuments } from './open-documents.ts';
import { count, oneLine } from './printable.ts';

export interface RunFlags {
  readonly docs?: readonly string[];
  readonly history?: string;
  readonly model?: string;
  readonly maxCycles?: number;
  readonly timeout?: number;
  readonly startAt?: string;
  readonly manual?: boolean;
  readonly consent?: ConsentChoice;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly journal?: string;
}

export interface PreparedRun {
  readonly chain: PostChain;
  readonly startAt: Phase;
  readonly history: readonly Turn[];
  /** What the run begins with, in lines for people. */
  readonly notes: readonly string[];
}

const MAX_CHECK_MS = 3_000;

/** Everything that can be wrong with a run is found here, before anything starts. */
export async function prepareRun(flags: RunFlags): Promise<PreparedRun> {
  const startAt = readPhase(flags.startAt ?? 'action');
  const [{ model, check }, documents, history] = await Promise.all([
    chooseModel(flags.model, process.env),
    flags.docs ? openDocuments(flags.docs) : null,
    historyOf(flags.history),
  ]);
  const chain = createPostChain({
    model,
    ...(documents && { documents: documents.source }),
    limits: {
      ...(flags.maxCycles !== undefined && { maxCycles: flags.maxCycles }),
      ...(flags.timeout !== undefined && { totalMs: flags.timeout * 1000 }),
    },
  });
  await check(Math.min(MAX_CHECK_MS, (flags.timeout ?? 600) * 250));
  const begun = [
    model.id,
    documents === null ? 'no documents (--docs DIR gives some)' : count(documents.files, 'document'),
    ...(history.length > 0 ? [count(history.length, 'earlier turn')] : []),
  ];
  const skipped = (documents?.skipped ?? []).map(({ path, reason }) => oneLine(`  skipped ${path}: ${reason}`));
  return { chain, startAt, history, notes: [begun.join(' · '), ...skipped] };
}

async function historyOf(path: string | undefined): Promise<readonly Turn[]> {
  if (path === undefined) return [];
  const { readHistory } = await import('./read-history.ts');
  return readHistory(path);
}
