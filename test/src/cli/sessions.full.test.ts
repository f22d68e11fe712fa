import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { sqliteSessions } from '../../../src/chain/sqlite-sessions.ts';
import { createProgress } from '../../../src/cli/progress.ts';
import { createScreen } from '../../../src/cli/screen.ts';
import { chatServer, completion, replyTo, respondWithJson, streaming } from '../../support/chat-server.ts';
import { cli, startCli, temporaryFolder } from '../../support/cli.ts';
import { recall } from '../../support/sessions.ts';
import { fakeTerminal } from '../../support/terminal.ts';

const aFile = (): string => join(temporaryFolder(), 'chat.db');

/** A server with a model that gives a valid reply to everything. */
const aServer = () =>
  chatServer(({ method, body, response }) => {
    if (method === 'GET') return respondWithJson(response, 404, {});
    streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });

describe('postchain run --session', () => {
  it('[R2] gives a run the earlier turns of its session, from another process', async () => {
    const server = await aServer();
    const file = aFile();
    const ask = (request: string, session: string) =>
      startCli(['run', request, '--session', session, '--session-file', file], { OPENAI_BASE_URL: server.baseURL })
        .finished;
    await ask('My name is Ada.', 'u42');
    const before = server.exchanges.length;
    const { code, stderr } = await ask('What is my name?', 'u42');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^ {2}session +1 turn recalled$/m);
    const prompts = server.exchanges.slice(before).map(({ body }) => JSON.stringify(body));
    expect(prompts.filter((prompt) => prompt.includes('My name is Ada.')).length).toBeGreaterThan(0);
    expect((await ask('Who am I?', 'u43')).stderr).toMatch(/^ {2}session +0 turns recalled$/m);
    expect((await recall(sqliteSessions(file), 'u42')).map(({ request }) => request)).toEqual([
      'My name is Ada.',
      'What is my name?',
    ]);
  });

  it('stores sessions in the home directory by default, readable only by the user', async () => {
    const home = temporaryFolder();
    const { finished } = startCli(['run', 'What is a cycle?', '--session', 'u42', '--quiet'], { HOME: home });
    expect((await finished).stderr).toBe('');
    const folder = join(home, '.postchain');
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
    expect((statSync(join(folder, 'sessions.db')).mode & 0o777).toString(8)).toBe('600');
    expect(await recall(sqliteSessions(join(folder, 'sessions.db')), 'u42')).toHaveLength(1);
  });

  it('stores nothing for a run without a session', async () => {
    const home = temporaryFolder();
    await startCli(['run', 'What is a cycle?', '--quiet'], { HOME: home }).finished;
    expect(existsSync(join(home, '.postchain', 'sessions.db'))).toBe(false);
  });

  it.each([
    [['--session', ''], /sessionId: expected 1 to 200 characters.*; received ""/],
    [['--session', 'a\nb'], /sessionId: expected .*; received "a\\nb"/],
    [['--session-file', 'chat.db'], /--session-file requires --session/],
    [['--session', 'u42', '--session-file', 'no-such-folder/chat.db'], /"no-such-folder\/chat\.db": ENOENT/],
    [['--session', 'u42', '--session-file', 'README.md'], /"README\.md": file is not a database/],
  ])('rejects %j with one line, before anything starts', async (flags, message) => {
    const { code, stdout, stderr } = await cli('run', 'What is a cycle?', ...flags);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('appears in the help with the default session file', async () => {
    const { stdout } = await cli('run', '--help');
    expect(stdout).toMatch(/--session <id>/);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('(default: ~/.postchain/sessions.db)');
  });
});

describe('session entries in the progress output', () => {
  const at = { seq: 0, atMs: 0, sessionId: 'u42' };
  const shown = (...events: JournalEntry[]): readonly string[] => {
    const fake = fakeTerminal(120);
    const progress = createProgress(createScreen(fake.terminal.out));
    for (const event of events) progress(event);
    return fake.shown().map((line) => line.trim());
  };

  it.each<[JournalEntry, RegExp | null]>([
    [{ ...at, type: 'session-recalled', turns: 2, messages: [], problem: null }, /^session +2 turns recalled$/],
    [
      { ...at, type: 'session-recalled', turns: 0, messages: [], problem: 'a\u001b[2J\nwall' },
      /^session +0 turns recalled: a\[2J wall$/,
    ],
    [{ ...at, type: 'session-stored', problem: null }, null],
    [{ ...at, type: 'session-stored', problem: 'a full disk' }, /^session +not stored: a full disk$/],
  ])('%j', (event, line) => {
    const lines = shown(event).filter((one) => one.startsWith('session'));
    if (line === null) expect(lines).toEqual([]);
    else expect(lines).toEqual([expect.stringMatching(line)]);
  });
});
