import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AnyStateMachine, EventFrom } from 'xstate';
import type { SystemOptions } from '../exploration/tested-system.ts';

/** An arbitrary of fast-check. */
export interface PayloadArbitrary {
  generate(...args: never[]): unknown;
  shrink(...args: never[]): unknown;
}

/** How the payload of an event is generated, without its type. */
export type Payload = StandardSchemaV1 | PayloadArbitrary;

/** Random walks, by fast-check. */
export interface WalksOptions<Type extends string = string> {
  /** The number of walks. Default: 100. */
  readonly count?: number;
  /** The most events that a walk tries; those that cannot occur are skipped. Default: 50. */
  readonly maxSteps?: number;
  /** What generates the payloads of events, by type. Other events are sent as explored. */
  readonly payloads?: Readonly<Partial<Record<Type, Payload>>>;
  /** Repeats the walks of a seed. Default: a random one, which failures and reports name. */
  readonly seed?: number | undefined;
}

export interface TestSystemOptions<Machine extends AnyStateMachine = AnyStateMachine, Observation = unknown>
  extends SystemOptions<Machine, Observation> {
  /** What the paths cover, as for `cover`: each item of the chart, or every edge of the exploration. Default: `item`. */
  readonly each?: 'item' | 'edge';
  /** Adds random walks after the covering paths. Requires the package `fast-check`. */
  readonly walks?: WalksOptions<EventFrom<Machine>['type']>;
}
