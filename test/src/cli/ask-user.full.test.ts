import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Answerer, answererFor, type Terminal, type UserReply } from '../../../src/cli/ask-user.ts';
import { RunQuestions } from '../../../src/cli/run-command.ts';
import { replies } from '../../../src/testing/replies.ts';
import { defineCapability } from '../../../src/tools/capability.ts';
import { entriesOf, sendAnswer, settle, startScripted, unsureAnswer } from '../../support/run-chain.ts';
import {
  consentResolutions,
  fakeTerminal,
  startWithTerminal,
  TWO_LONG_MESSAGES,
  unsure,
  waitForText,
} from '../../support/terminal.ts';

const withoutTerminal = (terminal: Terminal): Answerer =>
  answererFor({}, false, { ...terminal, input: new PassThrough() as never });

describe('without a prompt', () => {
  it('[U8] answers consent with "keep" immediately when there is no terminal', async () => {
    const { run, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES }, withoutTerminal);
    await finish();
    expect(consentResolutions(run)).toMatchObject([{ kept: 2, by: 'default' }]);
  });

  it.each([
    ['keep', { kept: 2 }],
    ['summarize', { summarized: 2 }],
    ['remove', { removed: 2 }],
  ] as const)('[U8] applies the choice "%s" from the options immediately', async (choice, counted) => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES }, (terminal) =>
      answererFor({ consent: choice }, false, terminal),
    );
    await finish();
    expect(consentResolutions(run)).toMatchObject([counted]);
    expect(fake.written()).toBe('');
  });

  it('keeps messages and finishes the run when a prompt fails', async () => {
    const broken = async (): Promise<never> => {
      throw new Error('EIO');
    };
    const { run, finish } = startWithTerminal(unsure, { history: TWO_LONG_MESSAGES, mode: 'manual' }, () => ({
      consent: broken,
      direction: broken,
      approval: broken,
      close: () => {},
    }));
    await finish();
    expect(consentResolutions(run)).toMatchObject([{ kept: 2 }]);
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['consent.given', 'run.finished']);
  });
});

describe('replies', () => {
  it('are not sent after the deadline', async () => {
    let late: (reply: UserReply) => void = () => {};
    const consent = () => new Promise<UserReply>((resolve) => (late = resolve));
    const { run, clock, finish } = startWithTerminal(
      { yield: { hang: true } },
      { history: TWO_LONG_MESSAGES },
      (terminal) => ({
        ...answererFor({}, false, terminal),
        consent,
      }),
    );
    await settle();
    clock.increment(120_000);
    await settle();
    expect(consentResolutions(run)).toMatchObject([{ by: 'time-out' }]);
    late({ type: 'consent.given', choice: 'remove' });
    await settle();
    expect(entriesOf(run, 'delivery')).toEqual([]);
    run.cancel();
    await finish();
  });
});

describe('questions of a resumed run', () => {
  it('include the tools that only its client can run, which it names once', async () => {
    const calls = [{ capability: 'place', arguments: '{}' }];
    const place = { name: 'place', description: 'Returns where the user is.', arguments: { type: 'object' } };
    const { run } = startScripted({ action: { ...replies.action, calls } }, {}, { clientTools: [place] });
    await expect.poll(() => entriesOf(run, 'approval-asked').length).toBe(1);
    const { terminal, shown } = fakeTerminal();
    const questions = new RunQuestions(run, answererFor({}, false, terminal), terminal.screen);
    for (const event of [...run.entries, ...entriesOf(run, 'approval-asked')]) questions.onEvent(event);
    expect(shown()).toEqual([expect.stringContaining('Waiting for the client of this run to run its tool "place".')]);
    run.cancel();
    await run.answer;
  });

  it('are not asked again if they were already answered', async () => {
    const plan = { yield: (call: number) => unsureAnswer(call, { confidence: 0.1 }) };
    const { run } = startScripted(plan, { limits: { maxCycles: 5 } }, { mode: 'manual' });
    const asks = () => entriesOf(run, 'direction-asked').length;
    await expect.poll(asks).toBe(1);
    sendAnswer(run, { type: 'run.directed', phase: 'nowhere' });
    sendAnswer(run, { type: 'run.directed', phase: 'experience' });
    await expect.poll(asks).toBe(2);
    const asked: string[] = [];
    const answerer: Answerer = {
      consent: async () => null,
      direction: async (proposal) => {
        asked.push(proposal);
        return { type: 'run.finished' };
      },
      approval: async () => null,
      close: () => {},
    };
    const questions = new RunQuestions(run, answerer, fakeTerminal().terminal.screen);
    for await (const event of run.events) questions.onEvent(event);
    expect(asked).toHaveLength(1);
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual([
      'run.directed',
      'run.directed',
      'run.finished',
    ]);
  });
});

