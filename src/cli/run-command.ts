import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChainEvent } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { pendingApprovals, recommendedDirection } from '../../machines/policies/questions.ts';
import { readRun } from '../chain/journal/run-journal.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import { reasonOf } from '../chain/presentation/entry-words.ts';
import type { Run } from '../chain/runtime/run.ts';
import type { RunEvent } from '../chain/runtime/run-events.ts';
import { oneLine, printable } from '../internal/printable.ts';
import { type Answerer, answererFor, NOBODY_ASKED, type UserReply } from './ask-user.ts';
import type { FoundRun } from './find-run.ts';
import type { OpenedInspector } from './inspect-command.ts';
import { openJournals } from './open-journals.ts';
import { type PreparedRun, prepareRun, type RunFlags } from './prepare-run.ts';
import { createProgress } from './progress.ts';
import { type AnswerFormat, rendererFor } from './render-answer.ts';
import { colorsFor, createScreen, type Screen, type StandardStreams } from './screen.ts';

/** Prints progress to stderr and the answer to stdout. Returns the exit code. */
export async function runCommand(
  request: string,
  flags: RunFlags,
  streams: StandardStreams = process,
): Promise<number> {
  if (flags.sessionFile !== undefined && flags.session === undefined)
    throw new PostChainError('invalid_option', '--session-file requires --session, the id of the session in the file');
  return completeRun(
    await prepareRun(flags),
    flags,
    streams,
    ({ chain, startAt, history, attachments, sessionId, host }) =>
      chain.run({
        request: attachments.length === 0 ? request : [...attachments, { type: 'text', text: request }],
        history,
        startAt,
        mode: flags.manual ? 'manual' : 'automatic',
        host,
        ...(sessionId !== undefined && { sessionId }),
      }),
  );
}

/** Starts a run (new, resumed or forked) and prints it until its answer. Returns the exit code. */
export async function completeRun(
  prepared: PreparedRun,
  flags: RunFlags,
  streams: StandardStreams,
  start: (prepared: PreparedRun) => Run | Promise<Run>,
): Promise<number> {
  const format = flags.json ? 'json' : (flags.format ?? 'text');
  const quiet = flags.quiet === true || format === 'json';
  let inspector: OpenedInspector | null = null;
  // An open MCP server would keep this process alive, so close everything even after an error.
  try {
    const render = await rendererFor(format, streams.stdout);
    inspector = await openInspectorFor(flags, streams);
    const run = await start(prepared);
    inspector?.watch(run);
    const { answer, isRecorded, isTerminated } = await follow(run, prepared, { ...flags, quiet }, streams);
    printAnswer(answer, run.entries, { format, render, streams });
    if (!isTerminated) await inspector?.stay();
    const code = exitCode(answer);
    return isRecorded || code === INTERRUPTED ? code : JOURNAL_INCOMPLETE;
  } finally {
    await inspector?.close();
    await prepared.close();
  }
}

/** Prints a run that has ended from its journal, without its model, documents and servers. Returns the exit code. */
export async function printEndedRun(
  { store, runId }: FoundRun,
  flags: RunFlags,
  streams: StandardStreams,
): Promise<number> {
  const format = flags.json ? 'json' : (flags.format ?? 'text');
  const entries = await readRun(store.read(runId));
  const end = entries.findLast((entry) => entry.type === 'answer');
  if (end === undefined)
    throw new PostChainError('invalid_journal', `Run ${oneLine(runId)} has ended without an answer`);
  if (flags.quiet !== true && format !== 'json') {
    const screen = createScreen(streams.stderr);
    const { input, product } = runStartOf(entries);
    screen.line(`${oneLine(product.modelId)} · run ${oneLine(input.runId).slice(0, 8)}`);
    screen.line('This run has already ended.');
    const progress = createProgress(screen);
    for (const entry of entries) progress(entry);
    screen.clear();
    screen.line('');
  }
  const inspector = await openInspectorFor(flags, streams);
  try {
    printAnswer(end.answer, entries, { format, render: await rendererFor(format, streams.stdout), streams });
    inspector?.choose(runStartOf(entries).input.runId);
    await inspector?.stay();
    return exitCode(end.answer);
  } finally {
    await inspector?.close();
  }
}

/** The inspector also lists the recorded runs, wherever this run is written. */
async function openInspectorFor(flags: RunFlags, { stderr }: StandardStreams): Promise<OpenedInspector | null> {
  if (flags.inspect !== true) return null;
  const { openInspector } = await import('./inspect-command.ts');
  const isForeign = flags.journals !== undefined;
  const found = { journals: openJournals(flags), place: flags.journals, isFile: false, isForeign };
  return openInspector({ ...found, port: flags.inspectPort }, stderr);
}

