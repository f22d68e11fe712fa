import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chatServer, completion, replyTo, streaming } from '../../support/chat-server.ts';
import { aUser, cli } from '../../support/cli.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function fileNamed(name: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'attach-')), name);
  writeFileSync(path, Buffer.from(PNG, 'base64'));
  return path;
}

const server = () =>
  chatServer(({ body, response }) => {
    streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });

describe('postchain run --attach', () => {
  it('sends an image to the model, and keeps its bytes out of the terminal', async () => {
    const { baseURL, exchanges } = await server();
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

  it.each([
    ['photo.png', /^postchain: --attach: the extractive model reads text only; add --model NAME$/],
    [
      'notes.txt',
      /^postchain: --attach: expected a file that ends in \.png, .* or \.pdf; received ".*notes\.txt"\. Pass text files with --docs\.$/,
    ],
  ])('rejects %s in one line, before anything starts', async (name, message) => {
    const { code, stdout, stderr } = await cli('run', 'x', '--model', 'offline', '--attach', fileNamed(name));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd()).toMatch(message);
  });

  it('rejects a file that does not exist', async () => {
    const { code, stderr } = await cli('run', 'x', '--attach', 'no-such-file.png');
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^postchain: Cannot read the file "no-such-file\.png": [^\n]+\n$/),
    });
  });
});
