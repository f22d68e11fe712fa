import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AnyActorRef } from 'xstate';
import type { Annotation } from '../../../machines/contracts/journal.ts';
import type { AttachedFile, Attachment } from '../../../machines/contracts/message.ts';
import { memoize } from '../../../machines/text/memoize.ts';
import { type Clock, systemClock } from '../../durable/clock.ts';
import { addNote } from '../../durable/hosted-call.ts';
import type { EditRequest } from '../../llm/attempts/provide-attempt.ts';
import { type PromptWriter, wholePrompts } from '../../llm/recorded-prompts.ts';
import type { PartialUpdate } from './run-events.ts';

/** What the calls of a run need besides their input. */
export interface RunScope {
  readonly clock: Clock;
  readonly partial: (update: PartialUpdate) => void;
  /** Whether anyone reads the partial values. */
  readonly hasReaders: () => boolean;
  /** Receives what calls note, if the run has no journal. */
  readonly record?: (note: Annotation) => void;
  readonly fileOf?: (attachment: Attachment) => AttachedFile;
  readonly prompts: PromptWriter;
  readonly editRequest?: EditRequest | undefined;
  /** Validates the value of the answer, besides the JSON Schema in the input of the run. */
  readonly valueSchema?: StandardSchemaV1 | undefined;
}

const scopes = new WeakMap<object, RunScope>();

/** Connects the calls of an actor system with their run. All runs of a chain share one machine and its actors. */
export const setScope = (actor: AnyActorRef, scope: RunScope): void => void scopes.set(actor.system, scope);

/** For code that runs the machine itself. */
const bareScope: RunScope = {
  clock: systemClock,
  partial: () => {},
  hasReaders: () => false,
  prompts: wholePrompts,
};

export const scopeOf = (self: AnyActorRef, other: RunScope = bareScope): RunScope => scopes.get(self.system) ?? other;

/** Adds a note of a call to the journal of its run. */
export function note(self: AnyActorRef, { record }: RunScope, annotation: Annotation): void {
  if (record === undefined) addNote({ self }, annotation as never);
  else record(annotation);
}

/** Returns a getter of a value per run, which is created on first use. */
export function oncePerRun<Value>(create: () => Value): (self: AnyActorRef) => Value {
  const valuePerRun = memoize<object, Value>(create);
  return ({ system }) => valuePerRun(system);
}
