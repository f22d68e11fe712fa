import { describe, expect, it } from 'vitest';
import { select } from '../../../src/cli/select.ts';
import { settle } from '../../../src/testing/settle.ts';
import { type FakeTerminal, fakeTerminal, type Key } from '../../support/terminal.ts';

const question = {
  text: 'Which fruit?',
  choices: [
    { value: 1, label: 'apple' },
    { value: 2, label: 'pear', note: 'ripe' },
    { value: 3, label: 'plum' },
  ],
  initial: 1,
  otherwise: 'none',
};

async function ask(given: { readonly initial?: number } = {}, signal = new AbortController().signal) {
  const fake = fakeTerminal();
  const reply = select({ ...question, ...given }, fake.terminal, signal);
  await opened(fake);
  return { fake, reply };
}

const opened = (fake: FakeTerminal): Promise<void> => expect.poll(() => fake.shown().at(-1) ?? '').toContain('Esc');

const IN_ORDER = { raw: false, cursorShown: true, listeners: expect.any(Number) };

describe('a choice at a terminal', () => {
  it('[U8] shows what there is to choose from, the first choice marked, and how', async () => {
    const { fake, reply } = await ask();
    expect(fake.shown()).toEqual([
      '  Which fruit?',
      '  > apple',
      '    pear (ripe)',
      '    plum',
      '  up, down: move · Enter: choose · Esc: none',
    ]);
    expect(fake.inOrder()).toMatchObject({ raw: true, cursorShown: false });
    await fake.press('enter');
    await reply;
  });

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

  it('Escape leaves it', async () => {
    const { fake, reply } = await ask();
    await fake.press('escape');
    expect(await reply).toEqual({ kind: 'left' });
    expect(fake.shown()).toEqual(['  Which fruit? none']);
    expect(fake.inOrder()).toEqual(IN_ORDER);
    expect(fake.interrupts()).toBe(0);
  });

  it('Ctrl-C, which is a key while it is open, interrupts once and is no answer', async () => {
    const { fake, reply } = await ask();
    await fake.press('ctrl-c');
    expect(await reply).toEqual({ kind: 'gone' });
    expect(fake.interrupts()).toBe(1);
    expect(fake.shown()).toEqual(['  Which fruit? Ctrl-C']);
    expect(fake.inOrder()).toEqual(IN_ORDER);
  });

  it.each(['ctrl-d', 'the end of the input'])('%s leaves it', async (how) => {
    const { fake, reply } = await ask();
    if (how === 'ctrl-d') await fake.press('ctrl-d');
    else fake.endInput();
    expect(await reply).toEqual({ kind: 'left' });
    expect(fake.inOrder()).toEqual(IN_ORDER);
  });

  it('an input that has ended already is left at once, and nothing is shown', async () => {
    const fake = fakeTerminal();
    fake.endInput();
    fake.terminal.input.resume();
    await settle();
    expect(await select(question, fake.terminal, new AbortController().signal)).toEqual({ kind: 'left' });
    expect(fake.written()).toBe('');
  });

  it('goes when nobody waits for it any more', async () => {
    const waiting = new AbortController();
    const { fake, reply } = await ask({}, waiting.signal);
    waiting.abort();
    expect(await reply).toEqual({ kind: 'gone' });
    expect(fake.inOrder()).toEqual(IN_ORDER);
    expect(fake.interrupts()).toBe(0);
  });

  it('does not come when nobody waits for it before it is there', async () => {
    const waiting = new AbortController();
    const fake = fakeTerminal();
    const reply = select(question, fake.terminal, waiting.signal);
    waiting.abort();
    expect(await reply).toEqual({ kind: 'gone' });
    expect(fake.written()).toBe('');
  });

  it('two keys that come at once, Enter and the end, are one answer and one line', async () => {
    const { fake, reply } = await ask();
    fake.terminal.input.push('\r\u0004');
    expect(await reply).toEqual({ kind: 'chosen', value: 1 });
    await settle();
    expect(fake.written().match(/\n/g)).toHaveLength(5);
  });

  it('after ten questions nobody listens more than after one', async () => {
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
