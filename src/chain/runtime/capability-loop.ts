import type { ActorRefFrom } from 'xstate';
import * as z from 'zod/mini';
import type { actionMachine } from '../../../machines/action/action.machine.ts';
import { abortedLoopEvents } from '../../../machines/action/emitted-events.ts';
import type { ActionInput, ActionState, LoopProblem } from '../../../machines/contracts/action-state.ts';
import type { CapabilityResult, MemoryEntry, StopReason } from '../../../machines/contracts/capability.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { approvalGivenSchema, type CallApprovalGiven } from '../../../machines/contracts/events.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { AttachedFile } from '../../../machines/contracts/message.ts';
import type { Usage } from '../../../machines/contracts/usage.ts';
import { abortLoop } from '../../../machines/policies/capability-loop.ts';
import { readContinuation } from '../../../machines/policies/continuation.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { actionInput } from '../../../machines/policies/phase-calls.ts';
import { enterPhase, initialState } from '../../../machines/policies/progress.ts';
import { addUsage, usageSoFar } from '../../../machines/policies/usage.ts';
import type { Clock } from '../../durable/clock.ts';
import type { Json } from '../../durable/codec.ts';
import { createDurableMachine, type DurableMachine } from '../../durable/durable-machine.ts';
import { keepAlive, onAbort } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { parseOption } from '../../internal/options.ts';
import { fileIn } from '../../llm/content.ts';
import { createPromptWriter } from '../../llm/recorded-prompts.ts';
import { createRunWriters } from '../journal/run-writers.ts';
import { createChainActors } from './actors.ts';
import type { NextStep } from './decider.ts';
import { describeCall } from './describe-call.ts';
import { createFeed } from './feed.ts';
import { type PostChainOptions, resolveOptions } from './options.ts';
import type { RunEvent } from './run-events.ts';
import { createChainInput, type RunOptions, runOptionsSchema } from './run-options.ts';
import { scopeOf, setScope } from './run-scope.ts';

export interface LoopOptions
  extends Pick<
    RunOptions,
    'request' | 'history' | 'messages' | 'sessionId' | 'instructions' | 'clientTools' | 'signal'
  > {
  /** The first step if it is known: one call, or several that run at the same time. By default, the model is asked for it once. */
  readonly call?: NextStep | readonly NextStep[];
}

const loopOptionsSchema = z.extend(
  z.pick(runOptionsSchema, {
    request: true,
    history: true,
    messages: true,
    sessionId: true,
    instructions: true,
    clientTools: true,
    signal: true,
  }),
  { call: z.optional(z.unknown()) },
);

export interface LoopOutcome {
  /** The last result, with the decider's own output if it gave one; null if no capability ran. */
  readonly result: CapabilityResult | null;
  readonly results: readonly CapabilityResult[];
  /** The model's answer before any capability ran; empty if the first step was given. */
  readonly response: string;
  readonly stopReason: StopReason;
  /** What was wrong with the next step or with the decider, with a code; null if nothing was. */
  readonly problem: LoopProblem | null;
  /** What a session would store of this loop. */
  readonly memory: readonly MemoryEntry[];
  readonly usage: Usage;
  /** Why there is no usable model answer, or what failed; null if nothing failed. */
  readonly failure: Failure | null;
}

/** A loop in progress. */
export interface LoopRun {
  readonly outcome: Promise<LoopOutcome>;
  /** Everything that happens, from the beginning, however late reading starts. */
  readonly events: AsyncIterable<RunEvent>;
  readonly entries: readonly JournalEntry[];
  /** Answers an approval question. Throws `invalid_option` for any other event. */
  readonly send: (event: CallApprovalGiven) => void;
  /** Ends the loop at once and aborts the running capability. */
  readonly cancel: () => void;
  readonly ref: ActorRefFrom<typeof actionMachine>;
}

/**
 * Returns the capability (tool) loop without the chain around it: classify once → resolve → validate → approve → execute → continue?
 * It takes the options of `createPostChain`; the limits for capabilities and model calls apply. `run` throws `invalid_request` or
 * `invalid_option` before anything starts, and `outcome` never rejects.
 */
