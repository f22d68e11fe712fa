import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerGradesSchema, type EvidenceText, type GradingInput } from '../../../machines/contracts/grading.ts';
import { answerFeatures, checkAnswer, gradeByDefault } from '../../../machines/heuristics/default-grader.ts';

const texts = (...contents: string[]): EvidenceText[] => contents.map((content, at) => ({ id: `t${at}`, content }));
const BRIDGE = texts(
  'The Helder Bridge was opened on 19 March 1932 by premier Jack Lang. It cost 6.25 million pounds.',
  'The Helder Bridge was designed by the engineer John Bradfield. Six workers died while Dorman Long built it.',
);
const SHANGHAI = texts('上海地铁1号线首班车5点30分从富锦路发车。', '末班车在22点30分到达莘庄站。');
const TRAM = texts('Die erste Straßenbahn fährt in Helder um 4:40 Uhr am Hafen ab.', 'Der Hafen wurde 1911 eröffnet.');

const supportFor = (request: string, answer: string, evidence: readonly EvidenceText[], compared?: 'names') =>
  checkAnswer(request, answer, compared)(evidence).support;

const grade = (changes: Partial<GradingInput>) =>
  gradeByDefault({
    request: 'Who designed the Helder Bridge?',
    answer: 'John Bradfield',
    rationale: '',
    claimsCompletion: true,
    instructions: null,
    evidence: BRIDGE,
    dialogue: [],
    ...changes,
  });

describe('grounding', () => {
  it.each([
    ['It freezes at -5 °C.', 'It freezes at −5 °C.', 'It freezes at 5 °C.'],
    ['She teaches C#.', 'She teaches C#.', 'She teaches C++.'],
    ['The fee is 20 euros.', 'The fee is €20.', 'The fee is $20.'],
    ['The donor has blood group A-.', 'The donor has A−.', 'The donor has A+.'],
    ['Parcels of <5 kg are free.', 'Parcels <5 kg are free.', 'Parcels >5 kg are free.'],
  ])('of %j supports an answer with the same sign, and not with another', (content, right, wrong) => {
    expect(supportFor('What is it?', right, texts(content))).toBeGreaterThan(0.8);
    expect(supportFor('What is it?', wrong, texts(content))).toBeLessThan(0.5);
  });

  it.each([
    ['Who designed it?', 'John Bradfield', BRIDGE],
    ['When was the Helder Bridge opened?', 'On 19 March 1932', BRIDGE],
    ['上海地铁首班车几点发车?', '5点30分', SHANGHAI],
    ['Wann fährt die erste Straßenbahn?', 'um 4:40 Uhr', TRAM],
  ])('[Y1] is full for a quotation in any language: %s %s', (request, answer, evidence) => {
    expect(supportFor(request, answer, evidence)).toBeGreaterThan(0.9);
  });

  it.each([
    ['3 May 2024', '2024-05-03'],
    ['May 3, 2024, 10:00:00Z', '{"shipped":"2024-05-03T10:00:00Z"}'],
    ['3rd of May, 2024', '03.05.2024'],
    ['am 3. Mai 2024', 'On 3 May 2024.'],
    ['le 3 mai 2024', '2024/5/3'],
    ['el 3 de mayo de 2024', '3-May-2024'],
    ['2024-05-31', '5/31/2024'],
    ['31 Jan. 2024', '31/1/2024'],
    ['3,5 million', '3.5 million'],
    ['1.234,56 euros', '1,234.56 euros'],
    ['0,1234 euros', '0.1234 euros'],
  ])('[Y1] is full for a date or number that a text has in another form: %s, %s', (answer, text) => {
    for (const [one, other] of [
      [answer, text],
      [text, answer],
    ] as const)
      expect(supportFor('When or how much?', one, texts(`It was ${other}`, 'Ferries'), 'names')).toBe(1);
  });

  it('[Y1] is full for the first day of a range of dates', () => {
    const passages = texts('It is open from 3 to 5 May 2024, and from 4 to 9 June 2024.');
    expect(supportFor('When?', '3 May 2024', passages, 'names')).toBe(1);
  });

  it.each([
    ['3 June 2024', '2024-05-03'],
    ['4 May 2024', '2024-05-03'],
    ['3 May 2024', '2024-03-05'],
    ['5 March 2024', 'on 3 May 2024, not in March'],
    ['3 May 2024', '05/03/2024'],
    ['3 May 2024', 'It began on 5 May 2024 and ended on 3 June 2024.'],
    ['3 May 2024', 'It began on May 5 and ended on June 3, 2024.'],
    ['3,500 million', '3.5 million'],
    ['35 million', '3,5 million'],
  ])('[Y1] is low for another date or number than that of the text: %s, %s', (answer, text) => {
    expect(supportFor('When or how much?', answer, texts(`It was ${text}`), 'names')).toBeLessThan(0.5);
  });

  it.each([
    ['Who designed it?', 'Helen Marsh of Cremona', BRIDGE],
    ['When was the Helder Bridge opened?', 'In 1933', BRIDGE],
    ['上海地铁首班车几点发车?', '北京南站', SHANGHAI],
    ['Wann fährt die erste Straßenbahn?', 'um 6:15 nachmittags', TRAM],
  ])('[Y1] is low for what no text has, in any language: %s %s', (request, answer, evidence) => {
    expect(supportFor(request, answer, evidence)).toBeLessThan(0.5);
  });

  it.each(['yes', 'Nein.', '是', '', '…', 'It is so.'])('[Y1] is null when there is nothing to check: %j', (answer) => {
    expect(supportFor('Was it opened in 1932?', answer, BRIDGE)).toBeNull();
  });

  it('[Y1] is null for a text that needs no source, and without evidence', () => {
    expect(supportFor('Write a poem about the bridge', 'O arch of iron, leap from shore to shore', BRIDGE)).toBeNull();
    expect(supportFor('Who designed it?', 'John Bradfield', [])).toBeNull();
  });

  // Oracle: the numbers of the text, and the sum and difference of the two that share a sentence and a unit.
  it('[Y1] accepts no other number than those of a text and the sum or difference of two with its unit', () => {
    const number = fc.integer({ min: 2, max: 60 });
    fc.assert(
      fc.property(number, number, number, number, (one, other, days, given) => {
        const text = `The ferry takes ${one} hours and the train ${other} hours. The walk takes ${days} days.`;
        const computed = one === other ? [] : [one + other, Math.abs(one - other)];
        const accepted = [one, other, days, ...computed];
        const support = supportFor('How long?', `Exactly ${given} hours.`, texts(text), 'names');
        expect(support).toBe(accepted.includes(given) ? 1 : 0);
      }),
    );
  });

  // Oracle: words of six letters and more that no sentence shares have equal weights.
  it('[Y1] is the share of the words that any text has', () => {
    const word = fc.integer({ min: 100, max: 999 }).map((at) => `word${'abcdefghij'[at % 10]}${at}x`);
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 2, maxLength: 12 }), fc.nat(), (words, cut) => {
        const found = words.slice(0, cut % (words.length + 1));
        const support = supportFor('?', words.join(' '), texts(...found, 'unrelated'));
        if (found.length === 0) expect(support).toBe(0);
        else if (found.length === words.length) expect(support).toBe(1);
        else expect(support).toBeGreaterThan(0);
        expect(
          supportFor('?', words.join(' '), texts(...found, 'unrelated', ...words.slice(-1))),
        ).toBeGreaterThanOrEqual(support ?? 0);
      }),
    );
  });
});

