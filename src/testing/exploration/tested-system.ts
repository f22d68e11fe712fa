import type { AnyMachineSnapshot, AnyStateMachine, EventFrom, EventObject, InputFrom, SnapshotFrom } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { systemClock } from '../../durable/clock.ts';
import { onAbort, type Timers } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { firstLineOf, grouped } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { exactJson, firstDifference } from './exact-json.ts';
import { type ActorOutcome, type Occurrence, outcomeName, outcomesKey } from './occurrences.ts';

/** What each function of an adapter also receives. */
export interface SystemCall {
  /** Aborts when the function has taken too long, or the test is aborted. */
  readonly signal: AbortSignal;
}

/** A delay of the model that elapses. `ms` is null if the chart names the delay. */
export interface ElapsedDelay {
  readonly name: string;
  readonly ms: number | null;
}

/** An adapter to the real system that a machine models, such as a page in a browser or a service. */
export interface TestedSystem<Machine extends AnyStateMachine = AnyStateMachine, Observation = unknown> {
  /** Brings the system to its start, whatever happened before. Receives the input that the machine starts with. */
  reset(input: InputFrom<Machine>, call: SystemCall): unknown;
  /** Does to the system what an event from outside stands for, such as a click. */
  send(event: EventFrom<Machine>, call: SystemCall): unknown;
  /**
   * Makes what the system uses in place of an actor (a backend, a device) have an outcome; by the actor's name or id, `*` for all others.
   * Until then, it must not have one.
   */
  readonly outcomes?: Readonly<Record<string, (outcome: ActorOutcome, call: SystemCall) => unknown>>;
  /** Makes a delay elapse in the system, for example with a fake clock. */
  elapse?(delay: ElapsedDelay, call: SystemCall): unknown;
  /** Returns what can be observed, as JSON. Called again until it is as expected or the time is over. */
  read(call: SystemCall): Observation | PromiseLike<Observation>;
  /** Returns what `read` must return if the machine is in this snapshot. Default: its state value. */
  expected?(snapshot: SnapshotFrom<Machine>): Observation;
}

/** A tested system and the limits of each call to it. */
export interface SystemOptions<Machine extends AnyStateMachine = AnyStateMachine, Observation = unknown> {
  readonly system: TestedSystem<Machine, Observation>;
  /** How long one function of the adapter may take, and how long `read` may differ after a step. Default: 5,000. */
  readonly timeoutMs?: number;
  /** Measures `timeoutMs`. Default: the system's clock. */
  readonly clock?: Timers;
  /** Aborts the test. */
  readonly signal?: AbortSignal;
}

export const SYSTEM_OPTIONS = 'system timeoutMs clock signal';

/** Why a step failed on the system. */
export interface StepFailure {
  readonly what: string;
  readonly isAborted: boolean;
  readonly cause?: unknown;
}

const DEFAULT_TIMEOUT_MS = 5_000;

/** The pause before `read` is called again. */
const PAUSE_MS = 25;

/** Calls the functions of an adapter within the time limit, and compares what they read. Each call returns why it failed, or null. */
export class SystemDriver {
  readonly #system: TestedSystem;
  readonly #timeoutMs: number;
  readonly #clock: Timers;
  readonly #signal: AbortSignal | undefined;

