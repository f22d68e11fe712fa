import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { answererFor, select } from '../../../src/cli/ask-user.ts';
import { replies } from '../../../src/testing/replies.ts';
import { entriesOf, type Plan, settle } from '../../support/run-chain.ts';
import {
  consentOutcomes,
  consentResolutions,
  type FakeTerminal,
  fakeTerminal,
  type Key,
  longText,
  startWithTerminal,
  TWO_LONG_MESSAGES,
  unsure,
  userTurn,
  waitForText,
} from '../../support/terminal.ts';

/** Chooses one by one: the first message is removed, and the prompt for the second one is open. */
async function atSecondPrompt() {
  const asked = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
  await waitForText(asked.fake, 'Esc');
  await asked.fake.press('up', 'enter');
  await waitForText(asked.fake, '1 of 2');
  await asked.fake.press('up', 'enter');
  await waitForText(asked.fake, '2 of 2');
  return asked;
}

describe('consent at a terminal', () => {
  it('[U8] asks once for the batch, with previews of 50 characters and lengths, and keeps by default', async () => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
    await waitForText(fake, 'Esc: keep all');
    expect(fake.shown()).toEqual([
      '  2 messages of yours are long (kept after 120 s without a reply):',
      '    "Please look into the cellar. It is a long story. I…" (1,629 characters)',
      '    "Please look into the attic. It is a long story. It…" (1,628 characters)',
      '  What should happen to them?',
      '  > keep all',
      '    summarize all',
      '    remove all',
      '    decide one by one',
      '  ↑/↓: move · Enter: select · Esc: keep all',
    ]);
    await fake.press('enter');
    await finish();
    expect(consentResolutions(run)).toMatchObject([{ kept: 2, summarized: 0, removed: 0, by: 'user' }]);
    expect(entriesOf(run, 'consent-asked')).toHaveLength(1);
  });

  it.each([
    [1, { kept: 0, summarized: 2, removed: 0 }],
    [2, { kept: 0, summarized: 0, removed: 2 }],
  ])('[U8] applies choice %i to all messages', async (below, counted) => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
    await waitForText(fake, 'Esc');
    await fake.press(...Array.from({ length: below }, () => 'down' as const), 'enter');
    await finish();
    expect(consentResolutions(run)).toMatchObject([{ ...counted, by: 'user' }]);
  });

  it('[U9] one by one: shows the recommendation and the proposed summary, and applies each reply separately', async () => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
    await waitForText(fake, 'Esc');
    await fake.press('up', 'enter');
    await waitForText(fake, '1 of 2: "Please look into the cellar');
    expect(fake.shown().join('\n')).toMatch(/summary: "Please look into the cellar\.[^"]+" \(\d+ characters\)/);
    expect(fake.shown().slice(-4)).toEqual([
      '  > keep',
      '    summarize (recommended)',
      '    remove',
      '  ↑/↓: move · Enter: select · Esc: keep it and the rest',
    ]);
    await fake.press('down', 'enter');
    await waitForText(fake, '2 of 2: "Please look into the attic');
    await fake.press('up', 'enter');
    await finish();
    expect(consentOutcomes(run)).toEqual(['TRANSFORM earlier.h1', 'PRUNE earlier.h2']);
  });

  it('[U9] keeps the messages without a reply on Escape', async () => {
    const { run, fake, finish } = await atSecondPrompt();
    await fake.press('escape');
    await finish();
    expect(consentOutcomes(run)).toEqual(['PRUNE earlier.h1', 'TAG earlier.h2']);
  });

  it('asks directly about a single message', async () => {
    const { run, fake, finish } = startWithTerminal({}, { history: [userTurn(longText('the cellar'))] });
    await waitForText(fake, 'Esc: keep');
    expect(fake.shown()[0]).toBe('  One of your messages is long (kept after 120 s without a reply):');
    await fake.press('down', 'enter');
    await finish();
    expect(consentOutcomes(run)).toEqual(['TRANSFORM earlier.h1']);
  });

  it('lists at most ten messages', async () => {
    const history = Array.from({ length: 13 }, (_, at) => userTurn(longText(`room ${at + 1}`)));
    const { fake, run, finish } = startWithTerminal({}, { history });
    await waitForText(fake, 'Esc: keep all');
    expect(fake.shown()[0]).toContain('13 messages of yours');
    expect(fake.shown()[11]).toBe('    … and 3 more');
    run.cancel();
    await finish();
  });

  it.each(['escape', 'ctrl-d'] as const)('[U8] keeps everything on %s', async (key) => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
    await waitForText(fake, 'Esc');
    await fake.press(key);
    await finish();
    expect(consentResolutions(run)).toMatchObject([{ kept: 2, by: 'user' }]);
  });

  it('[U8] keeps everything without a reply in time, and restores the terminal', async () => {
    const { run, clock, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
    await waitForText(fake, 'Esc');
    clock.increment(120_000);
    await finish();
    expect(consentResolutions(run)).toMatchObject([{ kept: 2, by: 'time-out' }]);
    expect(fake.inOrder()).toMatchObject({ raw: false, cursorShown: true });
    expect(entriesOf(run, 'delivery')).toEqual([]);
  });

  it('[U8] ignores the first reply if the second does not come in time', async () => {
    const { run, clock, finish } = await atSecondPrompt();
    clock.increment(120_000);
    await finish();
    expect(consentOutcomes(run)).toEqual(['TAG earlier.h1', 'TAG earlier.h2']);
  });

  it.each(['cancelled', 'interrupted'] as const)('closes the prompt if the run is %s', async (how) => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
    await waitForText(fake, 'Esc');
    run.send({ type: `run.${how}` });
    const answer = await finish();
    expect(answer.metadata.degraded).toBe(true);
    expect(fake.inOrder()).toMatchObject({ raw: false, cursorShown: true });
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual([`run.${how}`]);
  });

  it('cancels the run on Ctrl-C', async () => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES });
    await waitForText(fake, 'Esc');
    await fake.press('ctrl-c');
    const answer = await finish();
    expect(answer).toMatchObject({ status: 'cancelled', metadata: { degraded: true } });
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.cancelled']);
  });

  it('replies to none of several prompts when Ctrl-C is pressed at one of them', async () => {
    const { run, fake, finish } = await atSecondPrompt();
    await fake.press('ctrl-c');
    expect((await finish()).status).toBe('cancelled');
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.cancelled']);
  });

  it('prints no control characters from a message or a summary', async () => {
    const hostile = '\u001b[2J\u001b]0;owned\u0007 \u202eevil\u202c \u009b31m\r\nnext\u0000 line.';
    const summary = { ...replies.summary, summaries: [{ messageId: 'earlier.h1', summary: `${hostile} Short.` }] };
    const { fake, finish } = startWithTerminal({ summary } as Plan, {
      history: [userTurn(`${hostile} ${longText('it')}`)],
    });
    await waitForText(fake, 'Esc');
    const text = fake.written();
    for (const character of ['\u001b[2J', '\u001b]', '\u0007', '\u202e', '\u009b', '\u0000'])
      expect(text).not.toContain(character);
    expect(fake.shown().join('\n')).toMatch(/"\[2J\]0;owned evil 31m next line\. Please/);
    expect(fake.shown().join('\n')).toMatch(/summary: "\[2J\]0;owned evil 31m next line\. Short\."/);
    await fake.press('enter');
    await finish();
  });
});

