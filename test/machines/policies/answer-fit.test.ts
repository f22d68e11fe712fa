import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerFit, requestKind } from '../../../machines/heuristics/answer-fit.ts';

const LONG =
  'First the caissons were sunk, then the arch was raised from both shores with cranes, and at last the deck was hung.';
const fits = (request: string, answer: string) => answerFit(request, answer).score === 1;

describe('the answer type of a request', () => {
  it.each([
    ['Who designed the Helder Bridge?', 'person'],
    ['The Helder Bridge was designed by whom?', 'person'],
    ['When was the Helder Bridge opened?', 'date'],
    ['In what year was it opened?', 'date'],
    ['The bridge that who knows whom built was opened in which month?', 'date'],
    ['Where is the Helder Bridge?', 'place'],
    ['In which Dutch province does it stand?', 'place'],
    ['How many people died?', 'number'],
    ['What is the population of the town?', 'number'],
    ['How far is it from the sea?', 'number'],
    ['Which firm built it?', 'thing'],
    ['Tell the story. It has ended. What firm built it', 'thing'],
    ['Is it older than the Tower Bridge?', 'yes-no'],
    ['Did anyone die while it was built?', 'yes-no'],
    ['Is it a bridge or a tunnel?', 'choice'],
    ['Which is older, the Helder Bridge or the Tower Bridge?', 'choice'],
    ['Which of the two bridges is older?', 'choice'],
    ['What is a caisson?', 'open'],
    ['What is Zellige?', 'open'],
    ['Why did they build it?', 'open'],
    ['How does a caisson work?', 'open'],
    ['How was it built?', 'open'],
    ['Explain how it was built.', 'open'],
    ['Could you tell me who built it?', 'open'],
    ['List all bridges of the region', 'open'],
    ['When was it opened and who designed it?', 'open'],
    ['Who built it? And when?', 'open'],
    ['Everything about the bridge', 'open'],
    ['My brother, who is ill, lives where the old bridge was.', 'open'],
    ['in which year was it opened', 'date'],
    ['', 'open'],
    ['Write a poem about the bridge', 'writing'],
    ['Please translate this into French: where is the bridge?', 'writing'],
  ])('[Y1] is detected for "%s": %s', (request, kind) => {
    expect(requestKind(request)).toBe(kind);
  });
});

describe('answer fit', () => {
  it.each([
    ['Who designed it?', 'John Bradfield'],
    ['Who designed it?', 'It was designed by the engineer John Bradfield and his staff at the department of works.'],
    ['When was it opened?', 'On 19 March 1932'],
    ['When was it opened?', 'in spring'],
    ['How many people died?', 'six'],
    ['How many people died?', 'None of them'],
    [
      'Is it older than the Tower Bridge?',
      'No, it was built forty years later than the other one, as its rivets show.',
    ],
    ['Which is older, the Helder Bridge or the Tower Bridge?', 'the Tower Bridge'],
    ['How was it built?', LONG],
    ['Why was it built?', LONG.repeat(20)],
    [
      'What is a caisson?',
      'A caisson is a watertight chamber, open at the bottom, from which the water is kept out by air.',
    ],
    ['List all bridges', '- Helder Bridge\n- Tower Bridge\n- Long Bridge\n- Old Bridge\n- Iron Bridge\n- Rope Bridge'],
    ['Write a poem about it', 'O steel that leaps from shore to shore, who made thee?'],
  ])('[Y1] is full for %s: %s', (request, answer) => {
    expect(answerFit(request, answer).score).toBe(1);
  });

  it.each([
    ['How many people died?', 'the Helder Bridge', 'kindFits'],
    ['When was it opened?', 'Jack Lang', 'kindFits'],
    ['Who designed it?', '1932', 'kindFits'],
    ['Which firm built it, Long or Stone?', 'John Bradfield, Jack Lang, Helen Marsh', 'tooLong'],
    [
      'Who designed it?',
      `It was ${LONG.repeat(2)} ${'arch bolt crane girder hoist joist kiln ladder mast nut'}`,
      'tooLong',
    ],
    ['Who designed it?', 'John Bradfield, Jack Lang, Helen Marsh, Ada Stone', 'tooLong'],
    ['Which firm built it?', LONG.replaceAll(/\bwas|were\b/g, '').repeat(2), 'tooLong'],
    ['Who designed the Helder Bridge in 1932?', 'The Helder Bridge was designed in 1932.', 'addsNothing'],
    ['Who designed it?', 'Who designed which bridge in the north?', 'asksBack'],
  ])('[Y1] is low for %s: %s (%s)', (request, answer, signal) => {
    const { score, signals } = answerFit(request, answer);
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThan(0.5);
    expect(signals[signal]).toBe(signal !== 'kindFits');
  });

  it.each([
    '',
    ' \n',
    '...',
    'Unknown',
    'Not found.',
    'N/A',
    'The answer is unknown.',
    'No information available',
    'I could not find who designed it.',
    'I couldn’t find the designer of the bridge.',
    "I don't know.",
    'I need to search again with other words.',
    'We still need more information about the bridge.',
    'It cannot be determined from the texts.',
    'The name of the designer is not mentioned.',
    'There is not enough information to answer.',
  ])('[Y1] is zero for the non-answer %j', (answer) => {
    expect(answerFit('Who designed it?', answer)).toMatchObject({ score: 0, signals: { answered: false } });
    expect(answerFit('Explain how it was built.', answer).score).toBe(0);
  });

  it('[Y1] allows an answer to hedge a detail after the actual answer', () => {
    expect(fits('How was it built?', `${LONG} How many rivets it took is not known.`)).toBe(true);
    expect(fits('How was it built?', `${LONG.replaceAll('.', ', ').repeat(4)} and by whom is not known.`)).toBe(true);
  });

  it.each([
    ['Should I paint it now?', "I don't recommend it before spring."],
    ['How do I find the load of the arch?', 'We need to find the thrust first, and I will determine it from the rise.'],
    ['Is the north stair open?', 'No, it is not available in winter.'],
    ['How many steps has it?', 'Nothing but a ladder of 40 rungs.'],
  ])('[Y1] accepts a negation, a plan, or a wish within an answer: %s %s', (request, answer) => {
    expect(answerFit(request, answer).signals['answered']).toBe(true);
  });

  it('[Y1] is never reduced for an open request, however long the answer is', () => {
    const words = fc.array(fc.constantFrom('arch', 'deck', 'is', 'steel', 'Lang', '1932', 'the'), { minLength: 1 });
    fc.assert(
      fc.property(words, words, (some, more) => {
        const short = answerFit('Explain how it was built.', some.join(' ')).score;
        expect(answerFit('Explain how it was built.', [...some, ...more].join(' ')).score).toBe(short);
      }),
    );
  });

  it('[Y1] is zero, low, or full for any text', () => {
    const anyText = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('Who?', 'When was it?', 'a or b?'),
    );
    fc.assert(
      fc.property(anyText, anyText, (request, answer) => {
        expect([0, 0.3, 1]).toContain(answerFit(request, answer).score);
      }),
    );
  });

  it.each(['or ', 'what a ', 'between a and ', 'is not ', '? ', ' ', "I can't "])(
    'terminates for 10 MB of %j',
    (part) => {
      const long = part.repeat(10_000_000 / part.length);
      expect(answerFit(long, long).score).toBeGreaterThanOrEqual(0);
      expect(answerFit(`${long}Who designed it?`, long).signals['kind']).toBeTypeOf('string');
    },
  );
});
