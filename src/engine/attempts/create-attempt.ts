import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActorLogic, ActorSystem, ActorSystemInfo, Snapshot, SnapshotFrom } from 'xstate';
import type { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { AttemptInput, AttemptOutcome } from '../../../machines/contracts/attempt.ts';
import type { ReplyEvent } from '../../../machines/contracts/reply-event.ts';
import type { AttemptOptions, AttemptPrompt } from './attempt-options.ts';
import { attemptParts } from './attempt-parts.ts';
import type { DeepPartial } from './deep-partial.ts';
import { type CallObserver, unwatched } from './read-reply.ts';

export interface CreateAttemptOptions<Schema extends StandardSchemaV1> extends AttemptOptions<Schema> {
  /** The value as far as it is there: a live, read-only view. Void when its attempt fails. */
  readonly onPartial?: (partial: {
    readonly attemptId: string;
    readonly attempt: number;
    readonly value: DeepPartial<StandardSchemaV1.InferInput<Schema>>;
  }) => void;
}

/** The attempt machine with its ports filled, for a chart of your own; its output is the outcome, and it never fails. */
export type AttemptLogic<Output> = ActorLogic<
  Snapshot<AttemptOutcome<Output>> & Pick<SnapshotFrom<typeof attemptMachine>, 'value' | 'context'>,
  ReplyEvent,
  AttemptInput,
  ActorSystem<ActorSystemInfo>
>;

export interface Attempt<Output> {
  readonly machine: AttemptLogic<Output>;
  /** What the machine is started with to get one value. Throws `invalid_option` for a prompt that is none. */
  readonly input: (prompt: AttemptPrompt) => AttemptInput;
}

/**
 * Structured output as a machine to invoke in a chart of your own, where it is inspected, stopped and tested like any other actor.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`.
 * @example
 * const extract = createAttempt({ model, schema: Recipe });
 * setup({ actors: { extract: extract.machine } }).createMachine({
 *   invoke: { src: 'extract', input: ({ context }) => extract.input(context.question), onDone: … },
 * });
 */
export function createAttempt<Schema extends StandardSchemaV1>({
  onPartial,
  ...options
}: CreateAttemptOptions<Schema>): Attempt<StandardSchemaV1.InferOutput<Schema>> {
  const observer: CallObserver = {
    ...unwatched,
    onPartial: ({ attemptId, attempt }, value) => onPartial?.({ attemptId, attempt, value: value as never }),
  };
  const { machine, input } = attemptParts(options, observer, ['onPartial']);
  return { machine: machine as unknown as AttemptLogic<StandardSchemaV1.InferOutput<Schema>>, input };
}
