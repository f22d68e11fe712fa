import { describe, expect, it } from 'vitest';
import { chatServer, completion, replyTo, streaming } from '../../support/chat-server.ts';
import { aUser, cli } from '../../support/cli.ts';
import { fileWith } from '../../support/journal-files.ts';

const server = () =>
  chatServer(({ body, response }) => {
    streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });

describe('postchain run --instructions', () => {
  it('sends the text of a file to the model, and a fork sends it again', async () => {
    const { baseURL, exchanges } = await server();
    const { call } = aUser({ OPENAI_BASE_URL: baseURL });
    const systems = () =>
      exchanges.filter(({ method }) => method === 'POST').map(({ body }) => String(body.messages?.[0]?.content));
    const section = '<instructions>\nAnswer in French.\n</instructions>';
    const path = fileWith('\ufeffAnswer in French.\n');
    const ran = await call('run', 'Is it so?', '--model', 'good', '--instructions', `@${path}`);
    expect(ran).toMatchObject({ code: 0, stderr: expect.not.stringContaining('ignores') });
    expect(systems().filter((text) => text.includes(section)).length).toBe(1);
    const before = systems().length;
    const forked = await call(
      'fork',
      'last',
      '--at',
      '2',
      '--set',
      'reply.confidence=0.2',
      '--set',
      'reply.enough=0.2',
    );
    expect(forked.code, forked.stderr).toBe(0);
    const again = systems().slice(before);
    expect(again.filter((text) => text.includes(section)).length).toBeGreaterThan(0);
  });

  it('prints that the extractive model ignores them', async () => {
    const { code, stderr } = await cli('run', 'What is a cycle?', '--docs', 'docs', '--instructions', 'Be brief.');
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('ignores --instructions') });
  });

  it.each([
    ['', /^postchain: --instructions: expected 1 to 20,000 characters, not all blank; received /],
    ['@no-such-file.md', /^postchain: Cannot read the instructions "no-such-file\.md": /],
  ])('rejects %j in one line, before anything starts', async (given, message) => {
    const { code, stdout, stderr } = await cli('run', 'x', '--instructions', given);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});
