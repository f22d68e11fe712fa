import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { chatServer, respondWithJson } from '../../support/chat-server.ts';
import { cli, startCli, temporaryFolder } from '../../support/cli.ts';

describe('invalid usage prints one line and exits with 2, before anything starts', () => {
  it.each([
    [['run', ''], /request: expected a question or a task; received/],
    [['run', ' '], /request: expected a question or a task; received/],
    [['run'], /Missing request; type it after "run" or pipe it in/],
    [['run', '--docs', 'docs'], /Missing request; type it after "run" or pipe it in/],
    [['run', '--docs', 'docs', 'summarize'], /put it first: postchain run "summarize" --docs docs$/m],
    [['run', '--docs', 'What is a cycle?'], /put it first: postchain run "What is a cycle\?" --docs docs$/m],
    [['run', 'x', '--history', 'nothing.json'], /the history "nothing\.json": no such file or directory \(ENOENT\)$/m],
    [
      ['run', 'x', '--base-url', 'http://a:se@b/'],
      /--base-url must be an http or https URL without user, query and fragment$/m,
    ],
    [['explore', 'README.md'], /Cannot load README\.md: Unknown file extension "\.md"/],
    [['runz'], /^postchain: unknown command 'runz' \(Did you mean one of run, runs\?\)$/m],
    [['run', 'x', '--start-at', 'lunch'], /phase: expected one of action, .*; received "lunch"/],
    [['run', 'x', '--max-cycles', '-1'], /'-1' is invalid\. Expected an integer ≥ 1\./],
    [['run', 'x', '--max-cycles', 'many'], /'many' is invalid/],
    [['run', 'x', '--timeout', '0'], /'0' is invalid\. Expected a number > 0/],
    [['run', 'x', '--timeout', '3000000'], /'3000000' is invalid\. Expected a number > 0 and ≤ 2,000,000\./],
    [['run', 'x', '--docs', 'no-such-folder'], /"no-such-folder"/],
    [['run', 'x', '--journal', 'no-such-folder/run.jsonl'], /Cannot write the journal "no-such-folder\/run\.jsonl"/],
    [['run', 'x', '--format', 'pdf'], /'pdf' is invalid\. Allowed choices are text, markdown, json\./],
    [['run', 'x', '--json', '--format', 'text'], /'--json' cannot be used with option '--format <format>'/],
    [['run', 'x', '--consent', 'maybe'], /'maybe' is invalid\. Allowed choices are keep, summarize, remove\.$/m],
    [['run', 'x', '--model', 'offline', '--attach', 'docs/chart.png'], /reads text only; add --model NAME$/m],
    [
      ['run', 'x', '--model', 'offline', '--attach', 'README.md'],
      /--attach: expected a PNG, JPEG, GIF, WebP or PDF file; received "README\.md"\. Pass text files with --docs\.$/m,
    ],
    [['run', 'x', '--attach', 'no-such-file.png'], /Cannot read the file "no-such-file\.png": /],
    [['run', 'x', '--capability', 'play'], /current_time, search_documents, read_passage/],
    [['run', 'x', '--capability', 'read_passage'], /--capability read_passage requires --docs/],
    [['run', 'x', '--instructions', ''], /--instructions: expected 1 to 20,000 characters, not all blank; received /],
    [['run', 'x', '--instructions', '@no-such-file.md'], /Cannot read the instructions "no-such-file\.md": /],
    [['run', 'x', '--fallback-model', ' '], /^postchain: ./],
    [['run', 'x', '--model', 'm', '--base-url', 'http://127.0.0.1:1/v1', '--service-tier', ' '], /serviceTier/],
    [['run', 'x', '--session', ''], /sessionId: expected 1 to 200 characters.*; received ""/],
    [['run', 'x', '--session', 'a\nb'], /sessionId: expected .*; received "a\\nb"/],
    [['run', 'x', '--session-file', 'chat.db'], /--session-file requires --session/],
    [['run', 'x', '--session', 'u', '--session-file', 'no-such-folder/a.db'], /"no-such-folder\/a\.db": ENOENT/],
    [['run', 'x', '--session', 'u', '--session-file', 'README.md'], /"README\.md": file is not a database/],
    [['show', 'nothing'], /Run "nothing" not found; expected an id, a prefix of an id, "last", or a journal file\./],
    [['replay', 'last'], /No recorded runs\. Start one with: postchain run "your question"/],
    [['fork', 'last', '--at', '0'], /'0' is invalid/],
    [['fork', 'last'], /required option '--at <entry>'/],
    [['resume'], /missing required argument 'run'/],
    [['prompts', 'lunch'], /Unknown prompt "lunch"; expected action, .*, grading$/m],
    [['prompts', 'constructor'], /Unknown prompt "constructor"; expected action/],
    [['prompts', 'a\u001b[31m\nb'], /Unknown prompt ".*"; expected action/],
    [['run', 'x', '--wat'], /unknown option '--wat'/],
    [['dance'], /unknown command 'dance'/],
    [['diagram', 'cake'], /Chart "cake" not found; expected chain, attempt, action, or the path of a module/],
    [['diagram', 'constructor'], /Chart "constructor" not found/],
    [['diagram', '--format', 'png'], /Unknown format "png"; expected mermaid or json/],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await cli(...args);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^postchain: .*\n$/);
    expect(stderr).not.toContain('\u001b');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('a malformed key is rejected', async () => {
    const { code, stderr } = await startCli(['run', 'x'], { OPENAI_API_KEY: 'sk white space' }).finished;
    expect(code).toBe(2);
    expect(stderr).toMatch(/^postchain: OPENAI_API_KEY.*\n$/);
    expect(stderr).not.toContain('sk white');
  });

  it('a key that the server rejects is reported', async () => {
    const server = await chatServer(({ response }) =>
      respondWithJson(response, 401, { error: { message: 'no such key' } }),
    );
    const env = { OPENAI_API_KEY: 'sk-wrong', OPENAI_BASE_URL: server.baseURL };
    const { code, stderr } = await startCli(['run', 'x'], env).finished;
    expect(code).toBe(2);
    expect(stderr).toMatch(/^postchain: The server rejected OPENAI_API_KEY \(.*no such key.*\); set a valid key .*\n$/);
    expect(server.exchanges.every(({ method }) => method === 'GET')).toBe(true);
  });

  it.skipIf(process.getuid?.() === 0)('a file without read permission is reported', async () => {
    const file = join(temporaryFolder(), 'secret.md');
    writeFileSync(file, 'x');
    chmodSync(file, 0);
    expect((await cli('run', 'x', '--docs', file)).code).toBe(2);
  });

  it('--stack prints the stack trace', async () => {
    expect((await cli('--stack', 'run', '')).stderr).toMatch(/\n {4}at /);
  });
});

describe('postchain', () => {
  it.each(['--version', '-v', '-V'])('%s prints its version', async (flag) => {
    expect(await cli(flag)).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('prints the exit codes and defaults in the help of run', async () => {
    const { code, stdout } = await cli('run', '--help');
    expect(code).toBe(0);
    for (const text of [
      '0 answered, 1 other error, 2 invalid usage, 3 degraded answer, 4 incomplete journal, 130 interrupted',
      '(default: ~/.postchain/sessions.db)',
    ])
      expect(stdout.replaceAll(/\s+/gu, ' ')).toContain(text);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each(['chain', 'attempt', 'action'])('draws the %s chart as Mermaid and as JSON', async (name) => {
    expect((await cli('diagram', name)).stdout).toContain('flowchart TD');
    const chart = JSON.parse((await cli('diagram', name, '--format', 'json')).stdout);
    expect(chart.states.length).toBeGreaterThan(5);
    expect(chart.transitions.length).toBeGreaterThan(5);
  });
});
