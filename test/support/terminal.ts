import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import pc from 'picocolors';
import { expect } from 'vitest';
import type { Run } from '../../src/chain/runtime/run.ts';
import type { RunOptions } from '../../src/chain/runtime/run-options.ts';
import { type Answerer, answererFor, type Terminal } from '../../src/cli/ask-user.ts';
import { RunQuestions } from '../../src/cli/run-command.ts';
import { createScreen } from '../../src/cli/screen.ts';
import { replies } from '../../src/testing/replies.ts';
import { settle } from '../../src/testing/settle.ts';
import type { Capability } from '../../src/tools/capability.ts';
import { entriesOf, type Plan, startScripted } from './run-chain.ts';

const ESC = '\u001b';

const KEYS = {
  up: `${ESC}[A`,
  down: `${ESC}[B`,
  enter: '\r',
  escape: ESC,
  'ctrl-c': '\u0003',
  'ctrl-d': '\u0004',
} as const;

export type Key = keyof typeof KEYS;

export interface FakeTerminal {
  readonly terminal: Terminal;
  /** Everything that was written, byte for byte. */
  readonly written: () => string;
  /** The lines that one would see. */
  readonly shown: () => readonly string[];
  readonly press: (...keys: readonly Key[]) => Promise<void>;
  readonly type: (text: string) => Promise<void>;
  readonly endInput: () => void;
  /** What a prompt must leave behind: lines are read as lines again, the cursor is there, and nobody listens for keys. */
  readonly inOrder: () => { readonly raw: boolean; readonly cursorShown: boolean; readonly listeners: number };
}

/** A terminal made of streams: keys go in as bytes, and what is written is drawn on a screen. */
export function fakeTerminal(columns = 100): FakeTerminal {
  let written = '';
  const state = { raw: false };
  const stream = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => {
      state.raw = raw;
    },
  });
  const sink = new Writable({
    write(chunk, _, done) {
      written += String(chunk);
      done();
    },
  });
  const input = stream as unknown as NodeJS.ReadStream;
  const out = Object.assign(sink, { isTTY: true, columns, rows: 40 }) as unknown as NodeJS.WriteStream;
  return {
    terminal: {
      input,
      out,
      screen: createScreen(out),
      colors: pc.createColors(false),
      interrupt: () => {},
    },
    written: () => written,
    shown: () => draw(written),
    async press(...keys) {
      for (const key of keys) {
        // A pause after Escape distinguishes it from the beginning of an arrow key.
        const read = key === 'escape' ? once(stream, 'keypress') : null;
        stream.write(KEYS[key]);
        await read;
        await settle();
      }
    },
    async type(text) {
      for (const character of text) {
        stream.write(character);
        await settle();
      }
    },
    endInput: () => stream.end(),
    inOrder: () => ({
      raw: state.raw,
      cursorShown: written.lastIndexOf(`${ESC}[?25h`) >= written.lastIndexOf(`${ESC}[?25l`),
      listeners: stream.listenerCount('keypress'),
    }),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that move the cursor
const PIECE = /\u001b\[(\??[\d;]*)([A-Za-z])|\r|\n|[^\u001b\r\n]+/g;

/** The screen after a text with the few sequences that prompts and progress use; lines are as long as they come. */
function draw(text: string): readonly string[] {
  const lines: string[] = [''];
  let row = 0;
  let column = 0;
  for (const [piece, argument = '', command] of text.matchAll(PIECE)) {
    const line = lines[row] ?? '';
    const number = Number(argument || 1);
    if (piece === '\r') column = 0;
    else if (piece === '\n') [row, column] = [row + 1, 0];
    else if (command === undefined) {
      lines[row] = line.padEnd(column).slice(0, column) + piece + line.slice(column + piece.length);
      column += piece.length;
    } else if (command === 'A') row = Math.max(0, row - number);
    else if (command === 'B') row += number;
    else if (command === 'C') column += number;
    else if (command === 'D') column = Math.max(0, column - number);
    else if (command === 'G') column = 0;
    else if (command === 'K') lines[row] = '';
    else if (command === 'J') lines.splice(row, lines.length, line.slice(0, column));
  }
  return Array.from(lines, (line = '') => line.trimEnd()).filter((line) => line !== '');
}

export const longText = (subject: string): string =>
  `Please look into ${subject}. ${'It is a long story. '.repeat(80)}`;
export const userTurn = (content: string) => ({ role: 'user' as const, content });
/** Two messages that are long. */
export const TWO_LONG_MESSAGES = [userTurn(longText('the cellar')), userTurn(longText('the attic'))];
/** A yield that goes on. */
export const unsure: Plan = { yield: { ...replies.yield, confidence: 0.1, taskComplete: false } };

/** A scripted run with someone at a made-up terminal who hears it. */
export function startWithTerminal(
  plan: Plan,
  options: Partial<RunOptions>,
  answererOf = (terminal: Terminal): Answerer => answererFor({}, false, terminal),
  fake = fakeTerminal(),
  capabilities: readonly Capability[] = [],
) {
  const { run, clock } = startScripted(plan, { limits: { maxCycles: 2 }, capabilities }, options);
  const terminal = { ...fake.terminal, interrupt: () => run.cancel('Ctrl-C') };
  const questions = new RunQuestions(run, answererOf(terminal), terminal.screen);
  const heard = (async () => {
    for await (const event of run.events) questions.onEvent(event);
    questions.close();
  })();
  const finish = async () => {
    const answer = await run.answer;
    await heard;
    return answer;
  };
  return { run, clock, fake, finish };
}

export const waitForText = (fake: FakeTerminal, text: string): Promise<void> =>
  expect.poll(() => fake.shown().join('\n')).toContain(text);

export const consentResolutions = (run: Run) => entriesOf(run, 'consent-resolved');
/** What became of messages by consent. */
export const consentOutcomes = (run: Run) =>
  entriesOf(run, 'operations')
    .flatMap(({ applied }) => applied)
    .filter(({ metadata }) => metadata['consent'] !== undefined)
    .map(({ target, operation }) => `${operation} ${target}`);
