import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../machines/contracts/chain-event.ts';
import { type Answerer, linesOf, personAt, withConsent } from '../../../src/cli/answerer.ts';
import { createAsker } from '../../../src/cli/ask-user.ts';
import type { RunOptions } from '../../../src/runtime/run-options.ts';
import { replies } from '../../../src/testing/replies.ts';
import { unsureAnswer } from '../../support/replies.ts';
import { entriesOf, type Plan, settle, startScripted } from '../../support/run-chain.ts';
import { type FakeTerminal, fakeTerminal } from '../../support/terminal.ts';

const told = (subject: string): string => `Please look into ${subject}. ${'It is a long story. '.repeat(80)}`;
const user = (content: string) => ({ role: 'user' as const, content });
const TWO = [user(told('the cellar')), user(told('the attic'))];
const unsure: Plan = { yield: { ...replies.yield, confidence: 0.1, taskComplete: false } };

/** A scripted run with someone at a made-up terminal who hears it. */
function startAsked(plan: Plan, options: Partial<RunOptions>, answererOf = personAt, fake = fakeTerminal()) {
  const { run, clock } = startScripted(plan, { limits: { maxCycles: 2 } }, options);
  const terminal = { ...fake.terminal, interrupt: () => run.cancel('Ctrl-C') };
  const asker = createAsker(run, answererOf(terminal), terminal.screen);
  const heard = (async () => {
    for await (const event of run.events) asker.hear(event);
    asker.close();
  })();
  const finish = async () => {
    const answer = await run.answer;
    await heard;
    return answer;
  };
  return { run, clock, fake, finish };
}

const seen = (fake: FakeTerminal, text: string): Promise<void> =>
  expect.poll(() => fake.shown().join('\n'), { timeout: 5_000 }).toContain(text);

const resolved = (run: ReturnType<typeof startAsked>['run']) => entriesOf(run, 'consent-resolved');
const fates = (run: ReturnType<typeof startAsked>['run']) =>
  entriesOf(run, 'operations')
    .flatMap(({ applied }) => applied)
    .filter(({ metadata }) => metadata['consent'] !== undefined)
    .map(({ target, operation }) => `${operation} ${target}`);

