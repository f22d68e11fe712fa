import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { replies } from '../../src/testing/replies.ts';
import { startBrowser } from '../support/browser.ts';
import { type ChatServer, completion, startChatServer, taskOf } from '../support/chat-server.ts';
import { node24, PROGRAM_FOLDER, TOOLS_FOLDER, tool } from '../support/runtimes-setup.ts';

const RECIPE = { title: 'Pancakes', minutes: 25, steps: ['Mix', 'Wait', 'Fry'] };

let server: ChatServer;
beforeAll(async () => {
  for (const file of ['program.mjs', 'served.mjs', 'main.mjs', 'worker.mjs'])
    cpSync(`test/runtimes/${file}`, join(PROGRAM_FOLDER, file));
  cpSync('test/runtimes/miniflare.mjs', join(TOOLS_FOLDER, 'miniflare.mjs'));
  server = await startChatServer(({ method, body, response }) => {
    for (const name of ['origin', 'headers', 'methods']) response.setHeader(`access-control-allow-${name}`, '*');
    if (method === 'OPTIONS') return void response.end();
    const name = body.response_format?.json_schema?.name;
    const text = JSON.stringify(name === 'recipe' ? RECIPE : replies[taskOf(body)]);
    const events = completion(text.slice(0, 20)).split('\n\n');
    response.setHeader('content-type', 'text/event-stream');
    // The rest of the text comes in a chunk of its own.
    const rest = completion(text.slice(20)).split('\n\n');
    response.end([...events.slice(0, 2), ...rest.slice(1)].join('\n\n'));
  });
});
afterAll(() => server.stop());

const inProgram = (command: string, ...args: readonly string[]) =>
  promisify(execFile)(command, args, { cwd: PROGRAM_FOLDER, env: { PATH: process.env['PATH'], HOME: PROGRAM_FOLDER } });

async function run(command: string, ...args: readonly string[]): Promise<unknown> {
  const { stdout } = await inProgram(command, ...args, server.baseURL);
  return JSON.parse(stdout);
}

/** Bundles a module of the program with no options but the platform. */
async function bundle(name: string, platform: string, ...options: readonly string[]): Promise<string> {
  const to = join(PROGRAM_FOLDER, 'bundled', name);
  const args = ['--bundle', '--format=esm', `--platform=${platform}`, `--outfile=${to}`, ...options];
  const { stderr } = await inProgram(tool('.bin', 'esbuild'), name, '--log-level=warning', ...args);
  expect(stderr).toBe('');
  return to;
}

/** As Cloudflare's bundler resolves packages. */
const WORKER = ['--conditions=workerd,worker,browser', '--main-fields=module,main'];

let expected: object;
beforeAll(async () => {
  expected = (await run(process.execPath, 'main.mjs')) as object;
});

it('Node 20 runs a chain with a journal, gets a typed value, and serves a chain', () => {
  expect(expected).toMatchObject({
    // The document does not support the scripted answer.
    status: 'degraded',
    answerText: replies.synthesis.answerText,
    divergence: null,
    value: RECIPE,
    title: RECIPE.title,
    served: { text: 'The library opens at nine.', events: expect.arrayContaining(['run', 'phase', 'answer']) },
  });
});

it.each([
  ['Node 22', tool('node-22', 'bin', 'node'), 'main.mjs'],
  ['Node 24', node24, 'main.mjs'],
  ['Bun', tool('.bin', 'bun'), 'main.mjs'],
  ['Deno', tool('.bin', 'deno'), 'run', '--allow-all', '--no-lock', '--node-modules-dir=manual', 'main.mjs'],
])('%s gives the same result', async (_, command, ...args) => {
  expect(await run(command, ...args)).toEqual(expected);
});

it('workerd gives the same result', async () => {
  const script = await bundle('worker.mjs', 'neutral', ...WORKER);
  const url = `http://worker/?server=${encodeURIComponent(server.baseURL)}`;
  const { stdout } = await inProgram(node24, join(TOOLS_FOLDER, 'miniflare.mjs'), script, url);
  expect(JSON.parse(stdout)).toEqual(expected);
});

it("workerd runs the documentation's worker", async () => {
  cpSync('examples/worker/worker.ts', join(PROGRAM_FOLDER, 'documented.ts'));
  const script = await bundle('documented.ts', 'neutral', ...WORKER);
  const url = 'http://worker/?question=When%20does%20the%20library%20open%3F';
  const { stdout } = await inProgram(node24, join(TOOLS_FOLDER, 'miniflare.mjs'), script, url);
  expect(JSON.parse(stdout)).toMatchObject({
    answerText: 'The library opens at nine and closes at five.',
    sources: [{ path: 'hours.md', startLine: 1 }],
  });
});

it("workerd serves runs from the documentation's Durable Object, in several requests", async () => {
  cpSync('examples/worker/server.ts', join(PROGRAM_FOLDER, 'served.ts'));
  const script = await bundle('served.ts', 'neutral', ...WORKER);
  const { stdout } = await inProgram(node24, join(TOOLS_FOLDER, 'miniflare.mjs'), script);
  expect(JSON.parse(stdout)).toEqual(Array(2).fill('The library opens at nine and closes at five.'));
});

it('Chromium gives the same result, without a server', async ({ skip }) => {
  const browser = await startBrowser();
  if (typeof browser === 'string') return skip(browser);
  const script = readFileSync(await bundle('program.mjs', 'browser'));
  const pages = createServer(({ url }, response) => {
    response.setHeader('content-type', url === '/program.mjs' ? 'text/javascript' : 'text/html');
    response.end(url === '/program.mjs' ? script : '<!doctype html><title>Program</title>');
  });
  try {
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(pages.address() as { port: number }).port}/`);
    const { served } = expected as { readonly served: unknown };
    const result = await page.evaluate(`import('/program.mjs').then((m) => m.runProgram('${server.baseURL}'))`);
    expect({ ...(result as object), served }).toEqual(expected);
  } finally {
    await browser.close();
    pages.closeAllConnections();
    pages.close();
  }
});