async function follow(
  run: Run,
  { notes }: PreparedRun,
  { quiet = false, ...flags }: RunFlags,
  { stdin, stderr }: StandardStreams,
): Promise<{ readonly answer: FinalAnswer; readonly isRecorded: boolean; readonly isTerminated: boolean }> {
  const screen = createScreen(stderr);
  const [first, ...others] = notes;
  if (!quiet) for (const note of [`${first} · run ${oneLine(run.id).slice(0, 8)}`, ...others]) screen.line(note);
  const { interrupt, isTerminated, stopListening } = handleSignals(run);
  const terminal = { input: stdin, out: stderr, screen, colors: colorsFor(stderr), interrupt };
  const questions = new RunQuestions(run, answererFor(flags, quiet, terminal), screen);
  const progress = createProgress(screen);
  for await (const event of run.events) {
    // A prompt that no longer applies must close before anything else is printed.
    questions.onEvent(event);
    if (!quiet) progress(event);
  }
  const answer = await run.answer;
  stopListening();
  questions.close();
  screen.clear();
  if (run.journalFailure) screen.line(`postchain: warning: the journal is incomplete: ${oneLine(run.journalFailure)}`);
  if (!quiet) screen.line('');
  return { answer, isRecorded: run.journalFailure === null, isTerminated: isTerminated() };
}

interface Output {
  readonly format: AnswerFormat;
  readonly render: (answer: FinalAnswer) => string;
  readonly streams: StandardStreams;
}

/** Prints the answer to stdout. If no call of the model succeeded, why is an error, and only what the documents and tools gave is printed. */
function printAnswer(answer: FinalAnswer, entries: readonly JournalEntry[], { format, render, streams }: Output): void {
  const { answerText } = answer;
  const problem = format === 'json' ? null : modelProblem(answer, entries);
  if (problem === null) return void streams.stdout.write(render(answer));
  streams.stderr.write(`postchain: ${oneLine(problem)}; or use another --base-url or --model, or --model offline\n`);
  if (!answerText.startsWith(NO_ANSWER)) streams.stdout.write(`${printable(answerText).trimEnd()}\n`);
}

/** How the text of an answer begins if nothing was found. */
const NO_ANSWER = 'No answer was reached.';

/** Why the model could not be used at all; null if a cycle was completed. */
function modelProblem({ metadata, reasons }: FinalAnswer, entries: readonly JournalEntry[]): string | null {
  const isUnused = metadata.reason === 'model_unavailable' && reasons.some(({ code }) => code === 'zero_passes');
  const failed = entries.findLast((entry) => entry.type === 'phase-end' && entry.failure !== null);
  return isUnused && failed?.type === 'phase-end' ? (failed.failure?.message ?? null) : null;
}

/** An exit code of its own, because a run with this end cannot be resumed or replayed, whatever its answer. */
const JOURNAL_INCOMPLETE = 4;
const INTERRUPTED = 130;

function exitCode({ status, metadata }: FinalAnswer): number {
  if (status === 'cancelled' || metadata.reason === 'interrupted') return INTERRUPTED;
  return metadata.degraded ? 3 : 0;
}

/** The first Ctrl-C requests the answer so far, the second ends the process. SIGTERM interrupts the run. */
function handleSignals(run: Pick<Run, 'cancel' | 'send'>) {
  let isInterrupted = false;
  const interrupt = (): void => {
    if (isInterrupted) process.exit(130);
    isInterrupted = true;
    run.cancel('Ctrl-C');
  };
  let isTerminated = false;
  const terminate = (): void => {
    isTerminated = true;
    run.send({ type: 'run.interrupted', reason: 'SIGTERM' });
  };
  process.on('SIGINT', interrupt);
  process.once('SIGTERM', terminate);
  return {
    interrupt,
    isTerminated: () => isTerminated,
    stopListening(): void {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
    },
  };
}

const QUESTIONS: ReadonlySet<JournalEntry['type']> = new Set([
  'consent-asked',
  'direction-asked',
  'direction-refused',
  'answer-refused',
]);

/** The events after which a waiting run has continued. Calls do not count: one that started early is still running while the run waits. */
const CONTINUATIONS: ReadonlySet<JournalEntry['type']> = new Set([
  'delivery',
  'approval-resolved',
  'consent-resolved',
  'phase-end',
  'stopped',
  'answer',
]);

