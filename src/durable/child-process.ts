import type { AnyEventObject } from 'xstate';
import type { HostedLogic } from '../xstate/port.ts';
import type { Codec, Json } from './codec.ts';
import type { StartEntry } from './entries.ts';
import type { JournalStore } from './journals/journal-store.ts';
import { digestOf } from './machine-digest.ts';

/** A durable machine that starts and stops the children of others. */
export interface ChildHost {
  readonly journals: JournalStore;
  start(id: string, options: ChildOptions & { readonly isPaused: true }): { close(): Promise<void> };
  /** With it, children are enqueued. */
  readonly queue?: object | undefined;
  enqueue?(id: string, options: ChildOptions): Promise<boolean>;
  stop(id: string): Promise<boolean>;
}

export interface ChildOptions {
  readonly input: unknown;
  readonly product: Json;
  readonly parent: ChildParent;
}

export type ChildParent = NonNullable<StartEntry['parent']>;

/** What the system of a parent gives the actor that stands for a child process. */
export interface ChildParts {
  readonly parent: ChildParent;
  /** The id of the child if it has been started, and the parent continues from a keyframe. */
  readonly child: string | undefined;
  /** Identifies the parent. */
  readonly identity: string;
  /** The name of the logic in its machine. */
  readonly sourceName: string;
  readonly codec: Codec;
  /** The store of the parent; undefined if it has none. */
  readonly journals: JournalStore | undefined;
  isRunning(): boolean;
  /** The number of the next effect. */
  nextEffect(): number;
  /** Returns the stored form of an input, and why a child cannot get it. */
  encodeInput(input: unknown): readonly [input: Json, problem: unknown];
  /** Records an effect that concerns the child with this id. */
  record(action: string, run: () => Promise<void>, child: string): void;
  /** Records that an event is sent to a durable actor when `isReady` resolves. */
  post(to: string, event: AnyEventObject, isReady: () => Promise<void>): void;
}

type ChildLogic = Pick<HostedLogic, 'start' | 'transition'>;

/** A mark, also of another copy of the package. */
export const CHILD_LOGIC = Symbol.for('postchain.child-logic');

/** Returns the function that makes the logic of a child process; undefined for any other logic. */
export const childLogicOf = (logic: object): ((parts: ChildParts) => ChildLogic) | undefined =>
  (logic as { readonly [CHILD_LOGIC]?: (parts: ChildParts) => ChildLogic })[CHILD_LOGIC];

/** Longer ids, also those of children of children, would exceed what stores can keep. */
const MAX_NAME_CHARS = 400;

/** Returns the id of the child that an effect starts. `identity` is that of its parent. */
export function childIdOf({ actorId, actor }: ChildParent, identity: string, effect: number): string {
  const name = `${actorId}${actor}`;
  return `${name.length > MAX_NAME_CHARS ? digestOf(name) : name}:${digestOf(`${identity} ${effect}`)}`;
}
