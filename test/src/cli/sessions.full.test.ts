import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqliteSessions } from '../../../src/chain/sqlite-sessions.ts';
import { replyingServer } from '../../support/chat-server.ts';
import { startCli, temporaryFolder } from '../../support/cli.ts';
import { recall } from '../../support/sessions.ts';

const aFile = (): string => join(temporaryFolder(), 'chat.db');

describe('postchain run --session', () => {
  it('[R2] gives a run the earlier turns of its session, from another process', async () => {
    const server = await replyingServer();
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
});