describe('consent at a terminal', () => {
  it('[U8] asks once for the batch, with previews of 50 characters and lengths, and keeps by default', async () => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc: keep all');
    expect(fake.shown()).toEqual([
      '  2 messages of yours are long (no answer within 120 s keeps them):',
      '    "Please look into the cellar. It is a long story. I…" (1,629 characters)',
      '    "Please look into the attic. It is a long story. It…" (1,628 characters)',
      '  What becomes of them?',
      '  > keep all',
      '    summarise all',
      '    remove all',
      '    one by one',
      '  up, down: move · Enter: choose · Esc: keep all',
    ]);
    await fake.press('enter');
    await finish();
    expect(resolved(run)).toMatchObject([{ kept: 2, summarised: 0, removed: 0, by: 'user' }]);
    expect(entriesOf(run, 'consent-asked')).toHaveLength(1);
  });

  it.each([
    [1, { kept: 0, summarised: 2, removed: 0 }],
    [2, { kept: 0, summarised: 0, removed: 2 }],
  ])('[U8] the choice %i below is for all', async (below, counted) => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    await fake.press(...Array.from({ length: below }, () => 'down' as const), 'enter');
    await finish();
    expect(resolved(run)).toMatchObject([{ ...counted, by: 'user' }]);
  });

  it('[U9] one by one: shows what is recommended and the summary proposed, and takes each word by itself', async () => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    await fake.press('up', 'enter');
    await seen(fake, '1 of 2: "Please look into the cellar');
    expect(fake.shown().join('\n')).toMatch(/its summary: "Please look into the cellar\.[^"]+" \(\d+ characters\)/);
    expect(fake.shown().slice(-4)).toEqual([
      '  > keep',
      '    summarise (recommended)',
      '    remove',
      '  up, down: move · Enter: choose · Esc: keep it and the rest',
    ]);
    await fake.press('down', 'enter');
    await seen(fake, '2 of 2: "Please look into the attic');
    await fake.press('up', 'enter');
    await finish();
    expect(fates(run)).toEqual(['TRANSFORM earlier.h1', 'PRUNE earlier.h2']);
  });

  it('[U9] Escape in between keeps what is not answered yet', async () => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    await fake.press('up', 'enter');
    await seen(fake, '1 of 2');
    await fake.press('up', 'enter');
    await seen(fake, '2 of 2');
    await fake.press('escape');
    await finish();
    expect(fates(run)).toEqual(['PRUNE earlier.h1', 'TAG earlier.h2']);
  });

  it('a single message is asked about directly', async () => {
    const { run, fake, finish } = startAsked({}, { history: [user(told('the cellar'))] });
    await seen(fake, 'Esc: keep');
    expect(fake.shown()[0]).toBe('  A message of yours is long (no answer within 120 s keeps it):');
    await fake.press('down', 'enter');
    await finish();
    expect(fates(run)).toEqual(['TRANSFORM earlier.h1']);
  });

  it('of many messages it lists ten', async () => {
    const history = Array.from({ length: 13 }, (_, at) => user(told(`room ${at + 1}`)));
    const { fake, run, finish } = startAsked({}, { history });
    await seen(fake, 'Esc: keep all');
    expect(fake.shown()[0]).toContain('13 messages of yours');
    expect(fake.shown()[11]).toBe('    … and 3 more');
    run.cancel();
    await finish();
  });

  it.each(['escape', 'ctrl-d'] as const)('[U8] %s keeps everything', async (key) => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    await fake.press(key);
    await finish();
    expect(resolved(run)).toMatchObject([{ kept: 2, by: 'user' }]);
  });

  it('[U8] no answer in time keeps everything, and the question leaves the terminal in order', async () => {
    const { run, clock, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    clock.increment(120_000);
    await finish();
    expect(resolved(run)).toMatchObject([{ kept: 2, by: 'time-out' }]);
    expect(fake.inOrder()).toMatchObject({ raw: false, cursorShown: true });
    expect(entriesOf(run, 'delivery')).toEqual([]);
  });

  it('[U8] no answer in time between two items forgets the first', async () => {
    const { run, clock, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    await fake.press('up', 'enter');
    await seen(fake, '1 of 2');
    await fake.press('up', 'enter');
    await seen(fake, '2 of 2');
    clock.increment(120_000);
    await finish();
    expect(fates(run)).toEqual(['TAG earlier.h1', 'TAG earlier.h2']);
  });

  it.each(['cancelled', 'interrupted'] as const)('a run that is %s meanwhile takes its question back', async (how) => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    run.send({ type: `run.${how}` });
    const answer = await finish();
    expect(answer.metadata.degraded).toBe(true);
    expect(fake.inOrder()).toMatchObject({ raw: false, cursorShown: true });
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual([`run.${how}`]);
  });

  it('Ctrl-C cancels the run', async () => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    await fake.press('ctrl-c');
    const answer = await finish();
    expect(answer).toMatchObject({ status: 'cancelled', metadata: { degraded: true } });
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.cancelled']);
  });

  it('Ctrl-C at one of several questions is no answer to it, nor to those before', async () => {
    const { run, fake, finish } = startAsked({}, { history: TWO });
    await seen(fake, 'Esc');
    await fake.press('up', 'enter');
    await seen(fake, '1 of 2');
    await fake.press('up', 'enter');
    await seen(fake, '2 of 2');
    await fake.press('ctrl-c');
    expect((await finish()).status).toBe('cancelled');
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.cancelled']);
  });

  it('an answer that comes too late is not sent', async () => {
    let late: (event: ChainEvent) => void = () => {};
    const consent = () => new Promise<ChainEvent>((resolve) => (late = resolve));
    const { run, clock, finish } = startAsked({ yield: { hang: true } }, { history: TWO }, (terminal) => ({
      ...personAt(terminal),
      consent,
    }));
    await settle();
    clock.increment(120_000);
    await settle();
    expect(resolved(run)).toMatchObject([{ by: 'time-out' }]);
    late({ type: 'consent.given', choice: 'remove' });
    await settle();
    expect(entriesOf(run, 'delivery')).toEqual([]);
    run.cancel();
    await finish();
  });

  it('prints no control character of a message or a summary', async () => {
    const hostile = '\u001b[2J\u001b]0;owned\u0007 \u202eevil\u202c \u009b31m\r\nnext\u0000 line.';
    const summary = { ...replies.summary, summaries: [{ messageId: 'earlier.h1', summary: `${hostile} Short.` }] };
    const { fake, finish } = startAsked({ summary } as Plan, { history: [user(`${hostile} ${told('it')}`)] });
    await seen(fake, 'Esc');
    const text = fake.written();
    for (const character of ['\u001b[2J', '\u001b]', '\u0007', '\u202e', '\u009b', '\u0000'])
      expect(text).not.toContain(character);
    expect(fake.shown().join('\n')).toMatch(/"\[2J\]0;owned evil 31m next line\. Please/);
    expect(fake.shown().join('\n')).toMatch(/its summary: "\[2J\]0;owned evil 31m next line\. Short\."/);
    await fake.press('enter');
    await finish();
  });
});

