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
  ])('[Y1] is detected when the user closes without a preceding offer: %s', (user) => {
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
  ])('[Y1] is detected when the user declines an offer of more help or only says thanks: %s', (user) => {
    expect(satisfies(OFFER)(user)).toBe(true);
  });

  it.each([
    ['a question', OFFER, 'No, but is it far?'],
    ['a question without a question mark', DONE, 'Thanks. What does it cost'],
    ['a wish', OFFER, 'No, I want one ticket.'],
    ['thanks with a new request', DONE, 'Thank you. I also need a taxi.'],
    ['a request after the closing phrase', DONE, "That's all for the table; now find me a taxi."],
    ['an acceptance', OFFER, 'Yes, thanks.'],
    ['a confirmation', CHECK, "Yes, that's it."],
    ['a correction', CHECK, 'No, at nine, thanks.'],
    ['a corrective negation', ACTION, 'No, make it three.'],
    ['a declined action without a general closing', ACTION, 'No, not now.'],
    ['an answer to a question', 'At what time?', 'I am good with any time.'],
    ['a closing phrase in a question', DONE, "That's all?"],
    ['a closing phrase with a question without a question mark', DONE, "That's all I need, but when does it start"],
    ['a yes to a proposal', 'The song is called First Light.', "Yes, that's it!"],
    ['a full confirmation', CHECK, 'Yes, that is exactly what I wanted.'],
    ['an approval', DONE, 'Sounds good.'],
    ['a complaint', DONE, "That's not what I asked for. Bye."],
    ['a fault', OFFER, "No. It's still broken."],
    ['an unfinished task', DONE, "That's not all."],
    ['a new topic without a verb', OFFER, 'Thanks, a taxi to the station.'],
    ['a farewell that is only mentioned', DONE, 'The letter ends with "that\'s all, goodbye".'],
    ['ironic thanks', DONE, 'Thanks for nothing.'],
  ])('[Y1] is not detected for %s', (_what, assistant, user) => {
    expect(satisfies(assistant)(user)).toBe(false);
  });

  it('[Y1] depends on what the assistant asked before', () => {
    expect(satisfies(OFFER)('No.')).toBe(true);
    expect(satisfies(ACTION)('No.')).toBe(false);
    expect(satisfies(IF_DONE)('Yes, thank you!')).toBe(true);
    expect(satisfies(OFFER)('Yes, thank you!')).toBe(false);
    expect(satisfies(IF_DONE)('No, thanks.')).toBe(false);
    expect(satisfies(`${IF_DONE} Is there anything else?`)('No, thanks.')).toBe(true);
    expect(satisfies(DONE)("That's it.")).toBe(true);
    expect(satisfies(CHECK)("That's it.")).toBe(false);
  });

  it('[Y1] treats thanks alone as the weakest signal, and only when no question is open', () => {
    const bare = userSatisfaction(dialogue(DONE, 'Thank you!'));
    expect(bare.score).toBeGreaterThanOrEqual(SATISFIED);
    expect(bare.score).toBeLessThan(userSatisfaction(dialogue(ACTION, 'No, thank you!')).score);
    expect(bare.score).toBeLessThan(userSatisfaction(dialogue(DONE, "Thank you, that's all!")).score);
    expect(satisfies(ACTION)('Thank you!')).toBe(false);
  });

  it('[Y1] names the signal', () => {
    const { signals } = userSatisfaction(dialogue(OFFER, 'No, thanks. Goodbye.'));
    expect(signals).toMatchObject({ declines: true, thanks: true, takesLeave: true, offersMore: true, asks: false });
  });

  it('[Y1] is not detected before the assistant has answered or without a user message', () => {
    expect(isSatisfied([])).toBe(false);
    expect(isSatisfied([{ role: 'user', content: "Thanks, that's all. Bye!" }])).toBe(false);
    expect(isSatisfied([{ role: 'assistant', content: "Thanks, that's all. Bye!" }])).toBe(false);
  });

  it('[Y1] is detected for every closing phrase with its lead-ins and codas, regardless of case and apostrophes', () => {
    fc.assert(
      fc.property(closing, fc.constantFrom(OFFER, DONE), (user, assistant) => {
        const { score } = userSatisfaction(dialogue(assistant, user));
        expect(score).toBeGreaterThanOrEqual(SATISFIED);
        expect(userSatisfaction(dialogue(assistant, user.toUpperCase())).score).toBe(score);
        expect(userSatisfaction(dialogue(assistant, user.replaceAll("'", '’'))).score).toBe(score);
      }),
    );
  });

  it('[Y1] is canceled by any question or request beside the closing', () => {
    const more = fc.constantFrom('Is it far?', 'What about Sunday?', 'Please book a taxi.', 'I still need a taxi.');
    fc.assert(
      fc.property(closing, more, fc.boolean(), (user, wish, first) => {
        expect(satisfies(OFFER)(first ? `${wish} ${user}` : `${user}. ${wish}`)).toBe(false);
      }),
    );
  });

  it('[Y1] is never derived from assistant text if the user asks or is silent', () => {
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

  it('[Y1] depends only on the last user turn and the last assistant turn before it', () => {
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

  it('[Y1] treats a long turn as new content and reads only the end of a long answer', () => {
    expect(satisfies(OFFER)(`${'The report goes on and on. '.repeat(400_000)}Thanks, that's all.`)).toBe(false);
    expect(satisfies(`${'word '.repeat(2_000_000)}Anything else?`)('No.')).toBe(true);
    expect(satisfies(`Anything else?${' word'.repeat(2_000_000)}`)('No.')).toBe(false);
  });

  it('[Y1] terminates for turns crafted to cause regex backtracking', () => {
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
