import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DialogueTurn, SATISFIED, userSatisfaction } from '../../../machines/heuristics/satisfaction.ts';

const OFFER = 'The table is booked. Is there anything else I can help you with?';
const DONE = 'I have moved the meeting to Friday.';
const ACTION = 'Shall I book the table for you?';
const CHECK = 'A table for two at eight, is that right?';
const IF_DONE = 'Hold the button for ten seconds. Does that answer your question?';

const dialogue = (assistant: string, user: string): DialogueTurn[] => [
  { role: 'user', content: 'Hello, I need a hand.' },
  { role: 'assistant', content: assistant },
  { role: 'user', content: user },
];
const isSatisfied = (turns: readonly DialogueTurn[]) => userSatisfaction(turns).score >= SATISFIED;
const satisfies = (assistant: string) => (user: string) => isSatisfied(dialogue(assistant, user));

const turnArbitrary = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const),
  content: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.constantFrom("that's all", 'thanks', 'no', 'yes', 'bye', 'anything else?', 'book it', 'not what I asked'),
  ),
});
const closing = fc
  .tuple(
    fc.constantFrom('', 'No, ', 'Great, ', 'Okay. ', 'Thanks, ', 'Perfect! '),
    fc.constantFrom("that's all", 'that will be all', 'that is everything I needed', "we're all set", 'nothing else'),
    fc.constantFrom('', ' for now', ' for today', ', thank you'),
    fc.constantFrom('', '.', '!', '. Goodbye!'),
  )
  .map((parts) => parts.join(''));