describe('the grade of a claimed completion', () => {
  it.each([
    ['Who designed the Helder Bridge?', 'John Bradfield', BRIDGE],
    ['Who designed the Helder Bridge?', 'The engineer who designed the bridge was John Bradfield.', BRIDGE],
    ['When was the Helder Bridge opened?', 'It was opened on 19 March 1932 by premier Jack Lang.', BRIDGE],
    ['Was the Helder Bridge opened in 1932?', 'Yes', BRIDGE],
    ['Which was opened first, the Helder Bridge or the Long Tunnel?', 'the Helder Bridge', BRIDGE],
    ['Write a poem about the bridge', 'O arch of iron, leap from shore to shore and carry evening home', BRIDGE],
    ['上海地铁首班车几点发车?', '5点30分', SHANGHAI],
    ['Wann fährt die erste Straßenbahn?', 'um 4:40 Uhr', TRAM],
    ['Who designed the Helder Bridge?', 'John Bradfield', []],
  ])('[Y1] is believed: %s %s', (request, answer, evidence) => {
    expect(grade({ request, answer, evidence }).completion).toBeGreaterThanOrEqual(0.5);
  });

  it.each([
    ['Who designed the Helder Bridge?', 'John Lang', BRIDGE, 'combined from two texts'],
    ['Who designed the Helder Bridge?', 'John Bradfield of Oslo', BRIDGE, 'with an added detail'],
    ['Who designed the Helder Bridge?', 'I could not find the designer.', BRIDGE, 'not an answer'],
    ['Wer hat die Brücke entworfen?', 'Das weiß ich nicht.', BRIDGE, 'not an answer'],
    ['上海地铁首班车几点发车?', '没有找到', SHANGHAI, 'not an answer'],
    ['Who designed the Helder Bridge?', '', BRIDGE, 'empty'],
  ])('[Y1] is disbelieved: %s %s (%4$s)', (request, answer, evidence) => {
    expect(grade({ request, answer, evidence }).completion).toBeLessThan(0.5);
  });

  it('[Y1] falls when the search returns the same text again and the answer is not in it', () => {
    const answer = 'Oslo';
    const [text] = BRIDGE;
    if (text === undefined) throw new Error('no text');
    expect(grade({ answer, evidence: [text] }).completion).toBeGreaterThanOrEqual(0.5);
    expect(grade({ answer, evidence: [text, { ...text, id: 'again' }] }).completion).toBeLessThan(0.5);
  });
});

