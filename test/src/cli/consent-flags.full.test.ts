import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { finalAnswerSchema } from '../../../machines/contracts/synthesis.ts';
import { readRun } from '../../../src/chain/journal/run-journal.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { readJournal } from '../../../src/durable/journals/file-journals.ts';
import { cli, temporaryFolder } from '../../support/cli.ts';
import { fileWith, LONG_HISTORY } from '../../support/journal-files.ts';
import { fakeTerminal } from '../../support/terminal.ts';

const REQUEST = 'What does the Yield phase decide, and in which order?';

const entriesIn = (path: string) => readRun(readJournal(path));

describe('a run over earlier turns, without a terminal', () => {
  it.each([
    [[], 'consent (not asked): 3 kept, 0 summarized, 0 removed'],
    [['--consent', 'keep'], 'consent (option): 3 kept, 0 summarized, 0 removed'],
    [['--consent', 'summarize'], 'consent (option): 0 kept, 3 summarized, 0 removed'],
    [['--consent', 'remove'], 'consent (option): 0 kept, 0 summarized, 3 removed'],
  ])('[U4] [U8] with %j, requests consent for the long messages and answers it immediately', async (flags, line) => {
    const path = join(temporaryFolder(), 'run.jsonl');
    const history = fileWith(JSON.stringify(LONG_HISTORY));
    const args = ['--docs', 'docs', '--history', history, '--journal', path, ...flags];
    const { code, stderr } = await cli('run', REQUEST, ...args);
    expect(code).toBe(0);
    expect(stderr).toMatch(/ documents · 4 earlier turns · run [0-9a-f]{8}\n/);
    expect(stderr).toContain(line);
    expect(stderr).not.toContain('\u001b');
    const entries = await entriesIn(path);
    expect(entries.filter(({ type }) => type === 'consent-asked')).toHaveLength(1);
    const [start] = entries;
    expect(start).toMatchObject({
      input: { request: REQUEST, messages: LONG_HISTORY.map(({ content }) => ({ content })) },
    });
  });

  it('[U13] lists the removed messages under Understanding in the progress output', async () => {
    const history = fileWith(JSON.stringify(LONG_HISTORY));
    const { stderr } = await cli('run', REQUEST, '--docs', 'docs', '--history', history, '--consent', 'remove');
    const lines = stderr.split('\n').map((line) => line.trim());
    const at = lines.findIndex((line) => line.startsWith('understanding'));
    expect(lines[at + 1]).toMatch(
      /^kept \d+ of \d+ messages, [\d,]+ of [\d,]+ tokens \((estimated, )?[\d,]+ allowed\)$/,
    );
    expect(lines.slice(at + 2)).toContain(
      'removed earlier.h1 (user): the user message has 1629 characters, more than 1000; an option removes it',
    );
  });
});

describe('a run over earlier turns, at a terminal', () => {
  /** Runs the command with fake streams; stdout is separate. */
  function start(flags: Parameters<typeof runCommand>[1], fake = fakeTerminal()) {
    const answer = fakeTerminal();
    const { input: stdin, out: stderr } = fake.terminal;
    const history = fileWith(JSON.stringify(LONG_HISTORY));
    vi.stubEnv('POSTCHAIN_HOME', temporaryFolder());
    const streams = { stdin, stderr, stdout: answer.terminal.out } as Parameters<typeof runCommand>[2];
    const code = runCommand(
      REQUEST,
      { model: 'offline', docs: ['docs'], history, journals: temporaryFolder(), ...flags },
      streams,
    );
    const seen = (text: string): Promise<void> => expect.poll(() => fake.shown().join('\n')).toContain(text);
    return { fake, answer, code, seen };
  }

  it('cancels the run on Ctrl-C at the prompt: a degraded answer, exit code 130, no listener left', async () => {
    const listening = process.listenerCount('SIGINT');
    const { fake, answer, code, seen } = start({});
    await seen('What should happen to them?');
    await fake.press('ctrl-c');
    expect(await code).toBe(130);
    expect(answer.shown().join('\n')).toContain('The run was canceled (Ctrl-C)');
    expect(fake.inOrder()).toMatchObject({ raw: false, cursorShown: true });
    expect(process.listenerCount('SIGINT')).toBe(listening);
  });

  it.each([{ json: true }, { quiet: true }])('[U8] with %j, asks nothing and keeps everything', async (flags) => {
    const journal = join(temporaryFolder(), 'run.jsonl');
    const { fake, answer, code } = start({ ...flags, journal });
    expect(await code).toBe(0);
    expect(fake.written()).toBe('');
    expect((await entriesIn(journal)).find(({ type }) => type === 'consent-resolved')).toMatchObject({
      kept: 3,
      by: 'default',
    });
    if (flags.json) expect(() => finalAnswerSchema.parse(JSON.parse(answer.written()))).not.toThrow();
  });
});
