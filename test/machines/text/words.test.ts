import { describe, expect, it, vi } from 'vitest';
import { changeBetween } from '../../../machines/text/similarity.ts';
import { stemsOf } from '../../../machines/text/terms.ts';
import { foldWord, partsOf, wordSet, wordsOfRun } from '../../../machines/text/words.ts';

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

it('the words of a short text are found once for several reads, those of a long text for each read', () => {
  const exec = vi.spyOn(RegExp.prototype, 'exec');
  const searches = (text: string): number => {
    exec.mockClear();
    wordSet(text);
    // The other expressions look at one word.
    return (exec.mock.contexts as RegExp[]).filter((pattern) => pattern.global && pattern.source.includes('(?<=\\s)'))
      .length;
  };
  const [short, long] = ['one short text', 'a long text '.repeat(100)];
  const first = [searches(short), searches(long)];
  const second = [searches(short), searches(long)];
  exec.mockRestore();
  expect(first[0]).toBeGreaterThan(3);
  expect(second).toEqual([0, first[1]]);
});

it.each([
  ['3,5', '3.5'],
  ['1.234,56', '1234.56'],
  ['1,234.56', '1234.56'],
  ['1,234', '1234'],
  ['12,3456', '12.3456'],
  ['1,2,3', '1,2,3'],
  ['1.2.3', '1.2.3'],
])('numbers have a point before their decimals, and no separators of thousands: %s', (written, plain) => {
  expect(foldWord(written)).toBe(plain);
});

describe('words that differ only in how they are written', () => {
  it.each([
    ['soft hyphens', 'Ge\u00ADsamt\u00ADkon\u00ADzept', 'Gesamtkonzept'],
    ['a zero-width space', 'Gesamt\u200Bkonzept', 'Gesamtkonzept'],
    ['a word joiner and a byte order mark', 'Gesamt\u2060kon\uFEFFzept', 'Gesamtkonzept'],
    ['a direction mark', 'Gesamt\u200Ekonzept', 'Gesamtkonzept'],
    ['a variation selector', 'Gesamt\uFE0Fkonzept', 'Gesamtkonzept'],
    ['a Mongolian selector and a Hangul filler', 'Gesamt\u180Bkon\u3164zept', 'Gesamtkonzept'],
    ['a variation of a Han character', '葛\u{E0100}城', '葛城'],
    ['apostrophes', 'l’eau aujourdʼhui צ׳ק', "l'eau aujourd'hui צ'ק"],
    ['letters that keyboards lack', 'Straße œuvre Łódź', 'Strasse oeuvre Lodz'],
    ['the Turkish i', 'IŞIK', 'ışık'],
    ['ligatures of Yiddish', 'ייִדיש ײַ װ', 'יידיש יי וו'],
    ['a soft hyphen after an apostrophe', "aujourd'hu\u00ADi", "aujourd'hui"],
    ['Arabic vowel marks', 'مَكْتَبَةٌ', 'مكتبة'],
    ['the Arabic elongation', 'كتـــاب', 'كتاب'],
    ['the forms of alef', 'أحمد إلى آخر ٱسم', 'احمد الى اخر اسم'],
    ['alef maqsura and teh marbuta', 'مصطفى مدرسة', 'مصطفي مدرسه'],
    ['Persian letters', 'کتابی', 'كتابي'],
    ['Urdu letters that other keyboards lack', 'لائبریری میں ہے کھلتی', 'لائبريري مين هي كهلتي'],
    ['Uyghur letters that other keyboards lack', 'كىتابى مەكتەپ', 'كيتابي مهكتهپ'],
    ['presentation forms', 'ﻛﺘﺎﺏ', 'كتاب'],
    ['a joiner in Persian', 'می\u200Cخواهم', 'میخواهم'],
    ['Hebrew points', 'שָׁלוֹם', 'שלום'],
    ['final letters of Hebrew', 'שלומ', 'שלום'],
    ['Arabic digits', '٢٠٢٥', '2025'],
    ['Persian digits', '۱۲۳', '123'],
    ['Devanagari digits', '४५', '45'],
    ['Thai and Khmer digits, alone and within words', '๑๒ หน้า๓ ៤៥', '12 หน้า3 45'],
    ['digits in full width', '１２', '12'],
    ['the nukta of Hindi', 'ज़रूरत', 'जरूरत'],
    ['Korean particles', '도서관은 도서관에서', '도서관을 도서관'],
    ['Arabic separators of numbers', '٣٫١٤ ١٬٠٠٠', '3.14 1000'],
    ['a final sigma', 'ΛΌΓΟΣ', 'λόγος'],
    ['decomposed letters', 'e\u0301te\u0301', 'été'],
    ['a soft hyphen in Chinese', '图\u00AD书馆', '图书馆'],
  ])('are the same for a search: %s', (_, one, other) => {
    expect(stemsOf(one)).toEqual(stemsOf(other));
    expect(stemsOf(one).length).toBeGreaterThan(0);
  });

  it.each([
    ['vowel signs of Hindi', 'किताब', 'कताब'],
    ['Thai vowels', 'กิน', 'กน'],
    ['different digits', '٢٠٢٥', '2024'],
    ['other letters', 'كتاب', 'كتب'],
  ])('but not if they are other words: %s', (_, one, other) => {
    expect(stemsOf(one)).not.toEqual(stemsOf(other));
  });

  it('are the same word and parts', () => {
    expect([...wordSet('Ge\u00ADsamt')]).toEqual([...wordSet('Gesamt')]);
    expect(partsOf('Ge\u00ADsamt')).toEqual(['gesamt']);
  });
});
