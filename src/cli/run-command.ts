import type { ChainEvent } from '../../machines/contracts/events.ts';
import { EXTERNAL_EVENTS, type JournalEntry } from '../../machines/contracts/journal.ts';

import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import type { Run } from '../engine/runtime/run.ts';
import type { RunEvent } from '../engine/runtime/run-events.ts';
import { oneLine, printable } from '../internal/printable.ts';
import { type Answerer, linesOf, personAt, withConsent } from './answerer.ts';
import type { Inspector } from './inspector.ts';
import { openJournals } from './open-journals.ts';
import { type PreparedRun, prepareRun, type RunFlags } from './prepare-run.ts';
import { createProgress } from './progress.ts';
import { rendererFor } from './render-answer.ts';
import { colorsFor, createScreen, type Screen } from './screen.ts';
import type { Terminal } from './select.ts';
import { listenToSignals } from './signals.ts';

export type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

/** `postchain run`: progress on standard error, the answer on standard output. Gives the exit code. */
export async function runCommand(request: string, flags: RunFlags, streams: Streams = process): Promise<number> {
  return playRun(await prepareRun(flags), flags, streams, ({ chain, startAt, history, sessionId, host }) =>
    chain.run({
      request,
      history,
      startAt,
      mode: flags.manual ? 'manual' : 'automatic',
      host,
      ...(sessionId !== undefined && { sessionId }),
    }),
  );
}

/** Plays a run that is begun here, from wherever it stands, to its answer. Gives the exit code. */
export async function playRun(
  prepared: PreparedRun,
  flags: RunFlags,
  streams: Streams,
  begin: (prepared: PreparedRun) => Run | Promise<Run>,
): Promise<number> {
  const format = flags.json ? 'json' : (flags.format ?? 'text');
  const quiet = flags.quiet === true || format === 'json';
  let inspector: Inspector | null = null;
  // What was opened for the run is closed however it ends: a server's process left open would keep this one alive.
  try {
    const render = await rendererFor(format, streams.stdout);
    inspector = await inspectorFor(flags, streams);
    const run = await begin(prepared);
    inspector?.watch(run);
    const { answer, isTerminated } = await watch(run, prepared, { ...flags, quiet }, streams);
    streams.stdout.write(render(answer));
    if (!isTerminated) await inspector?.stay();
    return exitCode(answer);
  } finally {
    await inspector?.close();
    await prepared.close();
  }
}

/** It lists the runs that are kept, too, wherever this one is written. */
async function inspectorFor(flags: RunFlags, { stderr }: Streams): Promise<Inspector | null> {
  if (flags.inspect !== true) return null;
  const { openInspector } = await import('./inspector.ts');
  return openInspector({ journals: openJournals(flags), port: flags.inspectPort }, stderr);
}

/** Shows what happens on the way. */
async function watch(
  run: Run,
  { notes }: PreparedRun,
  { quiet = false, ...flags }: RunFlags,
  { stdin, stderr }: Streams,
): Promise<{ readonly answer: FinalAnswer; readonly isTerminated: boolean }> {
  const screen = createScreen(stderr);
  const [first, ...others] = notes;
  if (!quiet) for (const note of [`${first} · run ${oneLine(run.runId).slice(0, 8)}`, ...others]) screen.line(note);
  if (!quiet && run.actor.getSnapshot().status === 'done') screen.line('This run had ended: nothing is asked again.');
  const { interrupt, isTerminated, stopListening } = listenToSignals(run);
  const terminal = { input: stdin, out: stderr, screen, colors: colorsFor(stderr), interrupt };
  const asker = createAsker(run, answererFor(flags.consent, quiet, terminal), screen);
  const progress = createProgress(screen);
  for await (const event of run.events) {
    // A question that is over leaves the terminal before anything else is shown.
    asker.hear(event);
    if (!quiet) progress(event);
  }
  const answer = await run.answer;
  stopListening();
  asker.close();
  screen.clear();
  if (run.journalFailure) screen.line(`postchain: the journal is not whole: ${oneLine(run.journalFailure)}`);
  if (!quiet) screen.line('');
  return { answer, isTerminated: isTerminated() };
}

/** Who answers: a person where there is one at the terminal, else the lines of the input; a silent run asks for no consent. */
function answererFor(consent: RunFlags['consent'], silent: boolean, terminal: Terminal): Answerer {
  const someone = terminal.input.isTTY && terminal.out.isTTY;
  const answerer = someone ? personAt(terminal) : linesOf(terminal);
  if (consent !== undefined) return withConsent(answerer, consent, 'option');
  return silent ? withConsent(answerer, 'keep', 'nobody') : answerer;
}

function exitCode({ status, metadata }: FinalAnswer): number {
  if (status === 'cancelled' || metadata.reason === 'interrupted') return 130;
  return metadata.degraded ? 3 : 0;
}

type Ask = (signal: AbortSignal) => Promise<ChainEvent | null>;

const QUESTIONS: ReadonlySet<JournalEntry['type']> = new Set(['consent-asked', 'direction-asked', 'direction-refused']);

const isStimulus = ({ type }: JournalEntry): boolean => EXTERNAL_EVENTS.has(type);

/** Puts the chart's questions to who answers them: where to go on (manual mode), and consent. A question ends with the run's wait. */
export function createAsker({ send, journal }: Pick<Run, 'send' | 'journal'>, answerer: Answerer, screen: Screen) {
  let waiting = new AbortController();
  let consentMs = 0;
  let proposal = 'finish';

  /** A prompt that breaks is one that nobody can answer. */
  async function put(ask: Ask, unanswered: ChainEvent): Promise<void> {
    const { signal } = waiting;
    const event = await ask(signal).catch(() => unanswered);
    if (event !== null && !signal.aborted) send(event);
  }
  const askDirection = (): Promise<void> =>
    put((signal) => answerer.direction(proposal, signal), { type: 'run.finished' });

  /** Of a run that goes on: what was asked before was answered in another process. */
  const isOver = ({ seq }: JournalEntry): boolean => (journal.findLast(isStimulus)?.seq ?? 0) > seq;

  function hearEntry(entry: JournalEntry): void {
    if (QUESTIONS.has(entry.type) && isOver(entry)) return;
    switch (entry.type) {
      case 'run-start':
        consentMs = entry.limits.consentMs;
        return;
      case 'consent-asked':
        void put((signal) => answerer.consent(entry.request, signal, consentMs), {
          type: 'consent.given',
          choice: 'keep',
        });
        return;
      case 'direction-asked':
        proposal = entry.proposal;
        screen.line(`\n${printable(entry.answer) || '(no answer yet)'}\n`);
        void askDirection();
        return;
      case 'direction-refused':
        void askDirection();
    }
  }

  return {
    hear(event: RunEvent): void {
      if (event.type === 'partial') return;
      // Where anything comes to a run that waits, it goes on.
      if (isStimulus(event)) {
        waiting.abort();
        waiting = new AbortController();
      }
      hearEntry(event);
    },
    close(): void {
      waiting.abort();
      answerer.close();
    },
  };
}
