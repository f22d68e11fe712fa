import { describe, expect, it } from 'vitest';
import type { CapabilityResult, StopReason } from '../../../../machines/contracts/capability.ts';
import type { ChainState } from '../../../../machines/contracts/chain-state.ts';
import type { AnswerReason } from '../../../../machines/contracts/synthesis.ts';
import { answerOf } from '../../../../machines/policies/synthesis/value.ts';
import { NO_USAGE } from '../../../../machines/policies/usage.ts';
import {
  aCapabilityResult,
  aDecision,
  aMessage,
  anAssessment,
  aPassage,
  aState,
  results,
  someThresholds,
} from '../../../support/contract-samples.ts';

const passage = 'The city museum opens from 7:30 to 15:30. Tickets cost 12 euros.';
const document = (content: string) => aMessage({ id: 'museum.md#L1', role: 'search', phase: 'experience', content });
const found = document(passage);

/** A run with documents that ended with a good answer. */
const good = aState({
  request: 'When does the museum open?',
  hasDocuments: true,
  results,
  assessment: anAssessment(),
  decision: aDecision(),
  recursion: { cycle: 1, completedCycles: 1 },
});

interface Given {
  readonly text: string;
  readonly confidence?: number;
  readonly messages?: ChainState['messages'];
  readonly changes?: Partial<ChainState>;
}

function answerWith({ text, confidence = 0.93, messages = [found], changes = {} }: Given) {
  const reply = { answerText: text, confidence, usedMessageIds: [], usedStepIds: [], notes: '' };
  const written = { type: 'written', prose: false, reply, usage: NO_USAGE } as const;
  return answerOf({ ...good, messages, written, ...changes });
}

const codesOf = ({ reasons }: { readonly reasons: readonly AnswerReason[] }) => reasons.map(({ code }) => code);

const RIGHT = 'The museum opens at 7:30 and closes at 15:30.';
const WRONG = 'It runs from 9:00 to 17:00.';
const tool = (content: string) => [aMessage({ id: 's1.m1', role: 'search', content: `lookup: ${content}` })];

