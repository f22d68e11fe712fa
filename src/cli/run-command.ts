import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { oneLine } from '../presentation/printable.ts';
import { type Answerer, linesOf, personAt, withConsent } from './answerer.ts';
import { createAsker } from './ask-user.ts';
import { type PreparedRun, prepareRun, type RunFlags } from './prepare-run.ts';
import { createProgress } from './progress.ts';
import { rendererFor } from './render-answer.ts';
import { colorsFor, createScreen } from './screen.ts';
import type { Terminal } from './select.ts';
import { listenToSignals } from './signals.ts';

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

/** `postchain run`: progress on standard error, the answer on standard output. Gives the exit code. */
export async function runCommand(request: string, flags: RunFlags, streams: Streams = process): Promise<number> {
  const format = flags.json ? 'json' : (flags.format ?? 'text');
  const render = await rendererFor(format, streams.stdout);
  const prepared = await prepareRun(flags);
  // What was opened for the run is closed however it ends: a server's process left open would keep this one alive.
  try {
    const answer = await watch(
      request,
      prepared,
      { ...flags, quiet: flags.quiet === true || format === 'json' },
      streams,
    );
    streams.stdout.write(render(answer));
    return exitCode(answer);
  } finally {
    await prepared.close();
  }
}

/** Runs, and shows on the way what happens. */
async function watch(
  request: string,
  { chain, startAt, history, sessionId, notes }: PreparedRun,
  { quiet = false, ...flags }: RunFlags,
  { stdin, stderr }: Streams,
): Promise<FinalAnswer> {
  const file = await journalFile(flags.journal);
  const screen = createScreen(stderr);
  const mode = flags.manual ? 'manual' : 'automatic';
  const run = chain.run({ request, history, startAt, mode, ...(sessionId !== undefined && { sessionId }) });
  if (!quiet) for (const note of notes) screen.line(note);
  const { interrupt, stopListening } = listenToSignals(run);
  const terminal = { input: stdin, out: stderr, screen, colors: colorsFor(stderr), interrupt };
  const asker = createAsker(run, answererFor(flags.consent, quiet, terminal), screen);
  const progress = createProgress(screen);
  for await (const event of run.events) {
    if (event.type !== 'partial') file?.write(event);
    // A question that is over leaves the terminal before anything else is shown.
    asker.hear(event);
    if (!quiet) progress(event);
  }
  const answer = await run.answer;
  stopListening();
  asker.close();
  screen.clear();
  if (file?.failure) screen.line(`postchain: the journal is not whole: ${oneLine(file.failure)}`);
  file?.close();
  if (!quiet) screen.line('');
  return answer;
}

/** Who answers: a person where there is one at the terminal, else the lines of the input; a silent run asks for no consent. */
function answererFor(consent: RunFlags['consent'], silent: boolean, terminal: Terminal): Answerer {
  const someone = terminal.input.isTTY && terminal.out.isTTY;
  const answerer = someone ? personAt(terminal) : linesOf(terminal);
  if (consent !== undefined) return withConsent(answerer, consent, 'option');
  return silent ? withConsent(answerer, 'keep', 'nobody') : answerer;
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
