import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import { coverageCommand } from '../../../src/cli/coverage-command.ts';
import { exportCommand } from '../../../src/cli/export-command.ts';
import { replayCommand } from '../../../src/cli/replay-command.ts';
import { resumeCommand } from '../../../src/cli/resume-and-fork-commands.ts';
import { runsCommand } from '../../../src/cli/runs-command.ts';
import { showCommand } from '../../../src/cli/show-command.ts';
import { whatIfCommand } from '../../../src/cli/what-if-command.ts';
import { durableFormat } from '../../../src/durable/durable-format.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { cli, temporaryFolder } from '../../support/cli.ts';
import { runOverHistory } from '../../support/journal-files.ts';
import { fakeTerminal } from '../../support/terminal.ts';

const ESCAPE = '\u001b[2J';

it.each([
  ['an option', ['run', 'x', '--format', ESCAPE]],
  ['a command', [`no${ESCAPE}`]],
  ['a number', ['run', 'x', '--max-cycles', ESCAPE]],
  ['a directory, with its stack', ['--stack', 'run', 'x', '--session', 's', '--session-file', `no/${ESCAPE}`]],
])('an error about %s prints no control characters', async (_, args) => {
  const { code, stdout, stderr } = await cli(...args);
  expect(code).not.toBe(0);
  expect(`${stdout}${stderr}`).not.toContain('\u001b');
});

/** Every kind of character that a terminal does not print: escape sequences, C1, and marks that change the direction of text. */
const HOSTILE = `\u001b]0;x\u0007${ESCAPE}\u009b2J\u202e`;

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]));
}

function changed<Value>(value: Value, [name = '', ...rest]: Path): Value {
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[name] = rest.length === 0 ? `${HOSTILE}${String(copy[name])}` : changed(copy[name], rest);
  return copy as Value;
}

/** Returns an entry with control characters in every text that the format does not reject. */
function hostile(entry: JournalEntry): JournalEntry {
  let forged = entry;
  for (const path of pathsOf(entry)) {
    const next = changed(forged, path);
    try {
      durableFormat.parse(JSON.parse(JSON.stringify(storedEntry(next))));
      forged = next;
    } catch {}
  }
  return forged;
}

describe('an untrusted journal', () => {
  /** A replay compares the entries, so it ends at the first that was forged. */
  const flags = async (isForged: (entry: JournalEntry) => boolean) => {
    const { entries: journal } = await runOverHistory();
    const journals = temporaryFolder();
    const writer = fileJournals(journals).create('strange');
    await writer.write(journal.map((entry) => storedEntry(isForged(entry) ? hostile(entry) : entry)));
    await writer.close();
    vi.stubEnv('NO_COLOR', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    return { journals };
  };
  const streams = () => {
    const { terminal, written } = fakeTerminal();
    const out = Object.assign(terminal.out, { isTTY: false });
    return { stdin: Object.assign(terminal.input, { isTTY: false }), stdout: out, stderr: out, written };
  };
  type Commands = Record<string, (flags: { journals: string }, out: ReturnType<typeof streams>) => Promise<unknown>>;
  const commands: Commands = {
    runs: (given, { stdout }) => runsCommand(given, stdout),
    show: (given, { stdout }) => showCommand('last', given, stdout),
    'show --all': (given, { stdout }) => showCommand('last', { ...given, all: true }, stdout),
    'show --json': (given, { stdout }) => showCommand('last', { ...given, json: true }, stdout),
    replay: (given, out) => replayCommand('last', given, out as unknown as NodeJS.Process),
    'replay --speed': (given, out) => replayCommand('last', { ...given, speed: 1e9 }, out as unknown as NodeJS.Process),
    resume: (given, out) => resumeCommand('last', given, out),
    'what-if': (given, { stdout }) => whatIfCommand({ ...given, set: ['limits.maxCycles=1'] }, stdout),
    coverage: (given) => coverageCommand(['last'], { ...given, all: true }).then(({ text }) => text),
    'export --preview': (given) => exportCommand('last', { ...given, preview: true, redact: ['/./'] }),
  };

  const cases = Object.keys(commands).flatMap((name) => [
    [name, 'all entries', () => true] as const,
    [name, 'decisions', ({ type }: JournalEntry) => type === 'decision'] as const,
  ]);
  it.each(cases)('prints no control characters: %s, %s forged', async (name, _, isForged) => {
    const out = streams();
    const text = await commands[name]?.(await flags(isForged), out).catch((error: Error) => error.message);
    const printed = `${typeof text === 'string' ? text : ''}${out.written()}`;
    expect(printed.length).toBeGreaterThan(20);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
    expect(printed.match(/.{0,40}[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e].{0,20}/u)?.[0]).toBeUndefined();
  });
});
