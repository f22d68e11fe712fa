import fc from 'fast-check';
import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { aMessage } from '../contracts/samples.ts';

/** Ids that operations aim at: few, so that they often hit, and one that is never there. */
const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
const target = fc.constantFrom(...ids, 'nobody');

export const unit = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
const word = fc.constantFrom(
  'bridge',
  'opened',
  'year',
  'harbour',
  'cost',
  'steel',
  'the',
  'of',
  'naïve',
  '1932',
  '🌉',
);
export const prose = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(' '));
/** Any text that says something: blank texts have tests of their own. */
export const anyText = fc.oneof(
  prose,
  fc.string({ unit: 'grapheme', maxLength: 300 }).filter((text) => text.trim() !== ''),
);

const tags = fc.subarray(['draft', 'pinned', 'critical', 'important', 'kept-by-user']);
const link = fc.record({ to: target, relation: fc.constantFrom('supports', 'contradicts'), strength: unit });

export const messageArbitrary = (id: string): fc.Arbitrary<Message> =>
  fc
    .record({
      role: fc.constantFrom('user' as const, 'assistant' as const, 'search' as const),
      phase: fc.option(fc.constantFrom(...PHASES)),
      content: fc.oneof(
        { weight: 6, arbitrary: anyText },
        { weight: 2, arbitrary: prose.map((text) => `${text} `.repeat(8)) },
        { weight: 1, arbitrary: fc.constant('') },
      ),
      cycle: fc.integer({ min: 0, max: 8 }),
      tags,
      importance: unit,
      links: fc.array(link, { maxLength: 3 }),
      references: fc.array(target, { maxLength: 3 }),
    })
    .map((changes) => aMessage({ id, ...changes }));

/** A context of up to eight messages with ids of their own, in any order. */
export const contextArbitrary: fc.Arbitrary<readonly Message[]> = fc
  .shuffledSubarray([...ids])
  .chain((chosen) => fc.tuple(...chosen.map(messageArbitrary)));

const common = { id: fc.constant('o'), target, reason: fc.constant('why'), metadata: fc.constant({}) };

export const operationArbitrary: fc.Arbitrary<ContextOperation> = fc.oneof(
  target.chain((id) =>
    messageArbitrary(id).map(
      (message): ContextOperation => ({
        operation: 'ADD',
        id: 'o',
        target: id,
        data: { message },
        reason: 'why',
        metadata: {},
      }),
    ),
  ),
  fc.record({
    operation: fc.constant('TAG' as const),
    ...common,
    data: fc.record({ tags: fc.constant<string[]>(['x', 'y']) }),
  }),
  fc.record({ operation: fc.constant('PRUNE' as const), ...common, data: fc.constant({}) }),
  fc.record({
    operation: fc.constant('TRANSFORM' as const),
    ...common,
    data: fc.record({
      transformation: fc.constant('summarize' as const),
      content: fc.constant('short'),
      maxChars: fc.constant(100),
    }),
  }),
  fc.record({ operation: fc.constant('LINK' as const), ...common, data: link }),
  fc.record({
    operation: fc.constant('PRIORITIZE' as const),
    ...common,
    data: fc.record({ importance: unit }),
  }),
);