describe('the reasons of an answer', () => {
  it.each<[string, Given, readonly AnswerReason['code'][]]>([
    ['nothing', { text: RIGHT }, []],
    ['no document supports it', { text: 'By ferry from the old harbor.' }, ['not_grounded', 'low_confidence']],
    ['a document has other numbers', { text: WRONG }, ['contradicted', 'not_grounded', 'low_confidence']],
    [
      'one of its numbers is wrong',
      { text: 'The city museum opens from 7:30 to 17:00.' },
      ['contradicted', 'not_grounded', 'low_confidence'],
    ],
    [
      'a tool has no number of it',
      { text: 'The order costs 99 euros.', messages: tool('{"total": 12.5}') },
      ['not_grounded', 'low_confidence'],
    ],
    ['the search found nothing', { text: RIGHT, messages: [] }, ['not_grounded', 'low_confidence']],
    ['it says that nothing was found', { text: 'The documents do not mention it.' }, ['no_evidence']],
    [
      'a tool ran, but no text supports it',
      { text: 'Dogs may swim in the fountain.', messages: [found, ...tool('it is noon')] },
      ['not_grounded', 'low_confidence'],
    ],
    [
      'the user said the same earlier, and the documents say otherwise',
      {
        text: WRONG,
        messages: [aMessage({ id: 'h1', role: 'user', content: 'I think it runs from 9:00 to 17:00.' }), found],
      },
      ['contradicted', 'not_grounded', 'low_confidence'],
    ],
    ...([null, 'action', 'yield'] as const).map((phase): [string, Given, readonly AnswerReason['code'][]] => [
      `only the assistant said the same earlier (phase: ${phase})`,
      {
        text: 'Dogs may swim in the fountain.',
        messages: [found, aMessage({ id: 'h1', role: 'assistant', phase, content: 'Dogs may swim in the fountain.' })],
      },
      ['not_grounded', 'low_confidence'],
    ]),
    [
      'a document has the number in another unit',
      {
        text: 'The warranty lasts 2 years.',
        messages: [document('The warranty lasts 24 months.')],
        changes: { request: 'How long does the warranty last?' },
      },
      ['not_grounded', 'low_confidence'],
    ],
    ...[
      'Thanks. When does the museum open?',
      'Thanks, now the opening hours',
      'Opening hours',
      '谢谢，博物馆几点开门',
    ].map((request): [string, Given, readonly AnswerReason['code'][]] => [
      `nothing supports the answer to “${request}”`,
      { text: 'Whenever somebody knocks.', changes: { request } },
      ['not_grounded', 'low_confidence'],
    ]),
    [
      'the answer to a greeting states what no text has',
      { text: 'Hello! The museum was built by Napoleon in 1815.', changes: { request: 'Hello!' } },
      ['not_grounded', 'low_confidence'],
    ],
    [
      'a number is the sum of numbers of a passage that have other units',
      { text: 'A family ticket costs 27 euros.', changes: { request: 'What does a family ticket cost?' } },
      ['not_grounded', 'low_confidence'],
    ],
    [
      'a number is the sum of numbers of two sentences',
      {
        text: 'Both cost 18 euros.',
        messages: [document('Adults pay 12 euros. Children pay 6 euros.')],
        changes: { request: 'What do an adult and a child pay?' },
      },
      ['not_grounded', 'low_confidence'],
    ],
    ['its writer is unsure', { text: RIGHT, confidence: 0.5 }, ['low_confidence']],
    ['its writer is not sure, but not unsure', { text: RIGHT, confidence: 0.51 }, []],
  ])('[S1] match if %s', (_, given, codes) => {
    const answer = answerWith(given);
    expect(codesOf(answer)).toEqual(codes);
    expect(answer.status).toBe(codes.length === 0 ? 'completed' : 'degraded');
    for (const { message } of answer.reasons) expect(answer.notes).toContain(message);
  });

  it('[S1] does not trust a text more because it was written again', () => {
    const doubted = good.assessment && {
      ...good.assessment,
      answer: RIGHT,
      confidence: 0.5,
      evidence: { ...good.assessment.evidence, modelConfidence: 0.95 },
    };
    expect(answerWith({ text: RIGHT, changes: { assessment: doubted } })).toMatchObject({
      confidence: 0.5,
      reasons: [{ code: 'low_confidence' }],
    });
    const other = 'On each day, the museum opens at 7:30; it closes at 15:30.';
    expect(answerWith({ text: other, changes: { assessment: doubted } })).toMatchObject({
      confidence: 0.93,
      reasons: [],
    });
  });

  it.each<[string, Given]>([
    [
      'a numbered list',
      { text: '1. The city museum opens at 7:30.\n2. It closes at 15:30.\n3. Tickets cost 12 euros.' },
    ],
    ['arithmetic', { text: '17 times 23 is 391.', changes: { request: 'What is 17 times 23?' } }],
    ['a bare result', { text: '391', messages: [], changes: { request: 'What is 17 * 23?' } }],
    [
      'a calculation with numbers of the documents',
      { text: 'They cost 2 × 12 = 24 euros.', changes: { request: 'What do 2 tickets cost?' } },
    ],
    [
      'the sum of two numbers of a sentence with the same unit',
      {
        text: 'Together they pay 18 euros.',
        messages: [document('Adults pay 12 euros and children 6 euros.')],
        changes: { request: 'What do an adult and a child pay?' },
      },
    ],
    ...[
      'Thanks!',
      'Hello there',
      'Vielen Dank!',
      'Merci beaucoup',
      'No, that is all. Thank you so much.',
      '谢谢！',
    ].map((request): [string, Given] => [
      `the answer to “${request}”`,
      { text: 'You are welcome! Tell me if you need anything else.', messages: [], changes: { request } },
    ]),
    ['what a tool did', { text: 'Done, your table is booked.', messages: tool('{"ok":true}') }],
    ['the result of a tool', { text: 'It is 21 degrees.', messages: tool('{"temperature": 21, "unit": "degrees"}') }],
    ['an answer without documents', { text: WRONG, messages: [], changes: { hasDocuments: false } }],
    ['a text that was requested', { text: 'Dawn gilds the roofs.', changes: { request: 'Write a poem about Rome.' } }],
    ['a yes', { text: 'Yes.' }],
    [
      'what the user said before',
      {
        text: 'Your name is Ada.',
        messages: [found, aMessage({ id: 'h1', role: 'user', phase: null, content: 'Hello, my name is Ada.' })],
        changes: { request: 'What is my name?' },
      },
    ],
  ])('[S1] are empty for %s', (_, given) => {
    expect(answerWith(given)).toMatchObject({ status: 'completed', reasons: [] });
  });

  it('[S1] have the compared values, and the unsupported sentences with their position in the text', () => {
    const { answerText, reasons, grounding } = answerWith({ text: `${RIGHT} Dogs may swim in the fountain!` });
    expect(reasons).toEqual([]);
    expect(grounding).toMatchObject({ threshold: 0.5, unsupported: [{ text: 'Dogs may swim in the fountain!' }] });
    for (const { text, start, end } of grounding?.unsupported ?? []) expect(answerText.slice(start, end)).toBe(text);
    const wrong = answerWith({ text: WRONG });
    expect(wrong.confidence).toBe(0.5);
    expect(wrong.reasons).toMatchObject([
      { code: 'contradicted', by: ['museum.md#L1'] },
      { code: 'not_grounded', score: wrong.grounding?.score, threshold: 0.5 },
      { code: 'low_confidence', confidence: 0.5, threshold: 0.5 },
    ]);
  });

  it('[S1] use the thresholds of the run', () => {
    const lenient = { thresholds: someThresholds({ grounding: 0, confidence: 0.4 }) };
    expect(codesOf(answerWith({ text: 'By ferry.', confidence: 0.45, changes: lenient }))).toEqual([]);
  });

  it('[S1] follow the user’s grader for the answer that it graded', () => {
    const { evidence } = anAssessment();
    const graded = (grounding: number) => ({
      hasGrader: true,
      assessment: anAssessment({ answer: WRONG, evidence: { ...evidence, grounding } }),
    });
    expect(answerWith({ text: WRONG, changes: graded(1) })).toMatchObject({
      status: 'completed',
      grounding: { score: 1, unsupported: [] },
    });
    expect(codesOf(answerWith({ text: RIGHT, changes: graded(0) }))).toEqual([]);
    const rejected = {
      ...graded(0.2),
      assessment: anAssessment({ answer: RIGHT, evidence: { ...evidence, grounding: 0.2 } }),
    };
    expect(codesOf(answerWith({ text: RIGHT, changes: rejected }))).toEqual(['not_grounded', 'low_confidence']);
  });

  const ran = (changes: Partial<CapabilityResult>) =>
    aCapabilityResult({ capability: 'lookup', startedAtMs: 0, durationMs: 10, ...changes });
  const failed = (changes: Partial<CapabilityResult> = {}) =>
    ran({ success: false, output: '', code: 'threw', error: 'it is down', ...changes });
  const unknown = failed({ id: null, capability: 'look_up', code: 'unknown_capability', startedAtMs: null });

  it.each<[string, readonly CapabilityResult[], readonly string[]]>([
    ['failed', [failed()], ['lookup']],
    ['failed and succeeded later', [failed(), ran({ startedAtMs: 10 })], []],
    ['failed beside a call that succeeded', [failed(), ran({ startedAtMs: 5 })], ['lookup']],
    ['failed after a success', [ran({}), failed({ startedAtMs: 10 })], ['lookup']],
    ['failed before another succeeded', [failed(), ran({ capability: 'search', startedAtMs: 10 })], ['lookup']],
    ['was called by a wrong name, then by the right one', [unknown, ran({ startedAtMs: 10 })], []],
    ['was only called by a wrong name', [unknown], ['look_up']],
    ['failed, with an output from the decider', [failed({ synthesized: true })], []],
  ])('[S1] include a capability that %s', (_, calls, names) => {
    const action = { ...results.action, results: calls };
    const { reasons, status } = answerWith({ text: RIGHT, changes: { results: { ...results, action } } });
    expect(reasons).toEqual(
      names.map((capability) => ({
        code: 'capability_failed',
        capability,
        message: expect.stringContaining('it is down'),
      })),
    );
    expect(status).toBe(names.length === 0 ? 'completed' : 'degraded');
  });

  const capabilities = [{ name: 'lookup', description: 'Looks up', arguments: {}, timeoutMs: null }];

  it.each<[string, Partial<ChainState>, StopReason, boolean, boolean]>([
    ['Yield asks for a tool after the only round', { continuation: 'none', capabilities }, 'done', true, true],
    ['the only round was enough', { continuation: 'none', capabilities }, 'done', false, false],
    ['a deciding model reaches the limit', { continuation: 'model', capabilities }, 'limit_reached', false, true],
    ['a deciding model repeats a call', { continuation: 'model', capabilities }, 'same_call_repeated', false, true],
    ['a deciding model is done', { continuation: 'model', capabilities }, 'done', false, false],
    ['later Actions have no runs left', { continuation: 'none', capabilities }, 'limit_reached', false, false],
    ['there are no capabilities', { capabilities: [] }, 'nothing_to_run', true, false],
  ])(
    '[S1] [R5] state whether the model asked for another round: %s',
    (_, changes, stopReason, needsTools, expected) => {
      const action = { ...results.action, stopReason, runs: 2 };
      const { reply } = results.yield;
      const answer = answerWith({
        text: RIGHT,
        changes: {
          ...changes,
          results: { ...results, action, yield: { ...results.yield, reply: { ...reply, needsTools } } },
        },
      });
      const cause = stopReason === 'same_call_repeated' ? 'repeated call' : '2 of at most 5 runs';
      const message = `The model asked for another round of capabilities, which did not run (${cause}).`;
      expect(answer.reasons).toEqual(expected ? [{ code: 'rounds_ended', message, runs: 2, limit: 5 }] : []);
    },
  );

  it('[S1] include a search that failed, unless a later one succeeded', () => {
    const codesAfter = (sourceFailure: string | null) => {
      const experience = { ...results.experience, sourceFailure };
      return codesOf(answerWith({ text: RIGHT, changes: { results: { ...results, experience } } }));
    };
    expect(codesAfter('it is down')).toEqual(['search_failed']);
    expect(codesAfter(null)).toEqual([]);
  });

  it('[S1] [E3] come without grounding if passages are listed instead of an answer', () => {
    const retrieval = { found: { query: 'q', passages: [aPassage()], widened: false }, failure: null };
    expect(answerOf(aState({ hasDocuments: true, retrieval }))).toMatchObject({
      grounding: null,
      answerText: expect.stringContaining('The bridge was opened on 19 March 1932.'),
    });
  });
});

