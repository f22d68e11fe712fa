import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepsNeeded } from '../../../../machines/heuristics/evidence-index.ts';

describe('the steps that a request requires', () => {
  it.each([
    [1, 'When was the harbour bridge opened?'],
    [1, 'Is Oslo larger than Bergen?'],
    [1, 'Who is the wife of Henrik Vold?'],
    [2, 'Who wrote the anthem of Norway?'],
    [2, 'What does the company that built Vold Bridge sell?'],
    [2, 'Where did the teacher Henrik Vold admired most live?'],
    [2, "When did Henrik Vold's brother die?"],
    [3, 'Which river crosses the town where the author of Vold lives?'],
    [4, 'How old was the son of the man who led the army of the country that won?'],
    [4, 'Name the a of the b of the c of the d of the e of the f of Oslo.'],
  ])('[Y3] are %i for "%s": one, plus one per thing that is described but not named', (steps, request) => {
    expect(stepsNeeded(request)).toBe(steps);
  });

  it('[Y3] are 1 to 4 for any request', () => {
    const word = fc.constantFrom('the', 'of', 'town', 'where', "Oslo's", 'Oslo', ',', 'is', 'Who', '“', '\n');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word).map((words) => words.join(' ')),
        ),
        (request) => {
          expect([1, 2, 3, 4]).toContain(stepsNeeded(request));
        },
      ),
    );
  });
});