describe('user satisfaction', () => {
  it.each([
    "That's all I needed, thank you.",
    'Perfect, I don’t need anything else.',
    'Great, that is all for today. Goodbye.',
    'Wonderful, we are all set now.',
    'Thank you, that covers everything.',
    'I have no further questions.',
    'Ok thanks bye',
    'Thanks, have a nice evening!',
    'Goodbye.',
    "That's exactly what I was looking for.",
    'That answers my question.',
  ])('holds when the user closes with no offer before: %s [Y1]', (user) => {
    expect(satisfies(DONE)(user)).toBe(true);
  });

  it.each([
    'No, thanks.',
    'nope',
    'Not today, thank you.',
    "I'm good.",
    'No, you have been very helpful.',
    'Thank you so much!',
    "That's it, cheers.",
    "I don't think so, thanks.",
    'No. I only wanted to know the address.',
    'No, you have thought of it all. Thanks.',
  ])('holds when an offer of more help is declined or passed over with thanks: %s [Y1]', (user) => {
    expect(satisfies(OFFER)(user)).toBe(true);
  });

  it.each([
    ['a question', OFFER, 'No, but is it far?'],
    ['a question without its mark', DONE, 'Thanks. What does it cost'],
    ['a wish', OFFER, 'No, I want one ticket.'],
    ['thanks with a new wish', DONE, 'Thank you. I also need a taxi.'],
    ['a request after the closing', DONE, "That's all for the table; now find me a taxi."],
    ['an acceptance', OFFER, 'Yes, thanks.'],
    ['a confirmation', CHECK, "Yes, that's it."],
    ['a correction', CHECK, 'No, at nine, thanks.'],
    ['a negation that corrects', ACTION, 'No, make it three.'],
    ['an action declined, with nothing said of the rest', ACTION, 'No, not now.'],
    ['an answer to a question', 'At what time?', 'I am good with any time.'],
    ['a closing that asks', DONE, "That's all?"],
    ['a closing with a question, without its mark', DONE, "That's all I need, but when does it start"],
    ['a yes to a proposal', 'The song is called First Light.', "Yes, that's it!"],
    ['a confirmation in full', CHECK, 'Yes, that is exactly what I wanted.'],
    ['an approval', DONE, 'Sounds good.'],
    ['a complaint', DONE, "That's not what I asked for. Bye."],
    ['a fault', OFFER, "No. It's still broken."],
    ['something not done', DONE, "That's not all."],
    ['a new matter without a verb', OFFER, 'Thanks, a taxi to the station.'],
    ['a farewell spoken of', DONE, 'The letter ends with "that\'s all, goodbye".'],
    ['thanks for nothing', DONE, 'Thanks for nothing.'],
  ])('does not hold for %s [Y1]', (_what, assistant, user) => {
    expect(satisfies(assistant)(user)).toBe(false);
  });

  it('reads the same words by what the assistant had asked [Y1]', () => {
    expect(satisfies(OFFER)('No.')).toBe(true);
    expect(satisfies(ACTION)('No.')).toBe(false);
    expect(satisfies(IF_DONE)('Yes, thank you!')).toBe(true);
    expect(satisfies(OFFER)('Yes, thank you!')).toBe(false);
    expect(satisfies(IF_DONE)('No, thanks.')).toBe(false);
    expect(satisfies(`${IF_DONE} Is there anything else?`)('No, thanks.')).toBe(true);
    expect(satisfies(DONE)("That's it.")).toBe(true);
    expect(satisfies(CHECK)("That's it.")).toBe(false);
  });

  it('takes bare thanks for the weakest sign, and only where no question is open [Y1]', () => {
    const bare = userSatisfaction(dialogue(DONE, 'Thank you!'));
    expect(bare.score).toBeGreaterThanOrEqual(SATISFIED);
    expect(bare.score).toBeLessThan(userSatisfaction(dialogue(ACTION, 'No, thank you!')).score);
    expect(bare.score).toBeLessThan(userSatisfaction(dialogue(DONE, "Thank you, that's all!")).score);
    expect(satisfies(ACTION)('Thank you!')).toBe(false);
  });

  it('names what it saw [Y1]', () => {
    const { signals } = userSatisfaction(dialogue(OFFER, 'No, thanks. Goodbye.'));
    expect(signals).toMatchObject({ declines: true, thanks: true, takesLeave: true, offersMore: true, asks: false });
  });

  it('knows no satisfaction before the assistant has answered, nor without a user [Y1]', () => {
    expect(isSatisfied([])).toBe(false);
    expect(isSatisfied([{ role: 'user', content: "Thanks, that's all. Bye!" }])).toBe(false);
    expect(isSatisfied([{ role: 'assistant', content: "Thanks, that's all. Bye!" }])).toBe(false);
  });

  it('holds for every closing formula with its leads and codas, whatever case and apostrophes [Y1]', () => {
    fc.assert(
      fc.property(closing, fc.constantFrom(OFFER, DONE), (user, assistant) => {
        const { score } = userSatisfaction(dialogue(assistant, user));
        expect(score).toBeGreaterThanOrEqual(SATISFIED);
        expect(userSatisfaction(dialogue(assistant, user.toUpperCase())).score).toBe(score);
        expect(userSatisfaction(dialogue(assistant, user.replaceAll("'", '’'))).score).toBe(score);
      }),
    );
  });

  it('is taken back by any question or wish beside the closing [Y1]', () => {
    const more = fc.constantFrom('Is it far?', 'What about Sunday?', 'Please book a taxi.', 'I still need a taxi.');
    fc.assert(
      fc.property(closing, more, fc.boolean(), (user, wish, first) => {
        expect(satisfies(OFFER)(first ? `${wish} ${user}` : `${user}. ${wish}`)).toBe(false);
      }),
    );
  });

  it('cannot come from the assistant: whatever it writes, a user who asks or is silent is not satisfied [Y1]', () => {
    const text = fc.oneof(closing, fc.string({ unit: 'grapheme' }), fc.constant("user: no thanks, that's all. bye"));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), text, (earlier, later) => {
        const assistants = earlier.map((content): DialogueTurn => ({ role: 'assistant', content }));
        expect(isSatisfied(assistants)).toBe(false);
        const asked: DialogueTurn[] = [...assistants, { role: 'user', content: 'And how far is it?' }];
        expect(isSatisfied(asked)).toBe(false);
        expect(isSatisfied([...asked, { role: 'assistant', content: later }])).toBe(false);
      }),
    );
  });

  it('depends on nothing but the last turn of the user and the last of the assistant before it [Y1]', () => {
    fc.assert(
      fc.property(fc.array(turnArbitrary, { maxLength: 8 }), (turns) => {
        const at = turns.map(({ role }) => role).lastIndexOf('user');
        const before = turns
          .slice(0, Math.max(0, at))
          .filter(({ role }) => role === 'assistant')
          .slice(-1);
        const found = userSatisfaction(turns);
        expect(found).toEqual(userSatisfaction([...before, ...turns.slice(at).slice(0, at < 0 ? 0 : 1)]));
        expect(found.score).toBeGreaterThanOrEqual(0);
        expect(found.score).toBeLessThanOrEqual(1);
        for (const signal of Object.values(found.signals)) expect(typeof signal).toMatch(/^(?:boolean|number)$/);
      }),
    );
  });

  it('takes a long turn for matter of its own, and reads no more than the end of a long answer [Y1]', () => {
    expect(satisfies(OFFER)(`${'The report goes on and on. '.repeat(400_000)}Thanks, that's all.`)).toBe(false);
    expect(satisfies(`${'word '.repeat(2_000_000)}Anything else?`)('No.')).toBe(true);
    expect(satisfies(`Anything else?${' word'.repeat(2_000_000)}`)('No.')).toBe(false);
  });

  it('comes back for turns made to make patterns try again and again [Y1]', () => {
    const units = [
      'so ',
      'thanks for ',
      'thank you so much ',
      'all that I need ',
      'you have been very ',
      '"',
      '“a',
      'a,',
    ];
    for (const unit of units) {
      for (const end of ['', '1', "'", '!']) {
        const { score } = userSatisfaction(dialogue(OFFER, unit.repeat(400).slice(0, 399) + end));
        expect(score).toBeLessThanOrEqual(1);
      }
    }
  });
});
