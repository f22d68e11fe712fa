import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replyingServer } from '../../support/chat-server.ts';
import { aUser, cli } from '../../support/cli.ts';
import { fileWith } from '../../support/journal-files.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function fileNamed(name: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'attach-')), name);
  writeFileSync(path, Buffer.from(PNG, 'base64'));
  return path;
}

describe('postchain run --attach', () => {
  it('sends an image to the model, and keeps its bytes out of the terminal', async () => {
    const { baseURL, exchanges } = await replyingServer();
    const { call } = aUser({ OPENAI_BASE_URL: baseURL });
    const images = () =>
      exchanges.flatMap(({ body }) => JSON.stringify(body ?? null).match(/"image_url":\{"url":"[^"]*"/gu) ?? []);
    const ran = await call('run', 'Is it so?', '--model', 'good', '--attach', fileNamed('photo.png'));
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('1 file') });
    expect(images()[0]).toBe(`"image_url":{"url":"data:image/png;base64,${PNG}"`);

    const forked = await call('fork', 'last', '--at', '4', '--set', 'reply.answer="No."');
    expect(forked.code, forked.stderr).toBe(0);
    for (const flags of [[], ['--all'], ['--json']]) {
      const shown = await call('show', 'last', ...flags);
      expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('photo.png') });
      expect(shown.stdout).not.toContain(PNG);
    }
    expect((await call('replay', 'last')).code).toBe(0);
  });
});

describe('postchain run --instructions', () => {
  it('sends the text of a file to the model, and a fork sends it again', async () => {
    const { baseURL, exchanges } = await replyingServer();
    const { call } = aUser({ OPENAI_BASE_URL: baseURL });
    const systems = () =>
      exchanges.filter(({ method }) => method === 'POST').map(({ body }) => String(body.messages?.[0]?.content));
    const section = '<instructions>\nAnswer in French.\n</instructions>';
    const path = fileWith('\ufeffAnswer in French.\n');
    const ran = await call('run', 'Is it so?', '--model', 'good', '--instructions', `@${path}`);
    expect(ran).toMatchObject({ code: 0, stderr: expect.not.stringContaining('ignores') });
    expect(systems().filter((text) => text.includes(section)).length).toBe(1);
    const before = systems().length;
    const change = ['--set', 'reply.confidence=0.2', '--set', 'reply.enough=0.2'];
    const forked = await call('fork', 'last', '--at', '2', ...change);
    expect(forked.code, forked.stderr).toBe(0);
    const again = systems().slice(before);
    expect(again.filter((text) => text.includes(section)).length).toBeGreaterThan(0);
  });

  it('prints that the extractive model ignores them', async () => {
    const { code, stderr } = await cli('run', 'What is a cycle?', '--docs', 'docs', '--instructions', 'Be brief.');
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('ignores --instructions') });
  });
});
