import { describe, expect, expectTypeOf, it } from 'vitest';
import type { AttemptState } from '../../../machines/attempt/state.ts';
import type { ActionState } from '../../../machines/contracts/action-state.ts';
import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import type { Phase } from '../../../machines/contracts/phase.ts';
import { initialState } from '../../../machines/policies/progress.ts';
import { aChainInput } from '../../support/contract-samples.ts';

type Primitive = string | number | boolean | null;
type Unknown<T> = unknown extends T ? true : false;

/**
 * The paths of T with non-JSON types: functions, symbols, bigints, undefined, dates, maps. A member may be absent, but not undefined.
 * `unknown` is listed separately.
 */
type NotJson<T, Path extends string> =
  Unknown<T> extends true
    ? never
    : T extends Primitive
      ? never
      : T extends readonly (infer Item)[]
        ? NotJson<Item, `${Path}[]`>
        : T extends bigint | symbol | undefined | Date | ((...args: never) => unknown)
          ? Path
          : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | Promise<unknown> | Error | AbortSignal
            ? Path
            : { [K in keyof T & string]-?: NotJson<Required<T>[K], `${Path}.${K}`> }[keyof T & string];

/** The paths of T that the type leaves open; whoever provides their values guarantees JSON. */
type Open<T, Path extends string> =
  Unknown<T> extends true
    ? Path
    : T extends Primitive
      ? never
      : T extends readonly (infer Item)[]
        ? Open<Item, `${Path}[]`>
        : T extends object
          ? { [K in keyof T & string]-?: Open<Required<T>[K], `${Path}.${K}`> }[keyof T & string]
          : never;

describe('the contexts of the machines', () => {
  it('[A5] contain only JSON types', () => {
    expectTypeOf<NotJson<ChainState, 'state'>>().toEqualTypeOf<never>();
    expectTypeOf<NotJson<AttemptState, 'attempt'>>().toEqualTypeOf<never>();
    expectTypeOf<NotJson<ActionState, 'action'>>().toEqualTypeOf<never>();
  });

  it('[A5] are checked by a type that detects non-JSON types', () => {
    expectTypeOf<NotJson<{ a: { b: Date }[]; c: () => void; d: string }, 'x'>>().toEqualTypeOf<'x.a[].b' | 'x.c'>();
    expectTypeOf<NotJson<{ a?: string | undefined; b: Map<string, string>; c: 1n; d?: string }, 'x'>>().toEqualTypeOf<
      'x.a' | 'x.b' | 'x.c'
    >();
  });

  it('[A5] leave open only the types that capabilities and prompts define', () => {
    expectTypeOf<Open<ChainState, 'state'>>().toEqualTypeOf<
      | `state.capabilities[].arguments.${string}`
      | `state.results.action.results[].arguments.${string}`
      | `state.shared.replies.${Phase}`
      | 'state.early.call.input'
      | 'state.early.result.value'
      | 'state.inFlight.usage.call.input'
      | 'state.inFlight.loop.usageInFlight.call.input'
      | `state.inFlight.loop.${'input.capabilities[].arguments' | 'step[].arguments' | 'step[].result.arguments' | 'results[].arguments'}.${string}`
    >();
    expectTypeOf<Open<AttemptState, 'attempt'>>().toEqualTypeOf<
      'attempt.input' | 'attempt.value' | 'attempt.reply.value' | 'attempt.final.value'
    >();
  });

  it('[A5] keep no in-flight attempt state in an execution', () => {
    expectTypeOf<keyof AttemptExecution>().toEqualTypeOf<
      'id' | 'task' | 'attempts' | 'corrections' | 'transportRetries' | 'fallbacks' | 'usage'
    >();
  });

  it('[A5] survive JSON unchanged when newly created', () => {
    const state = initialState(aChainInput());
    expect(JSON.parse(JSON.stringify(state))).toStrictEqual(state);
  });
});
