import type { ActorRefFrom } from 'xstate';
import type { actionMachine } from '../../../machines/action/action.machine.ts';
import { brokenOffFacts } from '../../../machines/action/emitted-events.ts';
import { inFlight } from '../../../machines/chain/in-flight.ts';
import type { ActionInput, ActionState, LoopProblem } from '../../../machines/contracts/action-state.ts';
import type { CapabilityResult, MemoryEntry, StopReason } from '../../../machines/contracts/capability.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Usage } from '../../../machines/contracts/usage.ts';
import { breakOff } from '../../../machines/policies/capability-loop.ts';
import { readContinuation } from '../../../machines/policies/continuation.ts';

import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { actionInput } from '../../../machines/policies/phase-input.ts';
import { enterPhase, initialState } from '../../../machines/policies/progress.ts';
import { addUsage, NO_USAGE } from '../../../machines/policies/usage.ts';
import { onAbort } from '../../internal/async.ts';
import { createJournal } from '../recording/journal.ts';
import { type ChainParts, createChainActors } from './actors.ts';
import type { NextStep } from './decider.ts';
import { createDurableActor, liveExecutor } from './durable-actor.ts';
import { type PostChainOptions, resolveOptions } from './options.ts';
import { createEventStream, type RunEvent } from './run-events.ts';
import { inputOf, type RunOptions, requireKnown } from './run-options.ts';

export interface LoopOptions extends Pick<RunOptions, 'request' | 'history' | 'messages' | 'sessionId' | 'signal'> {
  /** The first step, where it is known; else the model is asked for it, once. */
  readonly call?: NextStep;
}

const KNOWN: ReadonlySet<string> = new Set<keyof LoopOptions>([
  'request',
  'history',
  'messages',
  'sessionId',
  'signal',
  'call',
]);

/** What a loop came to [R3, R5]. */
export interface LoopOutcome {
  /** The last result, with the decider's own output in its place where it gave one; null where nothing ran. */
  readonly result: CapabilityResult | null;
  readonly results: readonly CapabilityResult[];
  /** What the model answered before anything ran; empty where the first step was given. */
  readonly response: string;
  readonly stopReason: StopReason;
  /** What was wrong with the next step, with a code, or with the decider; null where nothing was. */
  readonly problem: LoopProblem | null;
  /** What a session would remember of it [R4]. */
  readonly memory: readonly MemoryEntry[];
  readonly usage: Usage;
  /** Why there is no usable answer of the model, or what broke; null where all is well. */
  readonly failure: Failure | null;
}

/** A loop under way. */
export interface LoopRun {
  readonly outcome: Promise<LoopOutcome>;
  /** Everything that happens, from the beginning, however late one starts to read. */
  readonly events: AsyncIterable<RunEvent>;
  readonly journal: readonly JournalEntry[];
  /** Ends the loop at once: the running capability is aborted. */
  readonly cancel: () => void;
  readonly actor: ActorRefFrom<typeof actionMachine>;
}

/**
 * The capability loop without the chain around it: classify once → resolve → validate → execute → go on? [R1, R2]. It takes the
 * options of `createPostChain`; of the limits those of capabilities and model calls. `run` throws `invalid_request` or
 * `invalid_option` before anything starts, and `outcome` never rejects.
 */
export function createCapabilityLoop(options: PostChainOptions = {}) {
  const parts = resolveOptions(options);
  return {
    run(asked: LoopOptions): LoopRun {
      requireKnown(asked ?? {}, KNOWN, 'a loop');
      const { call, ...run } = asked ?? {};
      const begun = initialState(inputOf(run, parts));
      return startLoop(
        { ...actionInput({ ...begun, ...enterPhase(begun) }), call: firstCall(call) },
        parts,
        run.signal,
      );
    },
  };
}

/** The first step, read as a decider's word is. Throws `invalid_option`. */
function firstCall(given: unknown): ActionInput['call'] {
  if (given === undefined || given === null) return null;
  const { call, problem } = readContinuation({ done: false, next: given });
  if (call === null)
    throw new PostChainError('invalid_option', `call: ${problem?.message}; wanted { capability, arguments }.`);
  return call;
}

const STOPPED = 'the loop was stopped';

function startLoop(input: ActionInput, parts: ChainParts, signal: AbortSignal | undefined): LoopRun {
  const { clock } = parts;
  const beganAtMs = clock.now();
  const journal = createJournal(() => clock.now() - beganAtMs);
  const stream = createEventStream(journal.entries);
  journal.listen(stream.push);
  const { actor, ...stage } = createDurableActor({
    provide: (seams) => createChainActors({ ...parts, ...seams }).action,
    input,
    journal,
    partial: stream.push,
  });
  let forget = (): void => {};
  /** What the calls under way had used when they were broken off. */
  let broken = NO_USAGE;
  const outcome = new Promise<LoopOutcome>((resolve) => {
    let state: ActionState = actor.getSnapshot().context;
    const end = (changes: Partial<LoopOutcome> = {}): void => {
      forget();
      journal.close();
      stream.end();
      resolve({ ...outcomeOf(state, broken), ...changes });
    };
    const breakOffNow = (): void => {
      for (const fact of brokenOffFacts(state, STOPPED)) journal.append(fact);
      state = breakOff(state, STOPPED);
    };
    actor.subscribe({
      next: ({ context }) => {
        state = context;
      },
      error: (error) => end({ failure: unexpectedFailure(error) }),
      complete: () => {
        if (actor.getSnapshot().output === undefined) breakOffNow();
        end();
      },
    });
  });
  const cancel = (): void => {
    broken = inFlight(actor.getSnapshot()).usage;
    stage.deliver({ type: 'run-stopped' });
  };
  stage.attach(liveExecutor(clock, stage.deliver));
  stage.start();
  if (signal?.aborted) cancel();
  else if (signal !== undefined) forget = onAbort(signal, cancel);
  return { outcome, events: stream, journal: journal.entries, cancel, actor };
}

function outcomeOf(
  { results, reply, stopReason, problem, memory, execution, failure }: ActionState,
  broken: Usage,
): LoopOutcome {
  const usage = addUsage(execution.usage, broken);
  return {
    result: results.at(-1) ?? null,
    results,
    response: reply?.response ?? '',
    stopReason,
    problem,
    memory,
    usage,
    failure,
  };
}
