import { expect, it } from 'vitest';
import { examplesOf } from '../../../src/agents/examples.ts';

const items = { enum: ['a', 'b', 'c'] };

it.each<[string, object, readonly unknown[]]>([
  ['none, one and two items', { items }, [[], ['a'], ['a', 'b']]],
  ['equal items if there is only one', { items: { const: 'a' } }, [[], ['a'], ['a', 'a']]],
  ['no equal items if they must be unique', { items: { const: 'a' }, uniqueItems: true }, [[], ['a']]],
  ['at most as many items as allowed', { items, maxItems: 1 }, [[], ['a']]],
  ['at least as many items as required', { items, minItems: 3 }, [['a', 'b', 'c']]],
])('examples of arrays have %s', (_, schema, expected) => {
  expect(examplesOf({ type: 'array', ...schema })).toEqual(expected);
});
