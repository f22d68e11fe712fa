import { describe, expect, it } from 'vitest';
import { replies } from '../../../src/testing/replies.ts';
import { entriesOf, type Plan } from '../../support/run-chain.ts';
import {
  consentOutcomes,
  consentResolutions,
  longText,
  startWithTerminal,
  TWO_LONG_MESSAGES,
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
