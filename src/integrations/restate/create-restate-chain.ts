import type { WorkflowContext, WorkflowOptions } from '@restatedev/restate-sdk';
import { type ChainEvent, type ClientEvent, clientEventSchema } from '../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Limits } from '../../../machines/contracts/limits.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { phaseDeadlineMs } from '../../../machines/policies/usage.ts';
import { isResult, readEntry } from '../../chain/journal/stored-entries.ts';
import { type ChainParts, provideChain } from '../../chain/runtime/actors.ts';
import { type PostChainOptions, resolveOptions } from '../../chain/runtime/options.ts';
import { type ChainActorRef, connectRun, RUN_DESCRIPTION } from '../../chain/runtime/run.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import type { DurableEntry } from '../../durable/entries.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { createPromptWriter } from '../../llm/recorded-prompts.ts';
import { foldStatus, initialStatus, type WorkflowStatus } from './chain-status.ts';
import type { Cluster } from './cluster.ts';
import { type ExecutorOptions, RestateExecutor } from './restate-executor.ts';
import { partsFor, type RestateRunOptions, type RestateStart, restateStart } from './run-request.ts';
import {
  journaledWorkflow,
  journalKeeper,
  recordStart,
  rejectReplaced,
  restateCluster,
  WORKFLOW_OPTIONS,
} from './workflow-handlers.ts';

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
  rejectReplaced(options, REPLACED);
  requireKnownOptions('createRestateChain', restate, `name ${WORKFLOW_OPTIONS}`);
  const { name = 'postchain', ...workflowOptions } = restate;
  const parts = resolveOptions(options);

  const run = async (ctx: WorkflowContext, request: RestateRunOptions): Promise<FinalAnswer> => {
    const started = await recordStart(ctx, () => restateStart(ctx.key, request, parts));
    const keep = journalKeeper(ctx);
    let status = initialStatus(ctx.key);
    return runOnCluster(started, {
      parts,
      cluster: restateCluster(ctx),
      keep(entries) {
        status = entries.reduce(foldStatus, status);
        keep(entries, status);
      },
      signal: ctx.request().attemptCompletedSignal,
    });
  };

  return journaledWorkflow<RestateRunOptions, FinalAnswer, ClientEvent, WorkflowStatus, JournalEntry>({
    name,
    run,
    eventSchema: clientEventSchema,
    codec: CHAIN_CALLS.codec,
    options: { ...workflowTimeouts(parts.limits), ...workflowOptions },
  });
}

const REPLACED = {
  journals: 'Restate keeps the journal',
  newId: "the workflow's key is the run's id",
  maxConcurrentRuns: 'Restate decides how many runs a process gets',
  parkAfterMs: 'Restate suspends runs that wait',
} as const;

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

interface ClusterRunOptions {
  readonly parts: ChainParts;
  readonly cluster: Cluster;
  /** Stores new entries: at least one, in order. */
  readonly keep: (entries: readonly JournalEntry[]) => void;
  /** Aborts when this process no longer executes the run: calls in flight are aborted. */
  readonly signal: AbortSignal;
}

/** Executes a run on a cluster and returns its answer. */
export async function runOnCluster(
  started: RestateStart,
  { cluster, keep, signal, ...options }: ClusterRunOptions,
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
  const executor = new RestateExecutor(started.start, { ...described, ...CHAIN_CALLS, cluster, clock, onEntry });
  const note = (given: Json): void => executor.note(given);
  for (const file of started.files) note({ type: 'attachment', ...file });
  executor.system.create();
  const ref = executor.system.root as ChainActorRef;
  const scope = { clock, partial: () => {}, hasReaders: () => false, prompts };
  const feed = {
    shown: entries,
    get answer() {
      return entries.findLast((entry) => entry.type === 'answer')?.answer ?? null;
    },
  };
  const finalAnswer = connectRun(ref, { feed, scope, note });
  await executor.run(signal, (added) => keep(entries.slice(-added.length)));
  return finalAnswer();
}

const INTERRUPTED = { type: 'run.interrupted', reason: 'the host canceled the run' } satisfies ChainEvent;
const typeOf = (stored: Json): unknown => (stored as { readonly type?: Json }).type;

/** The charts handle all events themselves. Progress and text deltas are not kept: the reply contains the full text. */
export const CHAIN_CALLS: Pick<ExecutorOptions, 'codec' | 'receivedBy' | 'interruption' | 'oneOutcome'> = {
  codec: createCodec(),
  receivedBy: (_system, event) => ({ actor: '', event }),
  interruption: { type: 'delivery', actor: '', event: INTERRUPTED },
  oneOutcome: {
    isKept: (report) =>
      report.type === 'note'
        ? typeOf(report.note) !== 'text-delta'
        : report.type === 'activity-event' && typeOf(report.event) !== 'reply.progressed',
    isResult: (report) => report.type === 'activity-event' && isResult(report.event),
  },
};
