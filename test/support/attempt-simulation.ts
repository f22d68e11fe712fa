import { getEventListeners } from 'node:events';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AttemptExecution } from '../../machines/contracts/attempt.ts';
import type { ChatModel, ModelPart } from '../../machines/contracts/model.ts';
import type { StructuredOutput } from '../../src/llm/attempts/output-handle.ts';
import { type RetryPolicy, retryPolicy } from '../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../src/llm/attempts/structured-output.ts';
import type { ElementUpdate, StructuredUpdate } from '../../src/llm/attempts/updates.ts';
import {
  type CallPlan,
  type Ending,
  type ReaderPlan,
  type Schedule,
  type ScheduleHooks,
  type Step,
  schemas,
} from './attempt-schedules.ts';
import { ExternalTimers, nextTurn, TestClock } from './simulated-clock.ts';

interface SeenCall {
  readonly model: number;
  readonly atMs: number;
  readonly turns: number;
}

/** The models of a schedule: whichever is called, the call goes as the next plan says. */
interface ScheduleModels {
  readonly models: readonly ChatModel[];
  readonly calls: readonly SeenCall[];
  /** Calls that have begun and not ended, those of models that hear nothing left out. */
  readonly open: () => number;
}

/** `planned` says how many plans are used up already. */
function scheduleModels(schedule: Schedule, world: ExternalTimers, planned: () => number): ScheduleModels {
  const { narrow, form } = schedule;
  const calls: SeenCall[] = [];
  let open = 0;

  async function* play({ steps, endAfterMs, ending }: CallPlan, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const isDeaf = ending.type === 'deaf';
    if (!isDeaf) open += 1;
    try {
      for (const step of steps) {
        if (step.afterMs > 0) await world.wait(step.afterMs, isDeaf ? null : signal);
        if (signal.aborted) return;
        yield partOf(step, form);
      }
      if (ending.type === 'hang' || isDeaf) await world.wait(10_000_000, isDeaf ? null : signal);
      else if (endAfterMs > 0) await world.wait(endAfterMs, signal);
      if (!signal.aborted) yield* lastPart(ending);
    } finally {
      if (!isDeaf) open -= 1;
    }
  }

  return {
    calls,
    open: () => open,
    models: narrow.map((isNarrow, model) => ({
      id: `model-${model}`,
      contextWindowTokens: isNarrow ? 3 : 128_000,
      stream(request, { signal }) {
        const plan = schedule.calls[planned()];
        calls.push({ model, atMs: world.now(), turns: request.turns.length });
        if (plan === undefined) throw new Error('there is no plan for this call');
        return play(plan, signal);
      },
    })),
  };
}

function partOf({ type, text }: Step, form: Schedule['form']): ModelPart {
  if (type === 'reasoning') return { type: 'reasoning-delta', text };
  if (type === 'text' || form === 'text') return { type: 'text-delta', text };
  return { type: 'tool-call-delta', index: 0, name: 'output', arguments: text };
}

function* lastPart(ending: Ending): Generator<ModelPart> {
  if (ending.type === 'throw') throw new Error('a model that breaks its contract');
  if (ending.type === 'finish' || ending.type === 'failure') yield ending;
}

interface ReadUpdates {
  /** What came; of partials, as they were when they came. */
  readonly updates: SeenUpdate[];
  /** How often it ended, and whether with an error. */
  readonly endings: { readonly error: unknown }[];
  isOver: boolean;
}

interface SeenUpdate {
  readonly atMs: number;
  readonly update: StructuredUpdate | ElementUpdate;
}

/** Reads as the plan says, and keeps what came. */
function startReading(
  output: StructuredOutput<unknown, unknown>,
  { type, ms }: ReaderPlan,
  world: ExternalTimers,
): ReadUpdates {
  const so: ReadUpdates = { updates: [], endings: [], isOver: false };
  const keep = (update: StructuredUpdate | ElementUpdate): void => {
    const value = 'value' in update && update.type === 'partial' ? structuredClone(update.value) : undefined;
    so.updates.push({ atMs: world.now(), update: value === undefined ? update : ({ ...update, value } as never) });
  };

  async function each(updates: AsyncIterable<StructuredUpdate | ElementUpdate>): Promise<void> {
    const reading = updates[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await reading.next();
        if (step.done) break;
        keep(step.value);
        if (type === 'leaves' && step.value.type === 'reset') {
          await reading.return?.();
          return;
        }
        if (type === 'slow') await world.wait(ms);
      }
      so.endings.push({ error: undefined });
    } catch (error) {
      so.endings.push({ error });
    }
    const after = await reading.next();
    if (!after.done) throw new Error('an update after the end');
  }

  async function stepwise(): Promise<void> {
    try {
      while (await output.hasNext()) keep(await output.next());
      so.endings.push({ error: undefined });
    } catch (error) {
      so.endings.push({ error });
    }
    if (await output.hasNext()) throw new Error('an update after the end');
  }

  async function all(): Promise<void> {
    if (type === 'value') return;
    if (type === 'late') await world.wait(ms);
    if (type === 'steps') await stepwise();
    else await each(type === 'elements' ? (output.elements as AsyncIterable<ElementUpdate>) : output);
  }

  all()
    .catch((error: unknown) => so.endings.push({ error }, { error }))
    .finally(() => {
      so.isOver = true;
    });
  return so;
}