describe('the prompt for the next phase', () => {
  it('[Y4] lists the phases at a terminal and marks the proposed one', async () => {
    const { run, fake, finish } = startWithTerminal(unsure, { mode: 'manual' });
    await waitForText(fake, 'Continue with which phase?');
    const [asked] = entriesOf(run, 'direction-asked');
    expect(fake.shown()).toContain(`  > ${asked?.proposal} (proposed)`);
    const words = ['action', 'experience', 'intention', 'observation', 'understanding', 'yield', 'finish', 'cancel'];
    const from = words.indexOf(asked?.proposal ?? '');
    const steps = (words.indexOf('intention') - from + words.length) % words.length;
    await fake.press(...Array.from({ length: steps }, () => 'down' as const), 'enter');
    await finish();
    expect(fake.shown()).toContain('  Continue with which phase? intention');
    expect(entriesOf(run, 'decision')[0]?.decision).toMatchObject({ rule: 'directedByUser', nextPhase: 'intention' });
  });

  it('[Y4] shows a proposal that is not a phase, and Escape finishes', async () => {
    const odd = { ...replies.yield, confidence: 0.1, taskComplete: false, proposedPhase: 'lunch\u001b[2J' };
    const { run, fake, finish } = startWithTerminal({ yield: odd } as Plan, { mode: 'manual' });
    await waitForText(fake, 'Continue with which phase?');
    expect(fake.written()).not.toContain('\u001b[2J');
    await fake.press('escape');
    await finish();
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.finished']);
  });

  it('[Y4] reads lines without a terminal and accepts the proposal on an empty line', async () => {
    const fake = fakeTerminal();
    const lines = new PassThrough() as unknown as NodeJS.ReadStream;
    const { run, finish } = startWithTerminal(
      unsure,
      { mode: 'manual' },
      (terminal) => answererFor({}, false, { ...terminal, input: lines }),
      fake,
    );
    (lines as unknown as PassThrough).end('lunch\n\n');
    await settle();
    await finish();
    expect(entriesOf(run, 'direction-refused')).toMatchObject([{ received: 'lunch' }]);
    expect(entriesOf(run, 'decision')[0]?.decision.rule).toBe('directedByUser');
    expect(fake.written()).toContain('Next phase (action, experience');
  });
});

