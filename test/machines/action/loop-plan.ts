import fc from 'fast-check';

/** What one simulated loop is made of: nothing in here knows how the loop works. */

export const CAPABILITIES = ['draft', 'review', 'summarise'] as const;
type Name = (typeof CAPABILITIES)[number];

/** A step that somebody wishes; all kinds but `valid` are refused, with the kind as their code. */
export type Wish =
  | { readonly kind: 'valid'; readonly capability: Name; readonly arguments: { readonly words?: number } }
  | { readonly kind: 'missing_name' }
  | { readonly kind: 'empty_name'; readonly capability: string }
  | { readonly kind: 'unknown_capability'; readonly capability: string }
  | { readonly kind: 'arguments_not_object'; readonly capability: Name; readonly arguments: unknown }
  | { readonly kind: 'arguments_misfit'; readonly capability: Name; readonly arguments: { readonly words: string } };

/** What one run of a capability does. */
export type Behaviour =
  | { readonly does: 'gives'; readonly value: unknown }
  | { readonly does: 'throws'; readonly thrown: unknown }
  | { readonly does: 'takes'; readonly ms: number }
  | { readonly does: 'hangs' }
  | { readonly does: 'answersWhenAborted'; readonly rejects: boolean };

/** What a function that decides does. */
type Decision =
  | { readonly says: 'done'; readonly finalOutput?: string | null | undefined }
  | { readonly says: 'next'; readonly wish: Wish; readonly asText: boolean }
  | { readonly says: 'nonsense'; readonly value: unknown }
  | { readonly says: 'throws'; readonly thrown: unknown }
  | { readonly says: 'hangs' }
  | { readonly says: 'answersWhenAborted' };

/** What a model says as the decider, where its reply is valid. */
export type Thought = Extract<Decision, { says: 'done' | 'next' }>;

/** How a call of the model goes; a good one says what the plan wants said. */
export interface Call {
  readonly goes: 'good' | 'prose' | 'misfit' | 'cut' | 'unavailable' | 'refused' | 'hangs';
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface LoopPlan {
  /** Through createCapabilityLoop, or the bare machine; only there have capabilities times of their own. */
  readonly through: 'loop' | 'machine';
  readonly maxContinuations: number;
  readonly capabilityMs: number;
  readonly ownMs: Readonly<Record<Name, number | null>>;
  /** The first step: given, or what the model wishes; null is a model that wishes none. */
  readonly first: { readonly by: 'caller'; readonly wish: Wish } | { readonly by: 'model'; readonly wish: Wish | null };
  readonly decider: 'none' | 'function' | 'model';
  /** By number of the run, the decision, the thought and the model call; after the last, all goes well and is done. */
  readonly behaviours: readonly Behaviour[];
  readonly decisions: readonly Decision[];
  readonly thoughts: readonly Thought[];
  readonly calls: readonly Call[];
  readonly maxCorrections: number;
  readonly maxTransportRetries: number;
  readonly maxCalls: number;
  readonly maxTokens: number;
}

const oddThings = fc.constantFrom<unknown>(undefined, null, 5, 'plain words', '', { code: 7 }, Symbol('odd'));
const errors = fc.constantFrom<unknown>(new Error('disk full\nat write'), new TypeError('no such thing'));

const named = fc.constantFrom(...CAPABILITIES);
const valid = fc.record({
  kind: fc.constant('valid' as const),
  capability: named,
  arguments: fc.constantFrom({}, { words: 3 }),
});
const refused = fc.oneof(
  fc.record({ kind: fc.constant('empty_name' as const), capability: fc.constantFrom('', '  ', '\n') }),
  fc.record({
    kind: fc.constant('unknown_capability' as const),
    capability: fc.constantFrom('publish', 'Draft', 'draft ', 'constructor', '__proto__', 'toString'),
  }),
  fc.record({
    kind: fc.constant('arguments_not_object' as const),
    capability: named,
    arguments: fc.constantFrom<unknown>('no JSON', '[]', 'null', '5', '"text"'),
  }),
  fc.record({
    kind: fc.constant('arguments_misfit' as const),
    capability: named,
    arguments: fc.constant({ words: 'many' }),
  }),
);
const nameless = fc.constant({ kind: 'missing_name' as const });
const noObjects = fc.record({
  kind: fc.constant('arguments_not_object' as const),
  capability: named,
  arguments: fc.constantFrom<unknown>(undefined, null, [], [{}], 5, true),
});

const firstWish: fc.Arbitrary<Wish> = fc.oneof({ weight: 12, arbitrary: valid }, { weight: 1, arbitrary: refused });
const textWish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 16, arbitrary: valid },
  { weight: 2, arbitrary: refused },
  { weight: 1, arbitrary: nameless },
);
const anyWish: fc.Arbitrary<Wish> = fc.oneof({ weight: 10, arbitrary: textWish }, { weight: 1, arbitrary: noObjects });

