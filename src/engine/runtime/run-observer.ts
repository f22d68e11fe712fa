import type { RuntimeEvent } from '../../../machines/contracts/journal-entry.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import type { Replies } from '../../../machines/contracts/phases/reply.ts';
import type { DeepPartial } from '../attempts/deep-partial.ts';
import type { GuardLogs } from '../recording/guard-logs.ts';

/**
 * The value of an attempt under way, typed by its task. It is void when its attempt fails: see the `attempt-end` that follows.
 * With a prompt of your own, the type is that of the prompt's schema.
 */
export type PartialUpdate = {
  readonly [T in Task]: {
    readonly type: 'partial';
    readonly attemptId: string;
    readonly task: T;
    readonly attempt: number;
    readonly value: DeepPartial<Replies[T]>;
  };
}[Task];

/** What the actors tell whoever watches a run. */
export interface RunObserver {
  /** Where the guards note what they saw. */
  readonly guardLogs: GuardLogs;
  readonly record: (fact: RuntimeEvent) => void;
  readonly partial: (update: PartialUpdate) => void;
}

/** For actors that nobody watches: a bare machine. */
export const noopObserver: RunObserver = {
  guardLogs: { of: () => ({ note: () => {}, take: () => null, clear: () => {}, isEmpty: true }) },
  record: () => {},
  partial: () => {},
};
