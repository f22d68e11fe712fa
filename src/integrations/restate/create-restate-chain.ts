/**
 * Polyfill for Node 20: the SDK uses Promise.withResolvers when it serves a request. It is imported here and not in index.ts, because
 * bundlers drop side effects of index.ts.
 *
 * @internal
 */
import 'core-js/modules/es.promise.with-resolvers.js';
import {
  CancelledError,
  handlers,
  RestatePromise,
  type WorkflowContext,
  type WorkflowOptions,
  type WorkflowSharedContext,
  workflow,
} from '@restatedev/restate-sdk';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Limits } from '../../../machines/contracts/limits.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { phaseDeadlineMs } from '../../../machines/policies/usage.ts';
import { createPromptWriter } from '../../chain/journal/recorded-prompts.ts';
import { readEntry } from '../../chain/journal/stored-entries.ts';
import { type ChainParts, provideChain } from '../../chain/runtime/actors.ts';
import { type PostChainOptions, resolveOptions } from '../../chain/runtime/options.ts';
import { type ChainActorRef, connectRun, RUN_DESCRIPTION } from '../../chain/runtime/run.ts';
import type { DurableEntry } from '../../durable/entries.ts';
import { onAbort } from '../../internal/async.ts';
import { createRestateExecutor, type Host, type Outcome } from './restate-executor.ts';
import { partsFor, type RestateRunOptions, type RestateStart, restateStart } from './run-request.ts';
import {
  type JournalPage,
  type JournalRequest,
  journalKeeper,
  promiseName,
  readPage,
  readStatus,
  type Sent,
  type SentEvent,
  sendEvent,
  terminalError,
  type WorkflowStatus,
} from './workflow-handlers.ts';

/** Options of the Restate workflow. */
export interface RestateOptions extends WorkflowOptions {
  /** The name of the workflow; "postchain" by default. */
  readonly name?: string;
}

/** The options of `createPostChain`, except those that Restate replaces: the run's id is the workflow's key, and Restate keeps its journal. */
export type RestateChainOptions = Omit<PostChainOptions, 'journals' | 'newId' | 'maxConcurrentRuns' | 'parkAfterMs'>;

export type RestateChain = ReturnType<typeof createRestateChain>;

/**
 * Returns a chain as a Restate workflow, for `serve` of the Restate SDK. The workflow's key is the run's id. `run` returns the answer;
 * `send`, `status` and `journal` may be called at any time. Throws `invalid_option` for invalid options.
 */
export function createRestateChain(options: RestateChainOptions = {}, restate: RestateOptions = {}) {
  rejectReplacedOptions(options);
  const { name = 'postchain', ...workflowOptions } = restate;
  const parts = resolveOptions(options);

  const run = async (ctx: WorkflowContext, request: RestateRunOptions): Promise<FinalAnswer> => {
    const started = await ctx.run('run-start', () => {
      try {
        return restateStart(ctx.key, request, parts);
      } catch (error) {
        throw terminalError(error);
      }
    });
    return runOnHost(started, {
      parts,
      host: restateHost(ctx),
      keep: journalKeeper(ctx),
      signal: ctx.request().attemptCompletedSignal,
    });
  };

  return workflow({
    name,
    handlers: {
      run: handlers.workflow.workflow(run),
      send: handlers.workflow.shared(
        (ctx: WorkflowSharedContext, sent: SentEvent): Promise<Sent> => sendEvent(ctx, sent),
      ),
      status: handlers.workflow.shared((ctx: WorkflowSharedContext): Promise<WorkflowStatus | null> => readStatus(ctx)),
      journal: handlers.workflow.shared(
        (ctx: WorkflowSharedContext, request: JournalRequest): Promise<JournalPage> => readPage(ctx, request),
      ),
    },
    options: { enableLazyState: true, ...workflowTimeouts(parts.limits), ...workflowOptions },
  });
}

const REPLACED = {
  journals: 'Restate keeps the journal',
  newId: "the workflow's key is the run's id",
  maxConcurrentRuns: 'Restate decides how many runs a process gets',
  parkAfterMs: 'Restate suspends runs that wait',
} as const;

/** Rejects options that would have no effect. */
function rejectReplacedOptions(options: PostChainOptions): void {
  for (const [name, why] of Object.entries(REPLACED) as [keyof typeof REPLACED, string][])
    if (options[name] !== undefined)
      throw new PostChainError('invalid_option', `"${name}" cannot be used with Restate; ${why}`);
}

/**
 * Restate must not suspend the workflow while a call may still reach its own deadline, nor abort it before the run's time limit. Both values
 * are in milliseconds.
 */
function workflowTimeouts(limits: Limits): WorkflowOptions {
  const { synthesisMs, capabilityMs, sessionMs, totalMs } = limits;
  const phasesMs = PHASES.map((phase) => phaseDeadlineMs(limits, phase));
  const longestMs = Math.max(...phasesMs, synthesisMs, capabilityMs, sessionMs);
  return { inactivityTimeout: Math.ceil(longestMs + 10_000), abortTimeout: Math.ceil(totalMs + 10_000) };
}

interface HostedRunOptions {
  readonly parts: ChainParts;
  readonly host: Host;
  /** Stores new entries: at least one, in order. */
  readonly keep: (entries: readonly JournalEntry[]) => void;
  /** Aborts when this process no longer executes the run: calls in flight are aborted. */
  readonly signal: AbortSignal;
}

/**
 * Executes a run on a host and returns its answer. Every external event comes from an outcome of the host, one at a time. So a process that
 * takes over repeats the same steps for the recorded outcomes and continues from there.
 */
export async function runOnHost(
  started: RestateStart,
  { host, keep, signal, ...options }: HostedRunOptions,
): Promise<FinalAnswer> {
  const parts = partsFor(started, options.parts);
  const { clock } = parts;
  const entries: JournalEntry[] = [];
  const prompts = createPromptWriter();
  const onEntry = (stored: DurableEntry): void => {
    const entry = readEntry(stored);
    entries.push(entry);
    prompts.take(entry);
  };
  const described = { machine: provideChain(parts), ...RUN_DESCRIPTION };
  const { system, note, pending, take } = createRestateExecutor(started.start, { ...described, host, clock, onEntry });
  for (const file of started.files) note({ type: 'attachment', ...file });
  system.create();
  const ref = system.root as ChainActorRef;
  const scope = { clock, partial: () => {}, hasReaders: () => false, prompts };
  const finalAnswer = connectRun(ref, { entries, scope, note });
  const stopListening = onAbort(signal, () => system.close());
  let kept = 0;
  const keepNew = (): void => {
    if (entries.length > kept) keep(entries.slice(kept));
    kept = entries.length;
  };

  system.begin();
  while (ref.getSnapshot().status === 'active') {
    const next = pending();
    keepNew();
    take(await host.first(next));
  }
  keepNew();
  stopListening();
  return finalAnswer();
}

/**
 * Returns a Restate workflow as the host of a run. Outcomes must come in the order of Restate's journal, so promises are combined with the
 * SDK's combinators only, never with `then` or `Promise.race`.
 */
function restateHost(ctx: WorkflowContext): Host {
  return {
    step: (name, act) => ctx.run(name, act),
    sleep: (ms) => ctx.sleep(ms).map((): Outcome => ({ type: 'slept' })),
    sent: (number) => ctx.promise<Outcome>(promiseName(number)).get(),
    async first(pending) {
      try {
        return await RestatePromise.race(pending as readonly RestatePromise<Outcome>[]);
      } catch (error) {
        if (error instanceof CancelledError) return { type: 'interrupted' };
        throw error;
      }
    },
  };
}