const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('gives' as const),
      value: fc.constantFrom<unknown>('The sky.', '', { words: 3 }, null, undefined, 5),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('throws' as const), thrown: fc.oneof(errors, oddThings) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('takes' as const), ms: fc.constantFrom(10, 400, 5_000) }) },
  { weight: 1, arbitrary: fc.constant({ does: 'hangs' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('answersWhenAborted' as const), rejects: fc.boolean() }),
  },
);

const finalOutput = fc.constantFrom<string | null | undefined>('In short.', ' x ', '', ' \n\t', null, undefined);
const isDone = fc.record({ says: fc.constant('done' as const), finalOutput });
const goesOn = (wish: fc.Arbitrary<Wish>) =>
  fc.record({ says: fc.constant('next' as const), wish, asText: fc.boolean() });

const decision: fc.Arbitrary<Decision> = fc.oneof(
  { weight: 10, arbitrary: goesOn(anyWish) },
  { weight: 2, arbitrary: isDone },
  {
    weight: 1,
    arbitrary: fc.record({
      says: fc.constant('nonsense' as const),
      value: fc.constantFrom<unknown>(
        undefined,
        null,
        5,
        'done',
        [],
        {},
        { done: 'yes' },
        { done: 1, finalOutput: 'x' },
        { done: null, next: { capability: 'draft', arguments: {} } },
        { done: true, finalOutput: 5 },
        { finalOutput: 'x' },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ says: fc.constant('throws' as const), thrown: fc.oneof(errors, oddThings) }) },
  { weight: 1, arbitrary: fc.constantFrom({ says: 'hangs' as const }, { says: 'answersWhenAborted' as const }) },
);

const tokens = fc.integer({ min: 0, max: 200 });
const call: fc.Arbitrary<Call> = fc.record({
  goes: fc.oneof(
    { weight: 8, arbitrary: fc.constant('good' as const) },
    {
      weight: 3,
      arbitrary: fc.constantFrom('prose' as const, 'misfit' as const, 'cut' as const, 'unavailable' as const),
    },
    { weight: 1, arbitrary: fc.constantFrom('refused' as const, 'hangs' as const) },
  ),
  inputTokens: tokens,
  outputTokens: tokens,
});

const own = fc.constantFrom<number | null>(null, null, 30, 700);
const upTo = <T>(one: fc.Arbitrary<T>, maxLength: number) => fc.array(one, { maxLength, size: 'max' });

export const loopPlan: fc.Arbitrary<LoopPlan> = fc.record({
  through: fc.constantFrom('loop' as const, 'machine' as const),
  maxContinuations: fc.integer({ min: 1, max: 7 }),
  capabilityMs: fc.constantFrom(50, 1_000),
  ownMs: fc.record({ draft: own, review: own, summarise: own }),
  first: fc.oneof(
    fc.record({ by: fc.constant('caller' as const), wish: firstWish }),
    fc.record({
      by: fc.constant('model' as const),
      wish: fc.oneof({ weight: 15, arbitrary: firstWish }, { weight: 1, arbitrary: fc.constant(null) }),
    }),
  ),
  decider: fc.constantFrom(
    'none' as const,
    'function' as const,
    'function' as const,
    'model' as const,
    'model' as const,
  ),
  behaviours: upTo(behaviour, 7),
  decisions: upTo(decision, 7),
  thoughts: upTo(fc.oneof({ weight: 4, arbitrary: goesOn(textWish) }, { weight: 1, arbitrary: isDone }), 7),
  calls: upTo(call, 12),
  maxCorrections: fc.integer({ min: 0, max: 2 }),
  maxTransportRetries: fc.integer({ min: 0, max: 2 }),
  maxCalls: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(100)),
  maxTokens: fc.oneof(fc.integer({ min: 1, max: 800 }), fc.constant(1_000_000)),
});
