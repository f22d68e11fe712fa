import { TerminalError, type WorkflowContext, type WorkflowOptions } from '@restatedev/restate-sdk';
import type { AnyMachineSnapshot, AnyStateMachine, EventFromLogic, InputFrom, OutputFrom } from 'xstate';
import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ApprovalGiven } from '../../durable/approval.ts';
import { requireDurable, requireMachine } from '../../durable/checks.ts';
import { systemClock } from '../../durable/clock.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import type { DurableMachineOptions } from '../../durable/durable-machine.ts';
import type { DurableEntry, StartEntry } from '../../durable/entries.ts';
import { machineDigest } from '../../durable/machine-digest.ts';
import { versionFor } from '../../durable/machine-versions.ts';
import { type Pending, pendingOf, receivedBy } from '../../durable/pending.ts';
import { startEntry } from '../../durable/replay.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { type ExecutorOptions, RestateExecutor } from './restate-executor.ts';
import {
  journaledWorkflow,
  journalKeeper,
  recordStart,
  rejectReplaced,
  restateCluster,
  WORKFLOW_OPTIONS,
} from './workflow-handlers.ts';

/** Options of a machine on Restate, and Restate's own. */
export interface RestateActorOptions
  extends WorkflowOptions,
    Pick<DurableMachineOptions, 'codecs' | 'versions' | 'describeCall' | 'describeEnd'> {
  /** The name of the workflow; by default the machine's id. */
  readonly name?: string;
}

export interface RestateActorStatus {
  readonly machine: StartEntry['machine'];
  readonly status: 'running' | 'done' | 'error' | 'stopped';
  /** The active states. */
  readonly value: unknown;
  readonly pending: Pending;
  readonly output: Json;
  readonly error: Json;
  /** The number of journal entries. */
  readonly entries: number;
}

/**
 * Returns a state machine as a Restate workflow, for `serve` of the Restate SDK. The workflow's key is the actor's id. `run` takes the
 * machine's input and returns its output; `send`, `status` and `journal` may be called at any time. Throws `not_durable` with the reasons if
 * the machine cannot be durable, and `invalid_option` for an option that has no effect on Restate.
 *
 * @example
 * const services = [createRestateActor(orderMachine)];
 */
export function createRestateActor<Machine extends AnyStateMachine>(
  machine: Machine,
  options: RestateActorOptions = {},
) {
  requireMachine(machine);
  rejectReplaced(options, REPLACED);
  const known = `name codecs versions describeCall describeEnd ${WORKFLOW_OPTIONS}`;
  requireKnownOptions('createRestateActor', options, known);
  const { name = machine.id, codecs, versions = {}, ...others } = options;
  const { describeCall = () => null, describeEnd = () => null, ...workflowOptions } = others;
  if (!/^[a-zA-Z_][\w.-]*$/u.test(name))
    throw new PostChainError(
      'invalid_option',
      `name: expected letters, digits, "_", "." and "-"; received "${name}". Set the machine's "id" or the option "name".`,
    );
  const codec = createCodec(codecs);
  for (const one of [machine, ...Object.values(versions)]) requireDurable(one, codec);

  const run = async (ctx: WorkflowContext, input: InputFrom<Machine>): Promise<OutputFrom<Machine>> => {
    const start = await recordStart(ctx, () =>
      startEntry(machine, { actorId: ctx.key, input: codec.encode(input, 'input'), startedAtMs: systemClock.now() }),
    );
    return runActorOnCluster(machine, start, {
      versions,
      codec,
      describeCall,
      describeEnd,
      clock: systemClock,
      logger: (...args) => ctx.console.log(...args),
      cluster: restateCluster(ctx),
      keep: journalKeeper(ctx),
      signal: ctx.request().attemptCompletedSignal,
    }) as Promise<OutputFrom<Machine>>;
  };

  return journaledWorkflow<
    InputFrom<Machine>,
    OutputFrom<Machine>,
    EventFromLogic<Machine> | ApprovalGiven,
    RestateActorStatus,
    DurableEntry
  >({ name, run, eventSchema, codec, options: workflowOptions });
}

