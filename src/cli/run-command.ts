import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { answerText } from './answer-text.ts';
import { type Answerer, linesOf, personAt, withConsent } from './answerer.ts';
import { createAsker } from './ask-user.ts';
import { prepareRun, type RunFlags } from './prepare-run.ts';
import { oneLine } from './printable.ts';
import { createProgress } from './progress.ts';
import { colorsFor, createScreen } from './screen.ts';
import type { Terminal } from './select.ts';
import { listenToSignals } from './signals.ts';

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

/** `postchain run`: progress on standard error, the answer on standard output. Gives the exit code. */
export async function runCommand(request: string, flags: RunFlags, streams: Streams = process): Promise<number> {
  const { stdin, stdout, stderr } = streams;
  const { chain, startAt, history, notes } = await prepareRun(flags);
  const file = await journalFile(flags.journal);
  const screen = createScreen(stderr);
  const silent = flags.json || flags.quiet;
  const run = chain.run({ request, history, startAt, mode: flags.manual ? 'manual' : 'automatic' });
  if (!silent) for (const note of notes) screen.line(note);
  const { interrupt, stopListening } = listenToSignals(run);
  const terminal = { input: stdin, out: stderr, screen, colors: colorsFor(stderr), interrupt };
  const asker = createAsker(run, answererFor(flags, terminal), screen);
  const progress = createProgress(screen);
  for await (const event of run.events) {
    if (event.type !== 'partial') file?.write(event);
    // A question that is over leaves the terminal before anything else is shown.
    asker.hear(event);
    if (!silent) progress(event);
  }
  const answer = await run.answer;
  stopListening();
  asker.close();
  screen.clear();
  if (file?.failure) screen.line(`postchain: the journal is not whole: ${oneLine(file.failure)}`);
  file?.close();
  stdout.write(
    flags.json ? `${JSON.stringify(answer, null, 2)}\n` : `${silent ? '' : '\n'}${forPeople(answer, stdout)}`,
  );
  return exitCode(answer);
}

/** Who answers: a person where there is one at the terminal, else the lines of the input; --json and --quiet ask for no consent. */
function answererFor({ consent, json, quiet }: RunFlags, terminal: Terminal): Answerer {
  const someone = terminal.input.isTTY && terminal.out.isTTY;
  const answerer = someone ? personAt(terminal) : linesOf(terminal);
  if (consent !== undefined) return withConsent(answerer, consent, 'option');
  return json || quiet ? withConsent(answerer, 'keep', 'nobody') : answerer;
}

function forPeople(answer: FinalAnswer, stdout: Streams['stdout']): string {
  const { isTTY, columns } = stdout;
  const page = { colors: colorsFor(stdout), columns: isTTY ? Math.min(columns || 80, 120) : Infinity };
  return answerText(answer, page);
}

async function journalFile(path: string | undefined) {
  if (path === undefined) return null;
  const { openJournalFile } = await import('../journal/jsonl-file.ts');
  return openJournalFile(path);
}

function exitCode({ status, metadata }: FinalAnswer): number {
  if (status === 'cancelled' || metadata.reason === 'interrupted') return 130;
  return metadata.degraded ? 3 : 0;
}
