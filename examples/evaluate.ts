import { createPassageIndex } from 'postchain';
import { evaluate, evaluationText } from 'postchain/testing';

const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine. It closes at five.' }]);
const cases = [
  { name: 'opening', request: 'When does the library open?', expected: 'nine' },
  { name: 'closing', request: 'When does the library close?', expected: 'five' },
];

const evaluation = await evaluate(cases, {
  systems: { balanced: { documents }, lean: { documents, profile: 'lean' } },
  scorers: { correct: ({ answerText }, { expected }) => answerText.includes(expected) },
});
console.log(evaluationText(evaluation));
// In a test: expect(evaluation.systems.lean?.scores.correct).toBeGreaterThanOrEqual(0.9);
