import { describe, expect, it } from 'vitest';
import { isNoAnswer } from '../../../machines/heuristics/no-answer.ts';

describe('an answer', () => {
  it.each([
    'I could not find the designer.',
    'Nothing was found about the bridge.',
    'No information is available about the bridge.',
    'There is no mention of the bridge in the documents.',
    'The answer cannot be determined.',
    'The documents do not mention when the bridge was opened.',
    'The provided passages don’t contain this information.',
    'None of the documents mention the bridge.',
    'The date is not stated in the text.',
    'Die Dokumente erwähnen das nicht.',
    'In den Unterlagen steht dazu nichts.',
    'Dazu wurde nichts gefunden.',
    'Die Texte enthalten keine Angaben zur Brücke.',
    '文档中没有提到这一点。',
    '未找到相关信息。',
    'No lo sé.',
    'No se encontró nada.',
  ])('[Y14] says that there is none: %s', (text) => {
    expect(isNoAnswer(text)).toBe(true);
  });

  it.each([
    'No data is lost if the process is killed.',
    'No results are cached.',
    'No evidence is required for a visa.',
    'Error 404 means that the page cannot be found.',
    'The page is shown when a file cannot be found.',
    'We need more than three tickets.',
    'The documents do not expire.',
    'The engineers do not mention the bridge.',
    'No se puede fumar.',
    'Nothing is lost.',
    '第一班车5:28发车。',
  ])('[Y14] is one: %s', (text) => {
    expect(isNoAnswer(text)).toBe(false);
  });
});