describe('who is not asked', () => {
  it('[U8] consent without a terminal is "keep" at once', async () => {
    const { run, finish } = startAsked({}, { history: TWO }, linesOf);
    await finish();
    expect(resolved(run)).toMatchObject([{ kept: 2, by: 'nobody' }]);
  });

  it.each([
    ['keep', { kept: 2 }],
    ['summarise', { summarised: 2 }],
    ['remove', { removed: 2 }],
  ] as const)('[U8] a word said beforehand, "%s", is taken at once', async (choice, counted) => {
    const { run, fake, finish } = startAsked({}, { history: TWO }, (terminal) =>
      withConsent(personAt(terminal), choice, 'option'),
    );
    await finish();
    expect(resolved(run)).toMatchObject([counted]);
    expect(fake.written()).toBe('');
  });

  it('a prompt that breaks is one that nobody can answer', async () => {
    const broken = async (): Promise<never> => {
      throw new Error('EIO');
    };
    const { run, finish } = startAsked(unsure, { history: TWO, mode: 'manual' }, () => ({
      consent: broken,
      direction: broken,
      close: () => {},
    }));
    await finish();
    expect(resolved(run)).toMatchObject([{ kept: 2 }]);
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['consent.given', 'run.finished']);
  });
});

describe('directions', () => {
  it('[Y4] at a terminal the phases are chosen from, the proposed one marked', async () => {
    const { run, fake, finish } = startAsked(unsure, { mode: 'manual' });
    await seen(fake, 'Where to go on?');
    const [asked] = entriesOf(run, 'direction-asked');
    expect(fake.shown()).toContain(`  > ${asked?.proposal} (proposed)`);
    const words = ['action', 'experience', 'intention', 'observation', 'understanding', 'yield', 'finish', 'cancel'];
    const from = words.indexOf(asked?.proposal ?? '');
    const steps = (words.indexOf('intention') - from + words.length) % words.length;
    await fake.press(...Array.from({ length: steps }, () => 'down' as const), 'enter');
    await finish();
    expect(fake.shown()).toContain('  Where to go on? intention');
    expect(entriesOf(run, 'decision')[0]?.decision).toMatchObject({ rule: 'directedByUser', nextPhase: 'intention' });
  });

  it('[Y4] a proposal that is no phase is told as one, and Escape finishes', async () => {
    const odd = { ...replies.yield, confidence: 0.1, taskComplete: false, proposedPhase: 'lunch\u001b[2J' };
    const { run, fake, finish } = startAsked({ yield: odd } as Plan, { mode: 'manual' });
    await seen(fake, 'Where to go on?');
    expect(fake.written()).not.toContain('\u001b[2J');
    await fake.press('escape');
    await finish();
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.finished']);
  });

  it('[Y4] without a terminal they are read from lines, an empty one takes the proposal', async () => {
    const fake = fakeTerminal();
    const lines = new PassThrough() as unknown as NodeJS.ReadStream;
    const { run, finish } = startAsked(unsure, { mode: 'manual' }, ({ out }) => linesOf({ input: lines, out }), fake);
    (lines as unknown as PassThrough).end('lunch\n\n');
    await settle();
    await finish();
    expect(entriesOf(run, 'direction-refused')).toMatchObject([{ got: 'lunch' }]);
    expect(entriesOf(run, 'decision')[0]?.decision.rule).toBe('directedByUser');
    expect(fake.written()).toContain('Go on with (action, experience');
  });
});

describe('questions of a run that goes on', () => {
  it('that were answered before are not put again', async () => {
    const plan = { yield: (call: number) => unsureAnswer(call, { confidence: 0.1 }) };
    const { run } = startScripted(plan, { limits: { maxCycles: 5 } }, { mode: 'manual' });
    const asks = () => entriesOf(run, 'direction-asked').length;
    await expect.poll(asks).toBe(1);
    run.send({ type: 'run.directed', phase: 'nowhere' });
    run.send({ type: 'run.directed', phase: 'experience' });
    await expect.poll(asks).toBe(2);
    const asked: string[] = [];
    const answerer: Answerer = {
      consent: async () => null,
      direction: async (proposal) => {
        asked.push(proposal);
        return { type: 'run.finished' };
      },
      close: () => {},
    };
    const asker = createAsker(run, answerer, fakeTerminal().terminal.screen);
    for await (const event of run.events) asker.hear(event);
    expect(asked).toHaveLength(1);
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual([
      'run.directed',
      'run.directed',
      'run.finished',
    ]);
  });
});