describe('documents that contradict each other', () => {
  const said = (id: string, content: string) => aMessage({ id, role: 'search', phase: 'experience', content });
  const days = (id: string, count: number) =>
    said(id, `Leave\nEvery employee gets ${count} days of paid vacation per year.`);
  const answerTo = (request: string, text: string, messages: ChainState['messages']) =>
    answerWith({ text, messages, changes: { request } });

  it('degrade an answer that follows one of them, and name both, the newer one too', () => {
    const messages = [days('handbook-2023.md#L3', 25), days('handbook-2024.md#L3', 27)];
    const asked = 'How many days of paid vacation does an employee get?';
    for (const [text, numbers] of [
      [
        'An employee gets 25 days of paid vacation.',
        ['2023.md#L3 says 25', '2024.md#L3 says 27, and handbook-2024.md#L3'],
      ],
      [
        'An employee gets 27 days of paid vacation.',
        ['2024.md#L3 says 27', '2023.md#L3 says 25, and handbook-2024.md#L3'],
      ],
    ] as const) {
      const { status, confidence, reasons } = answerTo(asked, text, messages);
      expect({ status, confidence }).toEqual({ status: 'degraded', confidence: 0.5 });
      expect(reasons[0]).toMatchObject({
        code: 'contradicted',
        by: expect.arrayContaining(messages.map(({ id }) => id)),
      });
      for (const said of numbers) expect(reasons[0]?.message).toContain(said);
    }
  });

  it('do not degrade an answer that states both numbers', () => {
    const messages = [days('a.md#L3', 25), days('b.md#L3', 27)];
    const text = 'An employee gets 25 or 27 days of paid vacation: the documents differ.';
    expect(codesOf(answerTo('How many days of paid vacation does an employee get?', text, messages))).toEqual([]);
  });

  it.each([
    ['another thing that the request does not mean', 'Tarn Hall', 'Marl Hall'],
    ['another model, by its number', 'Brewer 200', 'Brewer 400'],
  ])('are not two statements about %s', (_, one, other) => {
    const seats = (name: string, count: number) =>
      said(`${name}.md#L1`, `${name}\nIt was sold with ${count} seats in each box.`);
    const messages = [seats(one, 340), seats(other, 120)];
    const text = `The ${one} was sold with 340 seats.`;
    expect(codesOf(answerTo(`How many seats was the ${one} sold with?`, text, messages))).toEqual([]);
  });
});

describe('a number that follows from the result of a tool', () => {
  const orders = [
    { item: 'lamp', price: 40 },
    { item: 'desk', price: 180 },
    { item: 'chair', price: 95 },
  ];
  it.each([
    ['the sum of a column', 'They cost 315 in total.', []],
    ['its mean', 'A piece costs 105 on average.', []],
    ['the number of rows', 'There are 3 orders.', []],
    ['no calculation', 'They cost 318 in total.', ['not_grounded', 'low_confidence']],
  ])('is supported if it is %s', (name, text, codes) => {
    const messages = [
      aMessage({ id: 's1.m1', role: 'search', phase: 'action', content: `orders: ${JSON.stringify(orders)}` }),
    ];
    const answer = answerWith({ text, messages, changes: { request: 'What do my orders cost?', hasDocuments: false } });
    expect({ name, codes: codesOf(answer) }).toEqual({ name, codes });
  });
});