const REPLACED = {
  journals: 'Restate keeps the journal',
  timeWithoutProcess: 'delays always count the time without a process',
  parkAfterMs: 'Restate suspends actors that wait',
  describeWait: 'the status shows what an actor waits for',
  clock: 'Restate keeps the time',
  logger: "the action log prints with Restate's ctx.console, which is silent in a replay",
};

const MAX_EVENT_CHARS = 100_000;
const eventSchema = z
  .looseObject({
    type: z.string().check(z.regex(/^(?!xstate\.)/u, 'expected a type that does not begin with "xstate."')),
  })
  .check(
    z.refine(
      (event) => JSON.stringify(event).length <= MAX_EVENT_CHARS,
      `expected at most ${MAX_EVENT_CHARS} characters as JSON`,
    ),
  );

interface ClusterActorOptions extends Omit<ExecutorOptions, 'machine' | 'onEntry' | 'receivedBy' | 'interruption'> {
  readonly versions: Readonly<Record<string, AnyStateMachine>>;
  /** Stores new entries: at least one, in order. */
  readonly keep: (entries: readonly DurableEntry[], status: RestateActorStatus) => void;
  /** Aborts when this process no longer executes the actor: calls in flight are aborted. */
  readonly signal: AbortSignal;
}

/** Runs an actor on a cluster and returns its stored output. Throws a terminal error if the machine fails or the cluster cancels it. */
export async function runActorOnCluster(
  current: AnyStateMachine,
  start: StartEntry,
  { versions, keep, signal, ...options }: ClusterActorOptions,
): Promise<Json> {
  const machine = requireSameMachine(start, versionFor(start.machine, current, versions));
  let end: Extract<DurableEntry, { type: 'end' }> | undefined;
  const executor = new RestateExecutor(start, {
    ...options,
    machine,
    receivedBy,
    interruption: { type: 'stopped' },
  });
  const startMs = Date.parse(start.startedAt);
  await executor.run(signal, (entries) => {
    end = entries.find((entry) => entry.type === 'end') ?? end;
    const { system } = executor;
    const { status, value } = system.root.getSnapshot() as AnyMachineSnapshot;
    keep(entries, {
      machine: start.machine,
      status: status === 'active' || system.openEffects.size > 0 ? 'running' : status,
      value,
      pending: pendingOf(system, (ms) => startMs + ms),
      output: end?.output ?? null,
      error: end?.error ?? null,
      entries: (entries.at(-1)?.seq ?? -1) + 1,
    });
  });
  const { status, output, error } = executor.system.root.getSnapshot() as AnyMachineSnapshot;
  if (status === 'done') return output === undefined ? null : options.codec.encode(output, 'output', 'derived');
  if (status === 'error') throw failure(error);
  throw new TerminalError(`cancelled: ${start.actorId} was stopped`, { errorCode: 409 });
}

/** Restate retries this error until the right process is back. */
function requireSameMachine({ actorId, machine: recorded }: StartEntry, machine: AnyStateMachine): AnyStateMachine {
  const digest = machineDigest(machine);
  if (recorded.digest === digest && recorded.version === (machine.version ?? null)) return machine;
  const nameOf = (one: StartEntry['machine']): string => `${one.id} ${one.version ?? '(no version)'} ${one.digest}`;
  const received = nameOf({ id: machine.id, version: machine.version ?? null, digest });
  throw new PostChainError(
    'invalid_journal',
    `${actorId} was started with the machine ${nameOf(recorded)}; this process has ${received}. Add the recorded version to "versions", or register this process at another address.`,
  );
}

/** The machine's error, with its code if it has one: Restate does not retry it. */
function failure(error: unknown): TerminalError {
  const { code, message = error } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return new TerminalError(typeof code === 'string' ? `${code}: ${message}` : String(message));
}