describe('the grade of the evidence', () => {
  const request = 'Who was the first president of the association that publishes the Helder Journal?';
  const journal = 'Helder Journal\nThe Helder Journal is published by the Norland Psychology Association.';
  const president = 'Adolescence\nGeorge Hall, the first president of the Norland Psychology Association, wrote it.';
  const other = 'Person-centered therapy\nIt was developed by Carl Rogers, president of a college.';

  it('[Y3] is higher with both steps of a question than with another text in place of one', () => {
    const both = grade({ request, evidence: texts(journal, president, other) }).sufficiency;
    const first = grade({ request, evidence: texts(journal, other) }).sufficiency;
    expect(both).toBeGreaterThanOrEqual(0.7);
    expect(first).toBeLessThan(both);
  });

  it('[Y3] is 0 without evidence', () => {
    expect(grade({ evidence: [] }).sufficiency).toBe(0);
  });
});

describe('the grade of the closing words', () => {
  const satisfaction = (answer: string, last: string) =>
    grade({
      dialogue: [
        { role: 'user', content: 'When was it opened?' },
        { role: 'assistant', content: answer },
        { role: 'user', content: last },
      ],
    }).satisfaction;

  it.each([
    ['Anything else?', 'No, that is all. Thanks!'],
    ['It was opened in 1932.', "That's it, thank you."],
    ['Kann ich sonst noch helfen?', 'Nein danke, das war alles.'],
    ['¿Algo más?', 'No, gracias.'],
    ['还有别的吗？', '没有了，谢谢'],
  ])('[Y1] is satisfied: %s %s', (answer, last) => {
    expect(satisfaction(answer, last)).toBeGreaterThanOrEqual(0.5);
  });

  it.each([
    ['It was opened in 1932.', 'And who designed it?'],
    ['Should I book it?', 'Yes, please.'],
    ['It was opened in 1932.', 'Tell me everything about the engineer who designed it.'],
    ['For when?', 'No, for 3 people on 4 May.'],
    ['1932 年开通。', '谁设计的？'],
    ['It was opened in 1932.', 'Thanks, but is that the year of the tram?'],
  ])('[Y1] is not satisfied: %s %s', (answer, last) => {
    expect(satisfaction(answer, last)).toBeLessThan(0.5);
  });

  it('[Y1] is 0 before the first answer', () => {
    expect(grade({ dialogue: [{ role: 'user', content: 'Thanks, bye!' }] }).satisfaction).toBe(0);
  });
});

describe('contradictions in a request', () => {
  it.each([
    'Describe the museum. Include prices. Do not include prices.',
    'List the hotels, include prices, without prices.',
    'Beschreibe das Museum. Nenne Preise, ohne Preise.',
    'Describe the bridge in one word. Use at least 200 words.',
  ])('[C6] are found: %s', (request) => {
    expect(grade({ request }).contradictions).toHaveLength(1);
  });

  it.each([
    'Should I include prices or not include prices?',
    'Compare phones with a headphone jack and phones without a headphone jack.',
    'Include prices for hotels. Do not include prices for restaurants.',
    'In the table include prices. In the text, do not include prices.',
    'Include prices. Do not include prices, unless they are in euros.',
    'Include prices. Actually, do not include prices.',
    'Version A: include prices. Version B: do not include prices.',
    'Translate "include prices, do not include prices" into French.',
    'Write at most 200 words. Then add a title of at least 5 words.',
    'Describe the bridge in at most 200 words.',
  ])('[C6] are not imagined: %s', (request) => {
    expect(grade({ request }).contradictions).toEqual([]);
  });
});

describe('all grades', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('Who?', '1932', 'No more.', '没有', 'a.\n\nb'),
  );

  it('[Y1] [Y3] are in their range for any text, and the same each time', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.array(anyText, { maxLength: 4 }), (request, answer, contents) => {
        const evidence = texts(...contents);
        const dialogue = [
          { role: 'assistant' as const, content: answer },
          { role: 'user' as const, content: request },
        ];
        const grades = grade({ request, answer, evidence, dialogue });
        expect(answerGradesSchema.safeParse(grades).error).toBeUndefined();
        expect(grade({ request, answer, evidence, dialogue })).toEqual(grades);
      }),
    );
  });

  it('[Y12] come from features that are finite', () => {
    const { completion, sufficiency } = answerFeatures({
      request: '?',
      answer: '',
      rationale: '',
      claimsCompletion: false,
      instructions: null,
      evidence: [],
      dialogue: [],
    });
    for (const value of Object.values({ ...completion, ...sufficiency })) expect(Number.isFinite(value)).toBe(true);
  });
});
