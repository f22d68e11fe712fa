import { describe, expect, it } from 'vitest';
import { unsupportedEntities } from '../../../machines/heuristics/grounding.ts';

describe('unsupported entities of an answer', () => {
  it.each([
    ['It was built by Peter Vane.', ['Peter', 'Vane'], 'person', ['Peter', 'Vane']],
    ['It was opened in 1815.', ['1815'], 'date', ['1815']],
    ['There are 12 of them.', ['12'], 'number', []],
    ['However, it was late.', ['However'], 'open', []],
    ['It was late. Nobody came.', ['Nobody'], 'open', []],
    ['it was splendid', ['splendid'], 'open', []],
  ] as const)('[Y1] for "%s" with %j not found and a %s expected are %j', (answer, unsupported, kind, wanted) => {
    expect(unsupportedEntities(answer, unsupported, kind)).toEqual(wanted);
  });
});