export function createCapabilityLoop(options: PostChainOptions = {}) {
  const parts = resolveOptions(options);
  const machine = createDurableMachine(createChainActors({ ...parts, scopeOf }).action, {
    journals: createRunWriters(undefined).store,
    clock: parts.clock,
    describeCall,
    logger: () => {},
  });
  return {
    run(given: LoopOptions): LoopRun {
      parseOption(loopOptionsSchema, given ?? {}, 'options');
      const { call, ...run } = given ?? {};
      const { input, files } = createChainInput(run, parts);
      const state = initialState(input);
      return startLoop(
        {
          ...actionInput({ ...state, ...enterPhase(state, 'action') }),
          calls: parseFirstCalls(call),
          hasParent: false,
        },
        { machine, clock: parts.clock, files, signal: run.signal },
      );
    },
  };
}

/** Returns the first step, parsed like a decider's reply. Throws `invalid_option`. */
function parseFirstCalls(given: unknown): ActionInput['calls'] {
  if (given === undefined || given === null) return [];
  const { calls, problem } = readContinuation({ done: false, next: given });
  if (calls.length === 0)
    throw new PostChainError(
      'invalid_option',
      `call: expected { capability, arguments } or a list of them; received ${describeValue(given)} (${problem?.message}).`,
    );
  return calls;
}

const STOPPED = 'the loop was stopped';

interface LoopParts {
  readonly machine: DurableMachine<typeof actionMachine>;
  readonly clock: Clock;
  readonly files: readonly AttachedFile[];
  readonly signal: AbortSignal | undefined;
}

function startLoop(input: ActionInput, { machine, clock, files, signal }: LoopParts): LoopRun {
  const { shown: entries, stream, take } = createFeed();
  const actor = machine.start(crypto.randomUUID(), {
    input,
    notes: files.map((file) => ({ type: 'attachment', ...file })),
    seed: 0,
    isPaused: true,
    onEntry: (stored) => {
      // The first and the last entry say nothing of a loop that is not a run.
      if (stored.type !== 'start' && stored.type !== 'end') take({ ...stored, seq: entries.length });
    },
  });
  const ref = actor.ref as ActorRefFrom<typeof actionMachine>;
  setScope(ref, {
    clock,
    partial: stream.push,
    hasReaders: stream.hasReaders,
    prompts: createPromptWriter(),
    fileOf: (attachment) => fileIn(entries, attachment),
  });
  let forgetSignal = (): void => {};
  const keptAlive = keepAlive();
  let changes: Partial<LoopOutcome> = {};
  let state: ActionState = actor.getSnapshot().context;
  ref.subscribe({
    next: ({ context }) => {
      state = context;
    },
    error: (error) => {
      changes = { failure: unexpectedFailure(error) };
    },
    complete: () => {
      if (actor.getSnapshot().output !== undefined) return;
      for (const event of abortedLoopEvents(state, STOPPED)) actor.note(event as unknown as Json);
      state = abortLoop(state, STOPPED);
    },
  });
  const settled = (): LoopOutcome => {
    forgetSignal();
    keptAlive.end();
    stream.end();
    return { ...outcomeOf(state), ...changes };
  };
  const outcome = actor.output.then(settled, settled);
  const cancel = (): void => void ref.stop();
  if (signal?.aborted) cancel();
  else if (signal !== undefined) forgetSignal = onAbort(signal, cancel);
  keptAlive.begin();
  actor.begin();
  const send = (event: CallApprovalGiven): void => ref.send(parseOption(approvalGivenSchema, event, 'event'));
  return { outcome, events: stream, entries, send, cancel, ref };
}

function outcomeOf(state: ActionState): LoopOutcome {
  const { results, reply, stopReason, problem, memory, execution, usageInFlight, failure } = state;
  return {
    result: results.at(-1) ?? null,
    results,
    response: reply?.response ?? '',
    stopReason,
    problem,
    memory,
    usage: addUsage(execution.usage, usageSoFar(usageInFlight)),
    failure,
  };
}
