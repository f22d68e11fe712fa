import { getEventListeners } from 'node:events';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AttemptExecution } from '../../../../machines/contracts/attempt.ts';
import { type RetryPolicy, retryPolicy } from '../../../../src/engine/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/engine/attempts/structured-output.ts';
import { CountingClock, World } from './counting-clock.ts';
import type { Schedule, ScheduleHooks } from './schedule.ts';
import { type SeenCall, scheduleModels } from './schedule-model.ts';
import { type ReadSoFar, startReading } from './schedule-reader.ts';
import { schemas } from './schedule-replies.ts';

/** What came of a schedule. */
export interface Observed {
  readonly value: unknown;
  readonly error: unknown;
  readonly endings: number;
  readonly endedAtMs: number;
  readonly calls: readonly SeenCall[];
  readonly waits: ReadonlyMap<number, number>;
  readonly execution: AttemptExecution;
  readonly read: ReadSoFar;
  readonly left: { readonly timers: number; readonly calls: number; readonly listeners: number };
}

export class LastWord extends Error {}
const MAX_STEPS = 3_000;
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Plays a schedule on a simulated clock, from event to event. */
export async function playSchedule(schedule: Schedule): Promise<Observed> {
  const { kind, limits, stop, validateMs, form } = schedule;
  const [clock, controller] = [new CountingClock(), new AbortController()];
  const world = new World(clock);
  const waits = new Map<number, number>();
  const finished = (): number => output.execution.attempts.length;
  const { models, calls, open } = scheduleModels(schedule, world, finished);
  const [model, ...fallbacks] = models as [(typeof models)[number], ...typeof models];
  const { policy: given, hooks } = schedule;
  const output = createStructuredOutput({
    model,
    schema: slowly(schemas[kind], validateMs, world),
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
  output.actor.on('attempt-retry', ({ attempt, inMs }) => void waits.set(attempt - 1, inMs));

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
    await turn();
    if (schedule.reader.type === 'leaves' && so.isOver && end.endings === 0) {
      listen();
      await turn();
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
    timers: clock.open - world.open,
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
        throw new LastWord('the last word');
      },
    }),
  };
}

/** The same schema, which takes its time over a whole value. */
function slowly<Schema extends StandardSchemaV1>(schema: Schema, ms: number, world: World): Schema {
  if (ms === 0) return schema;
  const standard = schema['~standard'];
  const { element } = schema as { readonly element?: unknown };
  const validate: typeof standard.validate = async (value) => {
    await world.wait(ms);
    return standard.validate(value);
  };
  return { element, '~standard': { ...standard, validate } } as unknown as Schema;
}