const continues = ({ type }: JournalEntry): boolean => CONTINUATIONS.has(type);

const APPROVALS: ReadonlySet<JournalEntry['type']> = new Set(['approval-asked', 'approval-resolved']);

/** The events after which a run no longer waits for an answer. */
const RESOLUTIONS: ReadonlySet<JournalEntry['type']> = new Set([
  'consent-resolved',
  'decision',
  'phase-start',
  'answer',
]);

/**
 * Passes the run's questions (consent, direction, approvals one after another) to an answerer. A question is withdrawn when the run
 * continues without a reply, and asked again after an answer that was refused.
 */
export class RunQuestions {
  readonly #run: Pick<Run, 'send' | 'entries'>;
  readonly #answerer: Answerer;
  readonly #screen: Screen;
  #waiting = new AbortController();
  #consentMs = 0;
  /** Asks the question that the run waits for. */
  #askAgain = (): void => {};
  /** Whether the prompt of an approval is open. */
  #isApproving = false;
  /** The approvals that were answered here. */
  readonly #answered = new Set<string>();

  constructor(run: Pick<Run, 'send' | 'entries'>, answerer: Answerer, screen: Screen) {
    this.#run = run;
    this.#answerer = answerer;
    this.#screen = screen;
  }

  onEvent(event: RunEvent): void {
    if (!('seq' in event)) return;
    if (continues(event)) {
      this.#waiting.abort();
      this.#waiting = new AbortController();
    }
    if (APPROVALS.has(event.type)) this.#askApproval();
    if (RESOLUTIONS.has(event.type)) this.#askAgain = () => {};
    if (event.type === 'start') this.#consentMs = event.input.limits.consentMs;
    if (event.type === 'consent-asked') {
      const { questionId, request } = event;
      const question = (signal: AbortSignal) => this.#answerer.consent(request, signal, this.#consentMs);
      this.#askAgain = () => void this.#ask(questionId, question, { type: 'consent.given', choice: 'keep' });
    }
    if (event.type === 'direction-asked') this.#onDirection(event);
    if (QUESTIONS.has(event.type) && !this.#isAnswered(event)) this.#askAgain();
  }

  close(): void {
    this.#waiting.abort();
    this.#answerer.close();
  }

  #onDirection(event: Extract<JournalEntry, { type: 'direction-asked' }>): void {
    const { questionId, answer, recommendation } = event;
    const recommended = recommendedDirection(event);
    const question = (signal: AbortSignal) => this.#answerer.direction(recommended, signal);
    this.#askAgain = () => void this.#ask(questionId, question, { type: 'run.finished' });
    if (this.#isAnswered(event)) return;
    this.#screen.line(`\n${printable(answer) || '(no answer yet)'}\n`);
    if (recommendation !== null) this.#screen.line(`  Finishing is recommended: ${reasonOf(recommendation)}.`);
  }

  /** In a resumed run, earlier questions were answered by the process before. */
  #isAnswered({ seq }: JournalEntry): boolean {
    return (this.#run.entries.findLast(continues)?.seq ?? 0) > seq;
  }

  /** Sends the reply to a question, or `fallback` if the prompt fails. */
  async #ask(
    questionId: string,
    question: (signal: AbortSignal) => Promise<UserReply | null>,
    fallback: UserReply,
  ): Promise<void> {
    const { signal } = this.#waiting;
    const reply = await question(signal).catch(() => fallback);
    if (reply !== null && !signal.aborted) this.#run.send({ ...reply, questionId } as ChainEvent);
  }

  #askApproval(): void {
    const pending = pendingApprovals(this.#run.entries).filter(({ questionId }) => !this.#answered.has(questionId));
    for (const { questionId, capability } of pending.filter(({ isClientTool }) => isClientTool)) {
      this.#answered.add(questionId);
      this.#screen.line(
        `  Waiting for the client of this run to run its tool "${oneLine(capability)}". Ctrl-C ends the run with the answer so far.`,
      );
    }
    const asked = pending.find(({ isClientTool }) => !isClientTool);
    if (this.#isApproving || asked === undefined) return;
    const { questionId, digest } = asked;
    const { signal } = this.#waiting;
    this.#isApproving = true;
    const reply = this.#answerer.approval(asked, signal).catch(() => NOBODY_ASKED);
    void reply.then((given) => {
      this.#isApproving = false;
      if (signal.aborted) return this.#askApproval();
      this.#answered.add(questionId);
      if (given !== null) this.#run.send({ type: 'approval.given', questionId, digest, ...given });
      this.#askApproval();
    });
  }
}
