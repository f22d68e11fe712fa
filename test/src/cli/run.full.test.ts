import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { finalAnswerSchema } from '../../../machines/contracts/synthesis.ts';
import { durableFormat } from '../../../src/durable/durable-format.ts';
import { chatServer, event, respondWithJson, streaming } from '../../support/chat-server.ts';
import { cli, startCli, temporaryFolder } from '../../support/cli.ts';

const QUESTION = 'What does the Yield phase decide, and in which order?';

describe('postchain run', () => {
  it('[Y10] answers the README’s question from the documents and cites file and line', async () => {
    const { code, stdout, stderr } = await cli('run', QUESTION, '--docs', 'docs');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Answer \(confidence 0\.\d\d · completed · 1 cycle · 2 model calls\)/);
    for (const rule of ['Cycle limit', 'Budget', 'Confidence', 'Convergence', 'Task complete', 'Loop'])
      expect(stdout).toContain(rule);
    expect(stdout.indexOf('Cycle limit')).toBeLessThan(stdout.indexOf('Confidence'));
    expect(stdout).toMatch(/Sources\n {2}docs\/yield\.md:\d+-\d+/);
    expect(stdout).toContain('the extractive model (no LLM)');
    for (const phase of PHASES) expect(stderr).toMatch(new RegExp(`^ {2}${phase} `, 'm'));
    expect(stderr).toMatch(/^ {2}decision +\w+: /m);
    expect(`${stdout}${stderr}`).not.toContain('\u001b');
  });

  it.each([[['run', '--docs', 'docs']], [['run', '-', '--docs', 'docs']]])(
    '%j reads the request from a pipe',
    async (args) => {
      const { code, stdout } = await startCli(args, {}, `${QUESTION}\n`).finished;
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('The Yield phase decides') });
    },
  );

  it('accepts a request after --docs', async () => {
    const { code, stdout } = await cli('run', '--docs', 'docs', 'README.md', QUESTION);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('The Yield phase decides') });
  });

  it('--json prints the answer object and nothing else, and the cited lines contain the answer', async () => {
    const { stdout, stderr } = await cli('run', QUESTION, '--docs', 'docs', '--json');
    expect(stderr).toBe('');
    const { answerText, sources } = finalAnswerSchema.parse(JSON.parse(stdout));
    const [source] = sources;
    const lines = readFileSync(source?.path ?? '', 'utf8')
      .split('\n')
      .slice((source?.startLine ?? 1) - 1, source?.endLine);
    for (const text of [lines.join(' '), answerText]) expect(text).toContain('The Yield phase decides by these rules');
  });

  it('[Y10] --format json equals --json, and --format markdown prints a section of Markdown', async () => {
    const [json, short, markdown] = await Promise.all([
      cli('run', QUESTION, '--docs', 'docs', '--format', 'json'),
      cli('run', QUESTION, '--docs', 'docs', '--json'),
      cli('run', QUESTION, '--docs', 'docs', '--format', 'markdown'),
    ]);
    const timeless = (text: string) => text.replace(/"totalMs": \{[^}]*\}/, '');
    expect({ ...json, stdout: timeless(json.stdout) }).toEqual({ ...short, stdout: timeless(short.stdout) });
    expect(json.stderr).toBe('');
    expect(markdown.stdout).toMatch(/^## Answer\n\n\*confidence 0\.\d\d · completed · 1 cycle · 2 model calls\*\n\n/);
    expect(markdown.stdout).toMatch(/\n\n## Sources\n\n- `docs\/yield\.md:\d+-\d+`\n {2}> /);
    expect(markdown.stderr).toMatch(/^ {2}decision /m);
    expect(markdown.stdout).not.toContain('\u001b');
  });

  it('colors piped text only with FORCE_COLOR', async () => {
    const colored = await startCli(['run', 'x', '--quiet'], { NO_COLOR: '', FORCE_COLOR: '1' }).finished;
    expect(colored.stdout).toContain('\u001b[1mAnswer\u001b[22m ');
    const plain = await startCli(['run', 'x', '--quiet'], { NO_COLOR: '' }).finished;
    expect(plain.stdout).toMatch(/^Answer \(/);
    expect(plain.stdout).not.toContain('\u001b');
  });

  it('--journal writes every entry as one line of JSON', async () => {
    const file = join(temporaryFolder(), 'run.jsonl');
    await cli('run', QUESTION, '--docs', 'docs', '--quiet', '--journal', file);
    const entries = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => durableFormat.parse(JSON.parse(line)));
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
    expect(entries.at(-1)).toMatchObject({ type: 'end', summary: { status: 'completed' } });
  });

  it('[S1] exits with 3 for an answer of low confidence, and prints the reason first', async () => {
    const request = 'When do trainees receive tips?';
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'bar.md'), '# Tips\n\nTrainees get a half share of the tips after four weeks.\n');
    const { code, stdout } = await cli('run', request, '--docs', folder);
    expect(stdout).toMatch(
      /^Answer \(confidence 0\.\d\d · degraded .*\n\nDegraded \(low confidence\): The confidence is low/,
    );
    expect(code).toBe(3);
  });

  it('exits with 3 for a degraded answer', async () => {
    const { code, stdout } = await cli('run', 'What is the capital of Peru?', '--docs', 'docs', '--max-cycles', '1');
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Answer .*\n\nDegraded \(no evidence\): .*The limit of 1 cycle was reached/);
  });

  it('[Y4] --manual reads directions from standard input, whose end means finish', async () => {
    const { code, stderr } = await startCli(['run', QUESTION, '--docs', 'docs', '--manual'], {}, 'lunch\nyield\n')
      .finished;
    expect(stderr).toContain('"lunch" is not a phase');
    expect(stderr).toContain('directedByUser');
    expect(code).toBe(0);
  });

  it('prints the skipped files and continues', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.md'), '# Cats\n\nCats sleep for sixteen hours a day.\n');
    writeFileSync(join(folder, 'b.txt'), Buffer.from([1, 0, 2]));
    const { stdout, stderr } = await cli('run', 'How long do cats sleep?', '--docs', folder);
    expect(stderr).toMatch(/skipped .*b\.txt: it is binary/);
    expect(stdout).toContain('sixteen hours');
  });

  it('prints no control characters from a document', async () => {
    const file = join(temporaryFolder(), 'evil.md');
    writeFileSync(file, '# Moon\n\nThe moon \u001b[2J\u001b]0;owned\u0007 is \u202emade\u202c of cheese.\n');
    const { stdout, stderr } = await cli('run', 'What is the moon made of?', '--docs', file);
    expect(stdout).toContain('cheese');
    for (const character of ['\u001b', '\u0007', '\u202e']) expect(`${stdout}${stderr}`).not.toContain(character);
  });

  it('prints the answer even if standard error is closed', async () => {
    const { child, finished } = startCli(['run', QUESTION, '--docs', 'docs']);
    child.stderr?.destroy();
    const { code, stdout } = await finished;
    expect(stdout).toContain('The Yield phase decides');
    expect(code).toBe(0);
  });

  it.skipIf(!existsSync('/dev/full'))('warns about a journal that cannot be written, and still answers', async () => {
    const { code, stdout, stderr } = await cli('run', QUESTION, '--docs', 'docs', '--journal', '/dev/full');
    expect(stderr).toContain('warning: the journal is incomplete: ENOSPC');
    expect(stdout).toContain('The Yield phase decides');
    expect(code).toBe(4);
  });

  it('prints the degraded answer and exits with 130 on Ctrl-C', async () => {
    const server = await chatServer(({ method, response }) => {
      if (method === 'GET') return respondWithJson(response, 404, {});
      streaming(response).write(event({ choices: [{ index: 0, delta: { content: '{"response": "It' } }] }));
    });
    const { child, finished } = startCli(['run', 'Is it so?', '--json'], { OPENAI_BASE_URL: server.baseURL });
    await expect.poll(() => server.exchanges.filter(({ method }) => method === 'POST').length).toBe(1);
    child.kill('SIGINT');
    const { code, stdout } = await finished;
    expect(finalAnswerSchema.parse(JSON.parse(stdout)).status).toBe('cancelled');
    expect(code).toBe(130);
  });
});
