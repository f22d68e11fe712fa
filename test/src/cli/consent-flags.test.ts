import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type JournalEntry, journalEntrySchema } from '../../../machines/contracts/journal.ts';
import { finalAnswerSchema } from '../../../machines/contracts/synthesis.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { cli, temporaryFolder } from '../../support/cli.ts';
import { fileWith, LONG_HISTORY } from '../../support/journal-file.ts';
import { fakeTerminal } from '../../support/terminal.ts';

const REQUEST = 'What does the Yield phase decide, and in which order?';

function entriesIn(path: string): readonly JournalEntry[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => journalEntrySchema.parse(JSON.parse(line)) as JournalEntry);
}

describe('a run over earlier turns, with nobody at a terminal', () => {
  it.each([
    [[], 'consent (nobody): 3 kept, 0 summarised, 0 removed'],
    [['--consent', 'keep'], 'consent (option): 3 kept, 0 summarised, 0 removed'],
    [['--consent', 'summarise'], 'consent (option): 0 kept, 3 summarised, 0 removed'],
    [['--consent', 'remove'], 'consent (option): 0 kept, 0 summarised, 3 removed'],
  ])('[U4][U8] %j: the long ones are asked about, and answered at once', async (flags, line) => {
    const path = join(temporaryFolder(), 'run.jsonl');
    const history = fileWith(JSON.stringify(LONG_HISTORY));
    const { code, stderr } = await cli(
      'run',
      REQUEST,
      '--docs',
      'docs',
      '--history',
      history,
      '--journal',
      path,
      ...flags,
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/ documents · 4 earlier turns · run [0-9a-f]{8}\n/);
    expect(stderr).toContain(line);
    expect(stderr).not.toContain('\u001b');
    const entries = entriesIn(path);
    expect(entries.filter(({ type }) => type === 'consent-asked')).toHaveLength(1);
    const [start] = entries;
    expect(start).toMatchObject({ request: REQUEST, messages: LONG_HISTORY.map(({ content }) => ({ content })) });
  });

  it('[U13] the progress says under Understanding what was taken away', async () => {
    const history = fileWith(JSON.stringify(LONG_HISTORY));
    const { stderr } = await cli('run', REQUEST, '--docs', 'docs', '--history', history, '--consent', 'remove');
    const lines = stderr.split('\n').map((line) => line.trim());
    const at = lines.findIndex((line) => line.startsWith('understanding'));
    expect(lines[at + 1]).toMatch(
      /^kept \d+ of \d+ messages, [\d,]+ of [\d,]+ tokens \((estimated, )?[\d,]+ allowed\)$/,
    );
    expect(lines.slice(at + 2)).toContain('pruned earlier.h1 (user): the user agreed to remove it');
  });

  it('[U8] a word that is none is refused, with those that there are', async () => {
    const { code, stderr } = await cli('run', REQUEST, '--consent', 'maybe');
    expect(code).toBe(2);
    expect(stderr).toBe(
      "error: option '--consent <choice>' argument 'maybe' is invalid. Allowed choices are keep, summarise, remove.\n",
    );
  });

  it.each([
    [
      'no-such.json',
      /^postchain: The history "no-such\.json" cannot be read \(ENOENT.*\): give a file with a JSON array/,
    ],
    ['README.md', /^postchain: README\.md: line 1: no JSON \(.*\); wanted a file with a JSON array/],
    ['package.json', /^postchain: package\.json: line 1: no JSON/],
  ])('a history that is none, %s, is refused in one line', async (path, message) => {
    const { code, stdout, stderr } = await cli('run', REQUEST, '--history', path);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('a run over earlier turns, at a terminal', () => {
  /** The whole command with made-up streams; what is printed as the answer is kept apart. */
  function start(flags: Parameters<typeof runCommand>[1], fake = fakeTerminal()) {
    const answer = fakeTerminal();
    const { input: stdin, out: stderr } = fake.terminal;
    const history = fileWith(JSON.stringify(LONG_HISTORY));
    const streams = { stdin, stderr, stdout: answer.terminal.out } as Parameters<typeof runCommand>[2];
    const code = runCommand(
      REQUEST,
      { model: 'offline', docs: ['docs'], history, journals: temporaryFolder(), ...flags },
      streams,
    );
    const seen = (text: string): Promise<void> => expect.poll(() => fake.shown().join('\n')).toContain(text);
    return { fake, answer, code, seen };
  }

  it('[U8][U9] asks in the middle of the progress, and goes on with what is said', async () => {
    const { fake, answer, code, seen } = start({});
    await seen('What becomes of them?');
    await fake.press('down', 'enter');
    expect(await code).toBe(0);
    const shown = fake.shown().map((line) => line.trim());
    const at = shown.indexOf('What becomes of them? summarise all');
    expect(shown[at + 1]).toBe('consent (user): 0 kept, 3 summarised, 0 removed');
    expect(shown[at + 2]).toMatch(/^understanding /);
    expect(answer.shown().join('\n')).toContain('Answer (confidence');
    expect(fake.inOrder()).toMatchObject({ raw: false, cursorShown: true });
  });

  it('Ctrl-C at the question cancels the run: a degraded answer, exit code 130, nobody left listening', async () => {
    const listening = process.listenerCount('SIGINT');
    const { fake, answer, code, seen } = start({});
    await seen('What becomes of them?');
    await fake.press('ctrl-c');
    expect(await code).toBe(130);
    expect(answer.shown().join('\n')).toContain('The run was cancelled (Ctrl-C)');
    expect(fake.inOrder()).toMatchObject({ raw: false, cursorShown: true });
    expect(process.listenerCount('SIGINT')).toBe(listening);
  });

  it.each([{ json: true }, { quiet: true }])('[U8] %j asks nothing: everything is kept', async (flags) => {
    const journal = join(temporaryFolder(), 'run.jsonl');
    const { fake, answer, code } = start({ ...flags, journal });
    expect(await code).toBe(0);
    expect(fake.written()).toBe('');
    expect(entriesIn(journal).find(({ type }) => type === 'consent-resolved')).toMatchObject({ kept: 3, by: 'nobody' });
    if (flags.json) expect(() => finalAnswerSchema.parse(JSON.parse(answer.written()))).not.toThrow();
  });

  it.each(['input', 'out'] as const)('[U8] without a terminal as its %s it asks nobody', async (name) => {
    const fake = fakeTerminal();
    Object.assign(fake.terminal[name], { isTTY: false });
    const { code } = start({}, fake);
    expect(await code).toBe(0);
    expect(fake.written()).not.toContain('What becomes');
    expect(fake.written()).toContain('3 kept, 0 summarised, 0 removed');
  });

  it('[U8] --consent is taken in place of asking', async () => {
    const { fake, code } = start({ consent: 'remove' });
    expect(await code).toBe(0);
    expect(fake.written()).not.toContain('What becomes');
    expect(fake.shown().join('\n')).toContain('0 kept, 0 summarised, 3 removed');
  });
});
