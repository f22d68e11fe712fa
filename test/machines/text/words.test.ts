import { describe, expect, it } from 'vitest';
import { changeBetween } from '../../../machines/policies/assessment.ts';
import { foldWord, wordSet, wordsOfRun } from '../../../machines/text/words.ts';

describe('words', () => {
  it('[Y2] are found in scripts without spaces', () => {
    expect(wordsOfRun('上海地铁').length).toBeGreaterThan(1);
    expect(wordsOfRun('รถไฟใต้ดิน').length).toBeGreaterThan(1);
    expect(wordsOfRun('Straßenbahn')).toEqual(['Straßenbahn']);
    expect(wordSet('上海地铁首班车几点发车?').size).toBeGreaterThan(3);
  });

  it('[Y2] make a small change of a Chinese answer small', () => {
    const before = '上海地铁首班车五点三十分从富锦路站发车，末班车二十二点三十分到达莘庄站。';
    expect(changeBetween(before, before.replace('首班车', '头班车'))).toBeLessThan(0.5);
  });

  it('are folded: lower case, without accents, possessive endings, and thousands separators', () => {
    expect(['Göttingen', "Bridge's", '10,000', 'Ёлка'].map(foldWord)).toEqual(['gottingen', 'bridge', '10000', 'елка']);
  });
});