const question = {
  text: 'Which fruit?',
  choices: [
    { value: 1, label: 'apple' },
    { value: 2, label: 'pear', note: 'ripe' },
    { value: 3, label: 'plum' },
  ],
  initial: 1,
  onEscape: 'none',
};

async function ask(given: { readonly initial?: number } = {}, signal = new AbortController().signal) {
  const fake = fakeTerminal();
  const reply = select({ ...question, ...given }, fake.terminal, signal);
  await opened(fake);
  return { fake, reply };
}

const opened = (fake: FakeTerminal): Promise<void> => expect.poll(() => fake.shown().at(-1) ?? '').toContain('Esc');

const IN_ORDER = { raw: false, cursorShown: true, listeners: expect.any(Number) };

describe('select', () => {
  it.each<[Key[], number, number]>([
    [['enter'], 1, 1],
    [['enter'], 3, 3],
    [['down', 'enter'], 1, 2],
    [['down', 'down', 'down', 'enter'], 1, 1],
    [['up', 'enter'], 1, 3],
  ])('%j, from choice %i, chooses %i and leaves one line', async (keys, initial, chosen) => {
    const { fake, reply } = await ask({ initial });
    await fake.press(...keys);
    expect(await reply).toEqual({ kind: 'chosen', value: chosen });
    expect(fake.shown()).toEqual([`  Which fruit? ${question.choices[chosen - 1]?.label}`]);
    expect(fake.inOrder()).toEqual(IN_ORDER);
  });

  it.each(['ctrl-d', 'the end of the input'])('%s dismisses it', async (how) => {
    const { fake, reply } = await ask();
    if (how === 'ctrl-d') await fake.press('ctrl-d');
    else fake.endInput();
    expect(await reply).toEqual({ kind: 'dismissed' });
    expect(fake.inOrder()).toEqual(IN_ORDER);
  });

  it('an input that has already ended dismisses it without output', async () => {
    const fake = fakeTerminal();
    fake.endInput();
    fake.terminal.input.resume();
    await settle();
    expect(await select(question, fake.terminal, new AbortController().signal)).toEqual({ kind: 'dismissed' });
    expect(fake.written()).toBe('');
  });

  it('a signal aborted before it opens cancels it without output', async () => {
    const waiting = new AbortController();
    const fake = fakeTerminal();
    const reply = select(question, fake.terminal, waiting.signal);
    waiting.abort();
    expect(await reply).toEqual({ kind: 'cancelled' });
    expect(fake.written()).toBe('');
  });

  it('Enter and Ctrl-D in one chunk give one reply and one line', async () => {
    const { fake, reply } = await ask();
    fake.terminal.input.push('\r\u0004');
    expect(await reply).toEqual({ kind: 'chosen', value: 1 });
    await settle();
    expect(fake.written().match(/\n/g)).toHaveLength(5);
  });

  it('leaves no listeners behind', async () => {
    const fake = fakeTerminal();
    const listeners: number[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      const reply = select(question, fake.terminal, new AbortController().signal);
      await expect.poll(() => fake.inOrder().raw).toBe(true);
      await fake.press('enter');
      await reply;
      listeners.push(fake.inOrder().listeners);
    }
    expect(new Set(listeners).size).toBe(1);
  });
});
