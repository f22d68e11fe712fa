import { describe, expect, it } from 'vitest';
import { queriesIn, splitQuestion } from '../../../machines/text/asked-questions.ts';

describe('the questions of a request', () => {
  it.each([
    [
      'When does the library open, and what does a card cost?',
      ['When does the library open', 'what does a card cost?'],
    ],
    ['What is a cycle; also, who ends it?', ['What is a cycle; also, who ends it?']],
    ['Who built it and in which year?', ['Who built it', 'in which year?']],
    ['What does a card cost and is there a discount?', ['What does a card cost', 'is there a discount?']],
    ['Wann öffnet die Bibliothek und was kostet eine Karte?', ['Wann öffnet die Bibliothek', 'was kostet eine Karte?']],
    ['图书馆几点开门，办卡多少钱？', ['图书馆几点开门', '办卡多少钱？']],
    ['图书馆开门后，办卡多少钱？', ['图书馆开门后，办卡多少钱？']],
    ['What do bread and butter cost?', ['What do bread and butter cost?']],
  ])('%s', (sentence, questions) => {
    expect(splitQuestion(sentence)).toEqual(questions);
  });

  it('are searched for one by one, except those that refer to another', () => {
    const two = 'I am new. When does the library open, and what does a card cost?';
    expect(queriesIn(two)).toEqual([two, 'When does the library open', 'what does a card cost?']);
    const referring = 'Who built the bridge, and how long is it?';
    expect(queriesIn(referring)).toEqual([referring, 'Who built the bridge']);
    expect(queriesIn('library card')).toEqual(['library card']);
  });
});