/** What came of a schedule. */
export interface ObservedRun {
  readonly value: unknown;
  readonly error: unknown;
  readonly endings: number;
  readonly endedAtMs: number;
  readonly calls: readonly SeenCall[];
  readonly waits: ReadonlyMap<number, number>;
  readonly execution: AttemptExecution;
  readonly read: ReadUpdates;
  readonly left: { readonly timers: number; readonly calls: number; readonly listeners: number };
}

export class FinalError extends Error {}
const MAX_STEPS = 3_000;

/** Plays a schedule on a simulated clock, from event to event. */
export async function runSchedule(schedule: Schedule): Promise<ObservedRun> {
  const { kind, limits, stop, validateMs, form } = schedule;
  const [clock, controller] = [new TestClock(), new AbortController()];
  const world = new ExternalTimers(clock);
  const waits = new Map<number, number>();
  const finished = (): number => output.execution.attempts.length;
  const { models, calls, open } = scheduleModels(schedule, world, finished);
  const [model, ...fallbacks] = models as [(typeof models)[number], ...typeof models];
  const { policy: given, hooks } = schedule;
  const output = createStructuredOutput({
    model,
    schema: withDelay(schemas[kind], validateMs, world),
    prompt: 'What is it?',
    replyForm: form,
    limits,
    clock,
    signal: controller.signal,
    newId: () => `schedule-${schedule.seed}`,
    policy: retryPolicy(
      {
        maxCorrections: given.maxCorrections,
        maxTransportRetries: given.maxTransportRetries,
        backoffBaseMs: given.baseMs,
        correctionBackoffMs: given.correctionMs,
        backoffMaxMs: given.maxMs,
        backoffJitter: given.jitter,
        stopOnRepeatedError: given.stopOnRepeatedError,
        maxFeedbackChars: given.feedbackChars,
        fallbackModels: fallbacks,
        ...(given.after !== null && { fallbackAfter: given.after }),
      },
      hooksOf(hooks),
    ),
  });
  output.actor.on('attempt-retry', ({ attempt, delayMs }) => void waits.set(attempt - 1, delayMs));

  const end = { value: undefined as unknown, error: undefined as unknown, endings: 0, endedAtMs: Number.NaN };
  const ended = (how: { value?: unknown; error?: unknown }): void => {
    Object.assign(end, how, { endings: end.endings + 1, endedAtMs: clock.now() });
  };
  const halt = (): void => (stop?.by === 'signal' ? controller.abort() : output.cancel());
  const stopAtMs = stop?.atMs ?? Number.POSITIVE_INFINITY;
  let isStopped = stopAtMs < 0;
  if (isStopped) halt();

  const so = startReading(output, schedule.reader, world);
  const listen = (): void =>
    void output.value.then(
      (value) => ended({ value }),
      (error: unknown) => ended({ error }),
    );
  if (schedule.reader.type !== 'leaves') listen();
  for (let steps = 0; ; steps += 1) {
    await nextTurn();
    if (schedule.reader.type === 'leaves' && so.isOver && end.endings === 0) {
      listen();
      await nextTurn();
    }
    if (end.endings > 0 && (so.isOver || schedule.reader.type === 'value')) break;
    if (steps > MAX_STEPS) throw new Error('it does not end');
    const next = Math.min(clock.nextAt ?? Infinity, isStopped ? Infinity : stopAtMs);
    if (next === Infinity) throw new Error(`nothing will happen any more, at ${clock.now()} ms`);
    clock.set(next);
    if (next === stopAtMs) {
      isStopped = true;
      halt();
    }
  }
  const left = {
    timers: clock.openTimers - world.open,
    calls: open(),
    listeners: getEventListeners(controller.signal, 'abort').length,
  };
  return { ...end, calls, waits, execution: output.execution, read: so, left };
}

function hooksOf({ declinesFrom, extraWaitMs, throwing, hasLastWord }: ScheduleHooks): RetryPolicy {
  const ask = (rule: string, at: number): void => {
    if (throwing?.rule === rule && throwing.at === at) throw new Error(`${rule} is broken`);
  };
  return {
    ...((declinesFrom !== null || throwing?.rule === 'shouldRetry') && {
      shouldRetry: ({ attempts }) => {
        ask('shouldRetry', attempts.length);
        return attempts.length < (declinesFrom ?? Infinity);
      },
    }),
    ...(throwing?.rule === 'recordFailure' && {
      recordFailure: (record) => {
        ask('recordFailure', record.attempt);
        return record;
      },
    }),
    ...((extraWaitMs > 0 || throwing?.rule === 'prepareRetry') && {
      prepareRetry: (next, { attempts }) => {
        ask('prepareRetry', attempts.length);
        return { ...next, waitMs: next.waitMs + extraWaitMs };
      },
    }),
    ...(hasLastWord && {
      finalizeOrThrow: () => {
        throw new FinalError('the last word');
      },
    }),
  };
}

/** The same schema, which takes its time over a whole value. */
function withDelay<Schema extends StandardSchemaV1>(schema: Schema, ms: number, world: ExternalTimers): Schema {
  if (ms === 0) return schema;
  const standard = schema['~standard'];
  const { element } = schema as { readonly element?: unknown };
  const validate: typeof standard.validate = async (value) => {
    await world.wait(ms);
    return standard.validate(value);
  };
  return { element, '~standard': { ...standard, validate } } as unknown as Schema;
}
