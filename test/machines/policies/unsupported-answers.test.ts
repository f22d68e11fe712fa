import { describe, expect, it } from 'vitest';
import { checkAgainstEvidence } from '../../../machines/policies/evidence.ts';
import { initialMessages } from '../../../machines/policies/progress.ts';
import { aChainInput, aState, results } from '../../support/contract-samples.ts';
import { assistantMessage, searchMessage, userMessage } from '../../support/retention.ts';

const request = 'When was the harbour bridge opened, and by whom?';
const text = 'The harbour bridge was opened on 19 March 1932 by the engineer Ludo Farrant.';

/** Returns the remaining confidence for a reported confidence of 1. */
const confidenceIn = (answer: string): number => {
  const messages = [searchMessage('a', text), userMessage('request', request)];
  return checkAgainstEvidence(aState({ request, hasDocuments: true, messages }), messages, {
    ...results.yield.reply,
    answer,
    confidence: 1,
  }).confidence;
};

describe('an answer that the model is confident in', () => {
  it.each([
    'On 19 March 1932, by Ludo Farrant.',
    'Ludo Farrant opened it in 1932.',
    'It was opened on March 19, 1932.',
  ])('[Y1] is accepted when the retrieved texts support it: "%s"', (answer) => {
    expect(confidenceIn(answer)).toBe(1);
  });

  it.each([
    'In 1933.',
    'By Peter Vane.',
    'I do not know.',
    'It was opened on 4 July 1950 by Peter Vane.',
    '\u{1f309} 42',
  ])('[Y1] is rejected when the retrieved texts support none of it: "%s"', (answer) => {
    expect(confidenceIn(answer)).toBeLessThanOrEqual(0.5);
  });

  it.each(['Not by Ludo Farrant.', 'Ludo Farrant never opened it.'])(
    '[Y1] is rejected when a word that no text has changes a quotation: "%s"',
    (answer) => {
      expect(confidenceIn(answer)).toBeLessThanOrEqual(0.5);
    },
  );

  // Known limitation: the names and numbers of a longer sentence are verbatim, and "not" weighs little.
  it.fails('[Y1] is rejected when a sentence with the right numbers contradicts the retrieved texts', () => {
    expect(confidenceIn('It was not opened in 1932.')).toBeLessThanOrEqual(0.5);
  });

  it('[Y1] is rejected when one of the two requested facts is unsupported', () => {
    expect(confidenceIn('It was opened on 19 March 1932 by Peter Vane.')).toBeLessThanOrEqual(0.5);
  });
});

describe('user satisfaction', () => {
  const thanks = 'No, that is all. Thank you, goodbye!';
  const satisfactionWith = (phase: 'yield' | null) => {
    const before = { ...assistantMessage('s6.m1', 'It was opened in 1932. Can I help you with anything else?'), phase };
    const messages = initialMessages(aChainInput({ request: thanks, messages: [userMessage('u', request), before] }));
    return checkAgainstEvidence(aState({ request: thanks, messages }), messages, results.yield.reply).evidence
      .satisfaction;
  };

  it('[Y1] is detected when earlier turns are passed as a history', () => {
    expect(satisfactionWith(null)).toBeGreaterThanOrEqual(0.5);
  });

  it('[Y1] is detected when the context of an earlier run is passed', () => {
    expect(satisfactionWith('yield')).toBeGreaterThanOrEqual(0.5);
  });
});
