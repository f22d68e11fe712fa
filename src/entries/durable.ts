/** Durable statecharts: any XState machine, with a journal, replay, resume, fork and timers that survive. */

export { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';
export { type ApprovalDecision, type ApprovalGiven, approval } from '../durable/approval.ts';
export { type CheckedActor, type CheckedMachine, checkDeploy } from '../durable/check-deploy.ts';
export type { Clock } from '../durable/clock.ts';
export type { Json } from '../durable/codec.ts';
export type { DurableActor, ParkOptions, SendOptions } from '../durable/durable-actor.ts';
export {
  type ActorReplay,
  type AdvanceOptions,
  createDurableMachine,
  type DueActor,
  type DurableMachine,
  type DurableMachineOptions,
  type ForkActorOptions,
  type OpenActorOptions,
  type Reply,
  type RunActorOptions,
  type StartActorOptions,
} from '../durable/durable-machine.ts';
export { durable } from '../durable/durable-ref.ts';
export type { EnqueueOptions } from '../durable/enqueue.ts';
export type { Attributes, Candidate, DurableEntry, OpenApproval, Waiting } from '../durable/entries.ts';
export { fromDurable } from '../durable/from-durable.ts';
export { defineGuard, type GuardResult } from '../durable/guards.ts';
export { addNote, idempotencyKey, wasInterrupted } from '../durable/hosted-call.ts';
export { fileJournals } from '../durable/journals/file-journals.ts';
export type {
  ActorSummary,
  JournalStore,
  Journals,
  JournalWriter,
  ListOptions,
  OpenedJournal,
} from '../durable/journals/journal-store.ts';
export { customJournals, type JournalBackend } from '../durable/journals/line-store.ts';
export { memoryJournals } from '../durable/journals/memory-journals.ts';
export type { PostgresPool, PostgresSource } from '../durable/journals/postgres.ts';
export { postgresJournals } from '../durable/journals/postgres-journals.ts';
export type { QueueOptions } from '../durable/journals/queue.ts';
export { sqliteJournals } from '../durable/journals/sqlite-journals.ts';
export type { Migration } from '../durable/migrate.ts';
export type { Pending } from '../durable/pending.ts';
export { recordOnce } from '../durable/recorded-values.ts';
export type { RepairAction, RepairOptions, RepairResult } from '../durable/repair.ts';
export type { Divergence, ReplayStep } from '../durable/replay.ts';
export type { ReuseOptions } from '../durable/reused-calls.ts';
export {
  type BackfillOptions,
  createSchedules,
  type ScheduleSummary,
  type Schedules,
  type SchedulesOptions,
} from '../durable/schedules/create-schedules.ts';
export type { ScheduleSpec } from '../durable/schedules/schedule-spec.ts';
export type { ScheduledHost } from '../durable/schedules/started-actors.ts';
export { errorCodec, type ValueCodec } from '../durable/value-codecs.ts';
export { createWorker, type Worker, type WorkerEvent, type WorkerHost, type WorkerOptions } from '../durable/worker.ts';
