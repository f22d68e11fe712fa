import { assign, fromPromise, setup } from 'xstate';
import { defineGuard } from '../guards.ts';
import {
  delayUntilNextMs,
  type Fired,
  newSchedule,
  type Planned,
  retryDelayMs,
  type ScheduleEvent,
  type ScheduleState,
  withFailure,
  withoutTimes,
  withPause,
  withPlan,
  withSpec,
  withTimes,
} from './schedule-state.ts';

/** The calls of a schedule. Repeating one after a crash starts no second actor for a time. */
export interface ScheduleCalls {
  /** Computes the next time after `nowMs`. */
  plan(input: { readonly state: ScheduleState; readonly nowMs: number }): Promise<Planned>;
  /** Starts the actor of the time that is due. */
  startDue(input: { readonly state: ScheduleState; readonly nowMs: number }): Promise<Fired>;
  /** Starts the actors of the times in `backfill`. Returns these times. */
  startMissed(input: { readonly state: ScheduleState }): Promise<readonly number[]>;
}

type Input = Pick<ScheduleState, 'id' | 'spec'>;

/** Returns the chart of a schedule, whose actors are schedules. Its version is in journals: change it with the chart. */
export const createScheduleMachine = ({ plan, startDue, startMissed }: ScheduleCalls) =>
  setup({
    types: { input: {} as Input, context: {} as ScheduleState, events: {} as ScheduleEvent },
    actors: {
      plan: fromPromise(({ input }: { input: { state: ScheduleState; nowMs: number } }) => plan(input)),
      startDue: fromPromise(({ input }: { input: { state: ScheduleState; nowMs: number } }) => startDue(input)),
      startMissed: fromPromise(({ input }: { input: { state: ScheduleState } }) => startMissed(input)),
    },
    guards: {
      isPaused: ({ context }) => context.isPaused,
      isActive: ({ context }) => !context.isPaused,
      isOutdated: ({ context }) => context.plannedRevision !== context.revision,
      hasNoNext: ({ context }) => context.nextAtMs === null,
      hasMissed: ({ context }) => context.backfill.length > 0,
      isLastRunning: defineGuard((_, { skippedFor }: Fired) => ({
        holds: skippedFor !== null,
        inputs: { running: skippedFor },
      })),
    },
    actions: {
      changeSpec: assign(({ context, event }) =>
        event.type === 'schedule.changed' ? withSpec(context, event.spec) : {},
      ),
      pause: assign(() => withPause(true)),
      resume: assign(() => withPause(false)),
      addMissed: assign(({ context, event }) =>
        event.type === 'backfill.requested' ? withTimes(context, event.times) : {},
      ),
      recordPlan: assign((_, planned: Planned) => withPlan(planned)),
      recordStart: assign((_, fired: Fired) => ({ ...withPlan(fired), last: fired.actor })),
      recordMissed: assign(({ context }, times: readonly number[]) => withoutTimes(context, times)),
      recordFailure: assign(({ context }, { error }: { readonly error: unknown }) => withFailure(context, error)),
    },
    delays: {
      untilNext: ({ context }) => delayUntilNextMs(context, Date.now()),
      untilRetry: ({ context }) => retryDelayMs(context),
    },
  }).createMachine({
    id: 'schedule',
    version: '1',
    description: 'Starts an actor of another machine at each time of a schedule.',
    context: ({ input }) => newSchedule(input),
    type: 'parallel',
    on: {
      'schedule.changed': { actions: 'changeSpec' },
      'schedule.paused': { actions: 'pause' },
      'schedule.resumed': { actions: 'resume' },
      'backfill.requested': { actions: 'addMissed' },
    },
    states: {
      times: {
        initial: 'planning',
        states: {
          planning: {
            description: 'Computes the next time.',
            always: { guard: 'isPaused', target: 'paused' },
            invoke: {
              id: 'plan',
              src: 'plan',
              input: ({ context }) => ({ state: context, nowMs: Date.now() }),
              onDone: { target: 'waiting', actions: { type: 'recordPlan', params: ({ event }) => event.output } },
              onError: { target: 'failed', actions: { type: 'recordFailure', params: ({ event }) => event } },
            },
          },
          waiting: {
            description: 'Waits for the next time.',
            always: [
              { guard: 'isPaused', target: 'paused' },
              { guard: 'isOutdated', target: 'planning' },
              { guard: 'hasNoNext', target: 'over' },
            ],
            after: { untilNext: 'starting' },
          },
          starting: {
            description: 'Starts the actor of this time, unless the last one has not ended.',
            invoke: {
              id: 'startDue',
              src: 'startDue',
              input: ({ context }) => ({ state: context, nowMs: Date.now() }),
              onDone: [
                {
                  guard: { type: 'isLastRunning', params: ({ event }) => event.output },
                  target: 'waiting',
                  actions: { type: 'recordPlan', params: ({ event }) => event.output },
                },
                { target: 'waiting', actions: { type: 'recordStart', params: ({ event }) => event.output } },
              ],
              onError: { target: 'failed', actions: { type: 'recordFailure', params: ({ event }) => event } },
            },
          },
          failed: {
            description: 'Waits before it tries again.',
            on: { 'schedule.changed': { target: 'planning', actions: 'changeSpec' } },
            always: { guard: 'isPaused', target: 'paused' },
            after: { untilRetry: [{ guard: 'isOutdated', target: 'planning' }, { target: 'starting' }] },
          },
          paused: {
            description: 'Starts nothing. Times that pass are left out.',
            always: { guard: 'isActive', target: 'planning' },
          },
          over: {
            description: 'No time follows.',
            always: [
              { guard: 'isPaused', target: 'paused' },
              { guard: 'isOutdated', target: 'planning' },
            ],
          },
        },
      },
      backfill: {
        initial: 'idle',
        states: {
          idle: {
            description: 'No missed times are to be started.',
            always: { guard: 'hasMissed', target: 'starting' },
          },
          starting: {
            description: 'Starts the actors of missed times.',
            invoke: {
              id: 'startMissed',
              src: 'startMissed',
              input: ({ context }) => ({ state: context }),
              onDone: { target: 'idle', actions: { type: 'recordMissed', params: ({ event }) => event.output } },
              onError: { target: 'failed', actions: { type: 'recordFailure', params: ({ event }) => event } },
            },
          },
          failed: {
            description: 'Waits before it tries again.',
            after: { untilRetry: 'starting' },
          },
        },
      },
    },
  });
