import { describe, expect, it } from 'vitest';
import { select } from '../../../src/cli/ask-user.ts';
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
  it('[U8] lists the choices, marks the first, and explains the keys', async () => {
    const { fake, reply } = await ask();
    expect(fake.shown()).toEqual([
      '  Which fruit?',
      '  > apple',
      '    pear (ripe)',
      '    plum',
      '  ↑/↓: move · Enter: select · Esc: none',
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

  it('Escape dismisses it', async () => {
    const { fake, reply } = await ask();
    await fake.press('escape');
    expect(await reply).toEqual({ kind: 'dismissed' });
    expect(fake.shown()).toEqual(['  Which fruit? none']);
    expect(fake.inOrder()).toEqual(IN_ORDER);
    expect(fake.interrupts()).toBe(0);
  });

  it('Ctrl-C interrupts once and cancels it', async () => {
    const { fake, reply } = await ask();
    await fake.press('ctrl-c');
    expect(await reply).toEqual({ kind: 'cancelled' });
    expect(fake.interrupts()).toBe(1);
    expect(fake.shown()).toEqual(['  Which fruit? Ctrl-C']);
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

  it('an aborted signal cancels it', async () => {
    const waiting = new AbortController();
    const { fake, reply } = await ask({}, waiting.signal);
    waiting.abort();
    expect(await reply).toEqual({ kind: 'cancelled' });
    expect(fake.inOrder()).toEqual(IN_ORDER);
    expect(fake.interrupts()).toBe(0);
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
