import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { createPostChain } from '../runtime/create-postchain.ts';
import type { Run } from '../runtime/run.ts';
import { readPhase } from '../runtime/run-options.ts';
import { answerText } from './answer-text.ts';
import { createAsker } from './ask-user.ts';
import { chooseModel } from './choose-model.ts';
import { openDocuments } from './open-documents.ts';
import { oneLine } from './printable.ts';
import { createProgress } from './progress.ts';
import { colorsFor, createScreen } from './screen.ts';

export interface RunFlags {
  readonly docs?: readonly string[];
  readonly model?: string;
  readonly maxCycles?: number;
  readonly timeout?: number;
  readonly startAt?: string;
  readonly manual?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly journal?: string;
}

/** `postchain run`: progress on standard error, the answer on standard output. Gives the exit code. */
export async function runCommand(request: string, flags: RunFlags): Promise<number> {
  const { chain, startAt, notes } = await prepare(flags);
  const file = await journalFile(flags.journal);
  const screen = createScreen(process.stderr);
  const silent = flags.json || flags.quiet;
  const run = chain.run({ request, startAt, mode: flags.manual ? 'manual' : 'automatic' });
  if (!silent) for (const note of notes) screen.line(note);
  const stopListening = listenToSignals(run);
  const asker = createAsker(run, process.stdin, process.stderr);
  const progress = createProgress(screen);
  for await (const event of run.events) {
    if (event.type !== 'partial') file?.write(event);
    if (!silent) progress(event);
    asker.hear(event);
  }
  const answer = await run.answer;
  stopListening();
  asker.close();
  screen.clear();
  if (file?.failure) screen.line(`postchain: the journal is not whole: ${oneLine(file.failure)}`);
  file?.close();
  process.stdout.write(
    flags.json ? `${JSON.stringify(answer, null, 2)}\n` : `${silent ? '' : '\n'}${forPeople(answer)}`,
  );
  return exitCode(answer);
}

function forPeople(answer: FinalAnswer): string {
  const { isTTY, columns } = process.stdout;
  const page = { colors: colorsFor(process.stdout), columns: isTTY ? Math.min(columns || 80, 120) : Infinity };
  return answerText(answer, page);
}

const MAX_CHECK_MS = 3_000;

/** Everything that can be wrong is found here, before anything starts. */
async function prepare(flags: RunFlags) {
  const startAt = readPhase(flags.startAt ?? 'action');
  const [{ model, check }, documents] = await Promise.all([
    chooseModel(flags.model, process.env),
    flags.docs ? openDocuments(flags.docs) : null,
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
  const read =
    documents === null
      ? 'no documents (--docs DIR gives some)'
      : `${documents.files} ${documents.files === 1 ? 'document' : 'documents'}`;
  const skipped = (documents?.skipped ?? []).map(({ path, reason }) => oneLine(`  skipped ${path}: ${reason}`));
  return { chain, startAt, notes: [`${model.id} · ${read}`, ...skipped] };
}

async function journalFile(path: string | undefined) {
  if (path === undefined) return null;
  const { openJournalFile } = await import('../journal/jsonl-file.ts');
  return openJournalFile(path);
}

/** The first Ctrl-C asks for the answer so far, the second ends the process. Gives a function that stops listening. */
function listenToSignals(run: Run): () => void {
  const onInterrupt = (): void => {
    process.once('SIGINT', () => process.exit(130));
    run.cancel('Ctrl-C');
  };
  const onTerminate = (): void => run.send({ type: 'run.interrupted', reason: 'SIGTERM' });
  process.once('SIGINT', onInterrupt);
  process.once('SIGTERM', onTerminate);
  return () => {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onTerminate);
  };
}

function exitCode({ status, metadata }: FinalAnswer): number {
  if (status === 'cancelled' || metadata.reason === 'interrupted') return 130;
  return metadata.degraded ? 3 : 0;
}