/** A run that calls "pay" twice, and someone at a terminal. */
function payAt(
  answererOf = (terminal: Terminal): Answerer => answererFor({}, false, terminal),
  payees = ['Ada\u001b[2J\u202e', 'Bob'],
) {
  const paid: unknown[] = [];
  const pay = defineCapability({
    name: 'pay',
    description: 'Pays.',
    arguments: z.object({ to: z.string() }),
    approval: 'always',
    execute: ({ to }) => void paid.push(to),
  });
  const calls = payees.map((to) => ({ capability: 'pay', arguments: JSON.stringify({ to }) }));
  const plan = { action: { ...replies.action, calls } };
  const started = startWithTerminal(plan, {}, answererOf, fakeTerminal(), [pay]);
  const decisions = () => entriesOf(started.run, 'approval-resolved').map(({ decision, reason }) => [decision, reason]);
  return { ...started, paid, decisions };
}

describe('approval at a terminal', () => {
  it('[Q2] shows each call in a safe form, one after the other, and runs what is approved or edited', async () => {
    const { fake, finish, paid, decisions } = payAt();
    await waitForText(fake, 'Esc');
    expect(fake.shown()).toEqual([
      '  The capability "pay" needs your approval. Its arguments:',
      '      {"to":"Ada\\u001b[2J\\u202e"}',
      '  Allow this call?',
      '  > deny',
      '    deny with a reason',
      '    approve',
      '    edit the arguments and approve',
      '  ↑/↓: move · Enter: select · Esc: deny',
    ]);
    await fake.press('down', 'enter');
    await waitForText(fake, 'Reason:');
    await fake.type('She was paid.');
    await fake.press('enter');
    await waitForText(fake, '"Bob"');
    await fake.press('up', 'enter');
    await waitForText(fake, 'Arguments: ');
    await fake.type('x');
    await fake.press('enter');
    await waitForText(fake, 'Expected a JSON object.');
    await fake.press('escape');
    await expect.poll(() => fake.shown().filter((line) => line.includes('> deny'))).toHaveLength(1);
    await fake.press('down', 'down', 'enter');
    await finish();
    expect(paid).toEqual(['Bob']);
    expect(decisions()).toEqual([
      ['denied', 'She was paid.'],
      ['approved', ''],
    ]);
  });

  it('[Q2] shows every character of a call, and denies it on Escape', async () => {
    const invisible = ['\u3164', '\u115f', '\uffa0', '\u2800', '\u034f', '\ufe0f', '\u{e0100}', '\u00a0', '\u3000'];
    const to = `a${' '.repeat(300)}b   ${invisible.join('')}${Array.from({ length: 2_000 }, (_, at) => `x${at}`).join('')}end`;
    const { fake, finish, paid } = payAt(undefined, [to]);
    await waitForText(fake, 'Esc');
    const lines = fake.written().match(/(?<=^ {6}).*$/gm) ?? [];
    const text = lines.join('');
    expect(JSON.parse(text)).toEqual({ to });
    expect(text).toMatch(/^[ -~]*$/);
    expect(fake.shown().some((line) => line.includes('edit the arguments'))).toBe(false);
    await fake.press('escape');
    await finish();
    expect(paid).toEqual([]);
  });

  it('closes the prompt when the question is answered elsewhere', async () => {
    const { run, fake, finish, paid } = payAt();
    await waitForText(fake, 'Esc');
    for (const { questionId, digest } of entriesOf(run, 'approval-asked'))
      run.send({ type: 'approval.given', questionId, digest, decision: 'approve' });
    await finish();
    expect(paid).toHaveLength(2);
    expect(fake.inOrder()).toEqual({ raw: false, cursorShown: true, listeners: 0 });
  });

  it('denies if nobody can be asked', async () => {
    const { run, finish, paid, decisions } = payAt(withoutTerminal);
    await finish();
    expect(paid).toEqual([]);
    expect(entriesOf(run, 'capability-end')[0]?.result.error).toBe(
      'denied by the program: nobody could be asked; see --approve',
    );
    expect(decisions()).toMatchObject([
      ['denied', 'nobody could be asked; see --approve'],
      ['denied', expect.any(String)],
    ]);
  });

  it.each([
    ['always', 2],
    ['never', 0],
  ] as const)('decides as an option says: %s', async (approve, count) => {
    const { fake, finish, paid } = payAt((terminal) => answererFor({ approve }, false, terminal));
    await finish();
    expect(paid).toHaveLength(count);
    expect(fake.written()).toBe('');
  });
});
