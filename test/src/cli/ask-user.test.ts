import { describe, expect, it } from 'vitest';
import { type Answerer, lineAnswerer, type Reply, terminalAnswerer, withConsent } from '../../../src/cli/ask-user.ts';
import { createQuestions } from '../../../src/cli/run-command.ts';
import { replies } from '../../../src/testing/replies.ts';
import { entriesOf, sendAnswer, settle, startScripted, unsureAnswer } from '../../support/run-chain.ts';
import {
  consentResolutions,
  fakeTerminal,
  startWithTerminal,
  TWO_LONG_MESSAGES,
  unsure,
} from '../../support/terminal.ts';

describe('without a prompt', () => {
  it('[U8] answers consent with "keep" immediately when there is no terminal', async () => {
    const { run, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES }, lineAnswerer);
    await finish();
    expect(consentResolutions(run)).toMatchObject([{ kept: 2, by: 'default' }]);
  });

  it.each([
    ['keep', { kept: 2 }],
    ['summarize', { summarized: 2 }],
    ['remove', { removed: 2 }],
  ] as const)('[U8] applies the choice "%s" from the options immediately', async (choice, counted) => {
    const { run, fake, finish } = startWithTerminal({}, { history: TWO_LONG_MESSAGES }, (terminal) =>
      withConsent(terminalAnswerer(terminal), choice, 'option'),
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
    let late: (reply: Reply) => void = () => {};
    const consent = () => new Promise<Reply>((resolve) => (late = resolve));
    const { run, clock, finish } = startWithTerminal(
      { yield: { hang: true } },
      { history: TWO_LONG_MESSAGES },
      (terminal) => ({
        ...terminalAnswerer(terminal),
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
    const questions = createQuestions(run, terminalAnswerer(terminal), terminal.screen);
    for (const event of [...run.journal, ...entriesOf(run, 'approval-asked')]) questions.onEvent(event);
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
    const questions = createQuestions(run, answerer, fakeTerminal().terminal.screen);
    for await (const event of run.events) questions.onEvent(event);
    expect(asked).toHaveLength(1);
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual([
      'run.directed',
      'run.directed',
      'run.finished',
    ]);
  });
});
