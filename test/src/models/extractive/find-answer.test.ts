import { describe, expect, it } from 'vitest';
import { findAnswer } from '../../../../src/models/extractive/find-answer.ts';
import { atOnce } from '../../../support/at-once.ts';
import { message, THREE_PHASE_CONTEXT } from '../../../support/extractive-inputs.ts';

const context = THREE_PHASE_CONTEXT.filter(({ role }) => role === 'search');
const answer = (request: string, ...contents: readonly string[]) =>
  atOnce(
    findAnswer(request, contents.length === 0 ? context : contents.map((content, at) => message(`m${at}`, content))),
  );

describe('the answer of the extractive model', () => {
  it('is a whole list with its introduction', () => {
    const { text, ids } = answer('In which order does Yield check its guards?');
    expect(text).toBe(
      'Yield checks these guards in order:\n1. `cycleLimitReached`\n2. `budgetExhausted`\n3. `confidenceReached`',
    );
    expect(ids).toEqual(['s1']);
  });

  it('is the whole paragraph, with no sentence missing', () => {
    const text = 'The pump starts by itself. It needs oil every month. Never use fat.';
    expect(answer('How often does the pump need oil?', `Care\n${text}\n\nThe lid needs nothing.`).text).toBe(text);
  });

  it('answers two questions in one sentence, or one of them', () => {
    const texts = [
      'Warranty\nThe warranty lasts 24 months.',
      'Returns\nA refund is paid within 14 days. You can return software with an intact seal.',
    ];
    const both = answer('When is the refund paid and how long is the warranty?', ...texts);
    expect(both).toMatchObject({ ids: ['m1', 'm0'], missing: [] });
    expect(both.confidence).toBeGreaterThan(0.5);
    expect(answer('How long is the warranty, and which colours are available?', ...texts)).toMatchObject({
      text: texts[0]?.split('\n')[1],
      confidence: 0,
      missing: ['colours', 'available'],
    });
  });

  it('lacks no word that only asks for a kind of information', () => {
    const visit = 'The castle is 300 m from the station. A visit of the castle is 4 euros for adults.';
    for (const request of ['How far is the castle from the station?', 'What does a visit of the castle cost?'])
      expect(answer(request, `Visits\n${visit}`)).toMatchObject({ text: visit, missing: [] });
  });

  it('is a table row under its header, or the whole table if no row is meant', () => {
    const table = 'Limits\n| name | default |\n| --- | --- |\n| maxCycles | five |\n| maxTokens | many |';
    expect(answer('What is the default of maxCycles?', table).text).toBe(
      '| name | default |\n| --- | --- |\n| maxCycles | five |',
    );
    expect(answer('Which limits have a default?', table).text).toContain('maxTokens | many');
  });

  it('is the whole section if its headings say what is asked', () => {
    const { text, confidence } = answer(
      'How do I clean the filter?',
      'Filter > Clean\nTake it out.\n\n- rinse it\n- dry it',
    );
    expect(text).toBe('Take it out.\n\n- rinse it\n- dry it');
    expect(confidence).toBeGreaterThan(0.6);
  });

  it('states plainly that nothing was found', () => {
    for (const request of ['How do I deploy to Kubernetes?', 'what is it', 'hi', '你好', 'Danke!'])
      expect(answer(request)).toMatchObject({
        text: expect.stringMatching(/^No passage answers this question: /),
        confidence: 0,
        ids: [],
      });
    expect(atOnce(findAnswer('anything', [])).ids).toEqual([]);
  });

  const CODE = 'Setup\nRun the tool:\n\n```sh\nnpm install pump --save-dev\n```\n\nThe tool has a pump.';

  it('does not count code as covering a question', () => {
    const { confidence, missing } = answer('What does npm install pump --save-dev do?', CODE);
    expect(confidence).toBeLessThanOrEqual(0.3);
    expect(missing).toContain('save');
  });

  it('quotes code only if the text introduces it or the question asks for it', () => {
    expect(answer('Which tool has a pump?', CODE).text).toBe('The tool has a pump.');
    expect(answer('With which command do I run the tool?', CODE).text).toContain('npm install pump --save-dev');
    const after = 'Setup\nThe tool starts at once.\n\n```sh\nstart\n```';
    expect(answer('When does the tool start?', after).text).not.toContain('```');
    expect(answer('How do I start the tool?', after).text).toContain('```sh\nstart\n```');
  });

  it.each([
    [
      'How many seats does the large room have?',
      'The large room has many seats and a stage.',
      'The large room has 16 seats.',
    ],
    [
      'When was the old bridge opened?',
      'The old bridge was opened by the queen.',
      'The old bridge was opened in 1887.',
    ],
    ['When is the honey harvested?', 'The honey is harvested by the club.', 'The honey is harvested in July.'],
    ['When is the hall closed?', 'The hall is closed. It may rain.', 'The hall is closed in May.'],
    ['Which version of Node does it support?', 'It supports Node on Linux.', 'It supports Node 20.'],
    ['Wie viele Sitze hat der große Saal?', 'Der große Saal hat bequeme Sitze.', 'Der große Saal hat 16 Sitze.'],
    ['2号线首班车几点发车?', '2号线首班车发车较早。', '2号线首班车6:00发车。'],
  ])('to %j has the kind of information asked for, or a low confidence', (request, without, having) => {
    expect(answer(request, without).confidence).toBeLessThanOrEqual(0.3);
    expect(answer(request, having).confidence).toBeGreaterThan(0.5);
    expect(answer(request, without, having).text).toBe(having);
  });

  it.each([
    ['Wie lange ist die Kündigungsfrist?', 'Die Frist für die Kündigung ist drei Monate lang.'],
    ['Wie lang ist die Frist für die Kündigung?', 'Die Kündigungsfrist beträgt drei Monate.'],
    ['Wo arbeitet Frau Müller?', 'Frau Mueller arbeitet im Haus B.'],
    ['Wo arbeitet Frau Mueller?', 'Frau Müller arbeitet im Haus B.'],
    ['Which colour does the organisation use?', 'The organization uses the color red.'],
  ])('may spell the words of "%s" differently: %s', (request, text) => {
    expect(answer(request, text)).toMatchObject({ text, missing: [] });
  });

  it.each([
    ['Is room 12 closed?', 'Room １２ is closed.', 'Room 13 is closed.'],
    ['Is room １２ closed?', 'Room 12 is closed.', 'Room 13 is closed.'],
  ])('has the number in the name, full-width or not: %s', (request, text, other) => {
    expect(answer(request, `${other}\n\n${text}`)).toMatchObject({ text, missing: [] });
  });

  it('has a confidence of at most 0.3 if a word of the question is missing, and lists the word', () => {
    const all = answer('What asks consent: a message longer than 1,000 characters?');
    const part = answer('What asks consent in the Zurich office of the company?');
    expect(all.confidence).toBeGreaterThanOrEqual(0.7);
    expect(part.confidence).toBeLessThanOrEqual(0.3);
    expect(part.missing).toEqual(['Zurich', 'office', 'company']);
  });

  it('is not confident if the words are in different items of a list', () => {
    const list = 'Timeline\n- 1798: the university is founded\n- 1967: the tram is closed';
    expect(answer('When was the university closed?', list).confidence).toBeLessThanOrEqual(0.3);
  });

  it('combines the items of a list that names what it is about', () => {
    const list = 'products > 1\n- name: Larch tent\n- weight: 2.4 kg\n- price: 289 EUR';
    expect(answer('price of the Larch tent', list).confidence).toBeGreaterThan(0.6);
    expect(answer('price of the Spruce tent', list).confidence).toBeLessThanOrEqual(0.3);
  });

  it('to one or two words has a limited confidence, and a low one unless a heading has them', () => {
    const content = 'Leave > Sabbatical\nAfter four years you can take a sabbatical. Say hi to the team.';
    expect(answer('sabbatical', content).confidence).toBeLessThan(0.7);
    expect(answer('sabbatical', content).text).toContain('After four years');
    expect(answer('hi team', content).confidence).toBeLessThanOrEqual(0.3);
  });

  it('has a lower confidence the fewer words of the question say what it is about', () => {
    const content = 'The pump of the old garden needs oil.';
    const [few, more, most] = [
      'What needs oil?',
      'Which pump needs oil?',
      'Does the pump of the old garden need oil?',
    ].map((request) => answer(request, content).confidence);
    expect(few).toBeLessThan(more ?? 0);
    expect(more).toBeLessThan(0.7);
    expect(most).toBeGreaterThan(0.7);
  });

  it.each([
    ['When does the first bus of line 3 leave?', 'The first bus of line 2 leaves at 3 and stops 3 times.'],
    ['Which map does version 5 of the app show?', 'Version 4 of the app\nThe map of version 4 shows 5 cities.'],
    ['Wann öffnet der große Saal 3?', 'Der große Saal 2 öffnet um 9 Uhr, nach 3 Stunden Pause.'],
    ['上海地铁三号线首班车几点发车?', '上海地铁二号线首班车5:28从三林站3号口发车。'],
    ['第三食堂每天几点关门?', '第二食堂每天21:00关门,三楼除外。'],
  ])('to %j is not confident if the text is about another number', (request, content) => {
    expect(answer(request, content).confidence).toBeLessThanOrEqual(0.3);
  });

  it.each([
    ['When does the first bus of line 3 leave?', 'The first bus of lines 1, 2 and 3 leaves at 5:40.'],
    ['When does the first bus of line 3 leave?', 'Line 3\nThe first bus leaves at 5:40, before line 2.'],
    ['Which map does version 5 of the app show?', 'The map of version 5 of the app shows cities.'],
    ['上海地铁三号线首班车几点发车?', '上海地铁三号线首班车5:28发车,二号线首班车5:40发车。'],
  ])('to %j is confident if the text is about that number', (request, content) => {
    expect(answer(request, content).confidence).toBeGreaterThanOrEqual(0.7);
  });

  it.each([
    ['What is a pump?', 'The pump needs oil.', 'A pump is a machine that moves water.'],
    ['What are filters?', 'Filters are sold here.', 'Keep dry. Filters are the paper cones in the lid.'],
    ['Was ist eine Pumpe?', 'Die Pumpe braucht Öl.', 'Eine Pumpe ist ein Gerät, das Wasser bewegt.'],
  ])('to %j is a text that defines the term, and is confident', (request, other, definition) => {
    const { text, confidence } = answer(request, other, definition, other);
    expect(text).toBe(definition);
    expect(confidence).toBeGreaterThanOrEqual(0.7);
  });

  it('to a question for a meaning prefers an entry for the term to other mentions', () => {
    const table = '\n| word | meaning |\n| --- | --- |\n| pump | it moves water |';
    const { text, confidence } = answer('What is a pump?', 'The pump needs oil.', table);
    expect(text).toBe(table.trim());
    expect(confidence).toBeLessThan(0.7);
  });

  it('has a lower confidence when another text fits as well', () => {
    const text = 'The pump needs oil every month.';
    const [clear, rivaled] = [[text], [text, text]].map((texts) =>
      answer('How often does the pump need oil?', ...texts),
    );
    expect(rivaled?.confidence).toBeLessThan(clear?.confidence ?? 0);
  });

  it('answers each question of a request, and is as confident as the least certain one', () => {
    const contents = ['Pump\nThe pump needs oil every month.', 'Lid\nThe lid closes after 20 seconds.'];
    const both = answer('How often does the pump need oil? When does the lid close?', ...contents);
    expect(both.ids).toEqual(['m0', 'm1']);
    expect(both.text).toBe('The pump needs oil every month.\n\nThe lid closes after 20 seconds.');
    const one = answer('How often does the pump need oil? How heavy is the door?', ...contents);
    expect(one).toMatchObject({ ids: ['m0'], confidence: 0, missing: ['heavy', 'door'] });
  });

  it('quotes both sides of a comparison', () => {
    const contents = ['Intention\nIntention is about the future.', 'Observation\nObservation keeps what matters.'];
    expect(answer('Compare Intention and Observation', ...contents).ids.toSorted()).toEqual(['m0', 'm1']);
  });
});
