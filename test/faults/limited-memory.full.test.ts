import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startChatServer } from '../support/chat-server.ts';
import { sampleSize } from '../support/soak.ts';
import { MODES } from './http-modes.ts';

test('every run on a response without an end ends with an answer in a heap of 512 MB', async () => {
  const all = MODES.filter(({ endless }) => endless);
  const every = Math.ceil(all.length / sampleSize('responses without an end', 8, all.length));
  const modes = all.filter((_, at) => at % every === 0);
  const servers = await Promise.all(
    modes.map(({ respond }) => startChatServer(async (one) => void (await respond(one)))),
  );
  onTestFinished(async () => void (await Promise.all(servers.map(({ stop }) => stop()))));
  const program = fileURLToPath(new URL('limited-memory.mjs', import.meta.url));
  const running = promisify(execFile)(process.execPath, [
    '--max-old-space-size=512',
    program,
    ...servers.map(({ baseURL }) => baseURL),
  ]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const { stdout } = await running;
  const ends: { readonly status: string; readonly answerText: string; readonly explanation: string }[] =
    JSON.parse(stdout);
  expect(ends).toHaveLength(modes.length);
  for (const [at, { description, ending }] of modes.entries()) {
    const { status, answerText, explanation } = ends[at] ?? {};
    expect(answerText, description).toMatch(/./u);
    expect(ending === 'answered' ? ['completed', 'degraded'] : [ending], `${description}: ${explanation}`).toContain(
      status,
    );
  }
});
