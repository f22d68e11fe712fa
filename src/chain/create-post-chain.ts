import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChainEvent } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ModelStatus } from '../../machines/contracts/model-status.ts';
import { workingForms } from '../../machines/policies/model-status.ts';
import { takeTurnOf } from '../durable/clock.ts';
import { closed, MAX_REOPENS } from '../durable/durable-actor.ts';
import type { DueActor } from '../durable/durable-machine.ts';
import type { JournalStore, OpenJournalOptions } from '../durable/journals/journal-store.ts';
import { requireKnownOptions } from '../internal/require-known.ts';
import { type ForkOptions, forkRun } from './journal/fork.ts';
import { type AdvanceRunOptions, advanceRun, requireResumable, resumeRun } from './journal/resume.ts';
import { parseRun, readRun } from './journal/run-journal.ts';
import { type PostChainOptions, resolveOptions } from './runtime/options.ts';
import { createChainHost, enqueueRun, type Run } from './runtime/run.ts';
import { type AnswerSchema, type AnswerValue, createChainInput, type RunOptions } from './runtime/run-options.ts';
import { createRunSlots, startInSlot } from './runtime/run-slots.ts';

/** Creates, resumes and forks runs. */
export interface PostChain {
  /** The options that it was created with. */
  readonly options: PostChainOptions;
  /**
   * Starts a run. Before anything starts, it throws `invalid_request`, `unsupported_file`, `invalid_schema` or `invalid_option`, or rethrows
   * the error of `journals.create`. After that, it never throws.
   */
  run<Schema extends AnswerSchema = AnswerSchema>(options: RunOptions<Schema>): Run<AnswerValue<Schema>>;
  /**
   * Continues a run from `journals` that is parked or whose process died; a run that has ended is returned with its answer. Rejects with
   * `unknown_journal` if the run is missing, `journal_held` if another process executes it, `invalid_journal` if it is damaged or was
   * recorded on another version of the chart, and `invalid_option` if it has not ended and this chain lacks one of its capabilities.
   * With `maxConcurrentRuns`, it waits in the queue before it opens the journal; so does `fork`.
   * `force` takes over a run whose process may still be alive, for example on another host.
   */
  resume(runId: string, options?: Pick<RunOptions, 'signal'> & OpenJournalOptions): Promise<Run>;
  /**
   * Sends an event to a run, which is resumed first unless it is in the memory of this chain. Resolves to the run when the event is
   * stored and processed. Rejects as `resume` does, and with `invalid_option` for an unknown event.
   */
  send(runId: string, event: ChainEvent): Promise<Run>;
  /** Runs that no process executes, and that were interrupted or have a due delay. For `createWorker`. */
  due(): Promise<readonly DueActor[]>;
  /** Continues a run until it has ended, only waits, or the signal aborts. For `createWorker`. */
  advance(runId: string, options?: AdvanceRunOptions): Promise<void>;
  /** For `createWorker`: no worker continues the run until it is resumed or released. */
  quarantine(runId: string, reason: string): Promise<void>;
  /** Lets workers continue a run again that they have quarantined. Rejects with `not_repairable` if they have not. */
  release(runId: string): Promise<void>;
  /**
   * Starts a new run that repeats a recorded one (a run id from `journals`, or a list of entries) up to an entry and
   * continues from there with a change. Calls that match the recording get the recorded results; all other calls run live.
   * Rejects with `invalid_option`, `unknown_journal` or `invalid_journal`.
   */
  fork(run: string | readonly JournalEntry[], options: ForkOptions): Promise<Run>;
  /** Closes the runs in memory, so that any process with `journals` can continue them. Their `events` end, and their `answer` never settles. */
  close(): Promise<void>;
}

/**
 * Creates a reasoning chain from a model, documents and capabilities. Throws `invalid_option` if an option is invalid.
 *
 * @example
 * const chain = createPostChain({ model, documents });
 * const { answerText, sources } = await chain.run({ request: 'What does Yield decide?' }).answer;
 */
export function createPostChain(options: PostChainOptions = {}): PostChain {
  const parts = resolveOptions(options);
  const chain = createChainHost(
    parts,
    options.journals,
    (entries) => requireResumable(parseRun(entries), parts),
    options.parkAfterMs,
  );
  const slots = createRunSlots(options.maxConcurrentRuns ?? Number.POSITIVE_INFINITY);
  let models: readonly ModelStatus[] | null = null;
  const kept = (): JournalStore => options.journals ?? noJournals();
  /** A run that has just started is in memory only after its turn. */
  const startedRuns = () => new Promise<void>((resolve) => takeTurnOf(parts.clock)(resolve));
  const resume: PostChain['resume'] = async (runId, how = {}) => {
    requireKnownOptions('resume', how, 'signal force fromKeyframe');
    const { signal, ...open } = how;
    kept();
    if (!chain.runs.has(runId)) await startedRuns();
    const known = chain.runs.get(runId)?.run;
    return known ?? startInSlot(slots, signal, () => resumeRun(chain, runId, { ...open, signal }));
  };
  return {
    options,
    run<Schema extends AnswerSchema>(run: RunOptions<Schema>) {
      const { input, ...of } = createChainInput(run, parts);
      const withForms = models === null ? input : { ...input, models };
      const started = enqueueRun(chain, withForms, { signal: run.signal, ...of, slots, host: run.host ?? null });
      const keepForms = (): void => {
        models = workingForms(started.ref.getSnapshot().context.models) ?? models;
      };
      started.answer.then(keepForms, () => {});
      return started as Run<AnswerValue<Schema>>;
    },
    resume,
    async send(runId, event) {
      for (let tries = 0; tries < MAX_REOPENS; tries += 1) {
        const run = chain.runs.get(runId)?.run ?? (await resume(runId));
        const isReceived = await chain.runs.get(runId)?.deliver(event);
        if (isReceived !== false) return run;
      }
      throw closed(runId);
    },
    async due() {
      kept();
      return chain.machine.due();
    },
    async advance(runId, how = {}) {
      requireKnownOptions('advance', how, 'signal onOpen');
      await advanceRun(chain, runId, how);
    },
    async quarantine(runId, reason) {
      await chain.machine.quarantine(runId, reason);
    },
    async release(runId) {
      kept();
      await chain.machine.release(runId);
    },
    async fork(run, how) {
      requireKnownOptions('fork', how, 'at set turns host signal');
      return startInSlot(slots, how.signal, async () => {
        const entries = Array.isArray(run) ? run : await readRun(kept().read(run as string));
        return forkRun(chain, entries, how);
      });
    },
    async close() {
      await startedRuns();
      await Promise.all(Array.from(chain.runs.values(), (run) => run.close()));
    },
  };
}

function noJournals(): never {
  throw new PostChainError(
    'invalid_option',
    'journals: expected a journal store, for example fileJournals("runs"); received none.',
  );
}