  constructor(machine: AnyStateMachine, options: SystemOptions) {
    const { system, timeoutMs = DEFAULT_TIMEOUT_MS, clock = systemClock, signal } = options;
    requireSystem(system, machine);
    if (!(timeoutMs > 0))
      throw new PostChainError('invalid_option', `"timeoutMs" must be a number > 0; received ${timeoutMs}`);
    this.#system = system;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Returns the function of the adapter that a step needs and that is missing; null if there is none. */
  missingFor({ kind, actor }: Occurrence): string | null {
    const { outcomes = {}, elapse } = this.#system;
    if (actor !== null) return outcomesKey(actor, outcomes) === undefined ? `outcomes.${actor.name}` : null;
    return kind === 'delay' && elapse === undefined ? 'elapse' : null;
  }

  reset(input: unknown): Promise<StepFailure | null> {
    return this.#call('reset', (call) => this.#system.reset(input as never, call));
  }

  perform({ kind, event, actor, name }: Occurrence): Promise<StepFailure | null> {
    const system = this.#system;
    if (actor !== null) {
      const { outcomes = {} } = system;
      const key = outcomesKey(actor, outcomes) ?? '';
      const outcome = outcomeOf(kind, event, outcomeName(name, actor));
      return this.#call(`outcomes.${key}`, (call) => outcomes[key]?.(outcome, call));
    }
    if (kind === 'delay') return this.#call('elapse', (call) => system.elapse?.(delayOf(name), call));
    return this.#call('send', (call) => system.send(event as never, call));
  }

  /** Reads until the system shows what the machine's snapshot stands for. */
  async compare(snapshot: AnyMachineSnapshot): Promise<StepFailure | null> {
    const { expected = ({ value }: AnyMachineSnapshot) => value } = this.#system;
    const wanted = exactJson(expected(snapshot), 'what "expected" returns');
    let difference: string | null = null;
    const failure = await this.#call('read', async (call) => {
      do {
        const received = exactJson(await this.#system.read(call), 'what "read" returns');
        difference = firstDifference(received, wanted, 'what is read');
        if (difference !== null) await this.#pause();
      } while (difference !== null && !call.signal.aborted);
    });
    return failure !== null && difference !== null && !failure.isAborted && failure.cause === undefined
      ? { what: difference, isAborted: false }
      : failure;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.setTimeout(resolve, PAUSE_MS));
  }

  /** Calls a function of the adapter. Its promise is not awaited for longer than the time limit. */
  #call(name: string, act: (call: SystemCall) => unknown): Promise<StepFailure | null> {
    const aborted = (): StepFailure => ({
      what: `"${name}" was aborted (${firstLineOf(this.#signal?.reason)})`,
      isAborted: true,
      cause: this.#signal?.reason,
    });
    if (this.#signal?.aborted === true) return Promise.resolve(aborted());
    const controller = new AbortController();
    return new Promise((resolve) => {
      const end = (failure: StepFailure | null): void => {
        this.#clock.clearTimeout(timer);
        stopListening();
        resolve(failure);
        if (!controller.signal.aborted) controller.abort();
      };
      const tooLong = `"${name}" did not finish within ${grouped(this.#timeoutMs)} ms`;
      const timer = this.#clock.setTimeout(() => end({ what: tooLong, isAborted: false }), this.#timeoutMs);
      const stopListening = this.#signal === undefined ? () => {} : onAbort(this.#signal, () => end(aborted()));
      new Promise((done) => done(act({ signal: controller.signal }))).then(
        () => end(null),
        (cause) => end({ what: `"${name}" failed: ${firstLineOf(cause)}`, isAborted: false, cause }),
      );
    });
  }
}

const FUNCTIONS = ['reset', 'send', 'read'] as const;

/** Throws `invalid_option` for an adapter without a function that every path needs, or with outcomes of unknown actors. */
function requireSystem(system: TestedSystem, machine: AnyStateMachine): void {
  requireKnownOptions('system', system, 'reset send outcomes elapse read expected');
  const missing = FUNCTIONS.find((name) => typeof system[name] !== 'function');
  if (missing !== undefined)
    throw new PostChainError(
      'invalid_option',
      `"system.${missing}" must be a function; received ${describeValue(system[missing])}. An adapter for ${machine.id} needs ${FUNCTIONS.join(', ')}`,
    );
}

function outcomeOf(kind: Occurrence['kind'], event: EventObject, name: string): ActorOutcome {
  const { output, error, snapshot } = event as EventObject & { output?: unknown; error?: unknown; snapshot?: unknown };
  if (kind === 'done') return { kind, name, output };
  if (kind === 'error') return { kind, name, error };
  if (event.type.startsWith('xstate.snapshot.')) return { kind: 'snapshot', name, snapshot };
  return { kind: 'emitted', name, event };
}

function delayOf(label: string): ElapsedDelay {
  const [, name = label, unit] = /^after (.+?)( ms)?(?: \([^()]*\))?$/u.exec(label) ?? [];
  return { name, ms: unit === undefined ? null : Number(name) };
}
