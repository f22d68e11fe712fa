/**
 * Node 20 has no Promise.withResolvers, which the SDK needs as soon as it serves a request. It stands with what serves, and not in
 * index.ts: a bundler that knows this package to have no side effects leaves that out.
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
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import type { Limits } from '../../../machines/contracts/limits.ts';

import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import { type PostChainOptions, resolveOptions } from '../../engine/runtime/options.ts';
import { openRun } from '../../engine/runtime/run.ts';
import { onAbort } from '../../internal/async.ts';
import { createDurableTime } from './durable-time.ts';
import type { Host, Outcome } from './host.ts';
import { type JournalPage, type JournalRequest, journalKeeper, readPage, readStatus } from './journal-pages.ts';
import { createRestateExecutor } from './restate-executor.ts';
import { partsFor, type RestateRunOptions, startOf } from './run-request.ts';
import type { RunStatus } from './run-status.ts';
import { promiseName, type Sent, type SentEvent, sendEvent } from './sent-events.ts';
import { terminal } from './terminal.ts';

/** How Restate serves the workflow: its own options, and the name that callers know it by; "postchain" by default. */
export interface RestateOptions extends WorkflowOptions {
  readonly name?: string;
}

/** The options of `createPostChain`, but for what a cluster has its own of: the run's id is its key, and its journal is kept there. */
export type RestateChainOptions = Omit<PostChainOptions, 'journals' | 'newId'>;

export type RestateChain = ReturnType<typeof createRestateChain>;

/**
 * The chain of `createPostChain` as a workflow of Restate, for `serve` of its SDK. The key of the workflow is the id of the run. `run`
 * gives the answer; `send`, `status` and `journal` may be called at any time. Throws `invalid_option` for options that make no sense.
 */
export function createRestateChain(options: RestateChainOptions = {}, durable: RestateOptions = {}) {
  refuseForeign(options);
  const { name = 'postchain', ...serving } = durable;
  const parts = resolveOptions(options);

  const run = async (ctx: WorkflowContext, asked: RestateRunOptions): Promise<FinalAnswer> => {
    const begun = await ctx.run('run-start', () => {
      try {
        return startOf(ctx.key, asked, parts);
      } catch (error) {
        throw terminal(error);
      }
    });
    return play(begun.start, {
      parts: partsFor(begun, parts),
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
      status: handlers.workflow.shared((ctx: WorkflowSharedContext): Promise<RunStatus | null> => readStatus(ctx)),
      journal: handlers.workflow.shared(
        (ctx: WorkflowSharedContext, asked: JournalRequest): Promise<JournalPage> => readPage(ctx, asked),
      ),
    },
    options: { enableLazyState: true, ...timeouts(parts.limits), ...serving },
  });
}

/** Silently left out, they would seem to work. */
function refuseForeign({ journals, newId }: PostChainOptions): void {
  if (journals === undefined && newId === undefined) return;
  throw new PostChainError(
    'invalid_option',
    `${journals === undefined ? 'newId' : 'journals'}: a chain on Restate has none; its runs are known by their workflow's key, and keep their journals there.`,
  );
}

/**
 * A call under way must hear of its deadline, so Restate keeps in touch for as long as one may take; and it breaks none off before the
 * run's own time is up.
 */
function timeouts({ phaseMs, synthesisMs, capabilityMs, sessionMs, totalMs }: Limits): WorkflowOptions {
  const longestMs = Math.max(phaseMs, synthesisMs, capabilityMs, sessionMs);
  return { inactivityTimeout: Math.ceil(longestMs + 10_000), abortTimeout: Math.ceil(totalMs + 10_000) };
}

interface PlayOptions {
  readonly parts: ChainParts;
  readonly host: Host;
  /** Keeps the entries that are new since it was last given some: at least one, in order. */
  readonly keep: (entries: readonly JournalEntry[]) => void;
  /** Aborts where this process is no longer the one that plays the run: calls under way are broken off. */
  readonly signal?: AbortSignal;
}

/**
 * Plays a run on a host. Everything that the charts hear comes as an outcome of the host, one at a time: so the run that is played
 * again, by this process or another one, goes the same way as far as there are outcomes, and on from there.
 */
export async function play(start: RunStart, { parts, host, keep, signal }: PlayOptions): Promise<FinalAnswer> {
  const time = createDurableTime(start.startedAtMs);
  const { run, durableActor: stage, journal } = openRun(start, { parts, atMs: () => time.nowMs - start.startedAtMs });
  const world = createRestateExecutor({ host, time, clock: parts.clock, note: journal.append });
  const forget = signal === undefined ? () => {} : onAbort(signal, () => stage.deliver({ type: 'run-stopped' }));
  let kept = 0;
  const keepNew = (): void => {
    if (journal.entries.length > kept) keep(journal.entries.slice(kept));
    kept = journal.entries.length;
  };

  stage.attach(world);
  stage.start();
  while (run.actor.getSnapshot().status === 'active') {
    const pending = world.pending();
    keepNew();
    const outcome = await host.first(pending);
    for (const stimulus of world.take(outcome)) stage.deliver(stimulus);
  }
  keepNew();
  forget();
  return run.answer;
}

/**
 * A workflow of Restate as the host of a run. The order of what comes is the order of Restate's own journal: so nothing here is awaited
 * but by the SDK's combinators, never by `then` or `Promise.race`.
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
