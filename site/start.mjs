// The terminals of the start page: each line is from a real run of a program in examples/start-page.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const cli = join(import.meta.dirname, '../dist/cli.js');
const cwd = join(import.meta.dirname, '../examples/start-page');

/** Returns the page with a terminal in the place of each comment that names one. */
export async function startPage(text) {
  const home = mkdtempSync(join(tmpdir(), 'start-page-'));
  const env = {
    ...process.env,
    JOURNALS: join(home, 'journals'),
    POSTCHAIN_HOME: home,
    NO_COLOR: '1',
    FORCE_COLOR: '0',
  };
  const node = (...args) => output(args, env);
  /** A command and what it prints. */
  const postchain = (...args) => [`$ postchain ${args.map(quoted).join(' ')}`, ...node(cli, ...args)];
  const questions = ['How can I return a jacket?', 'Who repairs a tent?'];
  const terminals = {
    answer: questions
      .flatMap((question) => postchain('run', question, '--quiet', '--docs', 'returns.md'))
      .filter((line) => !/^(?:Notes| {2}Made by)/u.test(line)),
    killed: [
      ...(await untilKilled('order.mjs', env)),
      ...(await untilKilled('order.mjs', env)),
      ...postchain('send', 'o-17', 'approve', '--module', 'order.mjs'),
    ],
    found: postchain('lint', 'shop.mjs'),
    asked: [
      '$ node desk.mjs',
      ...node('desk.mjs'),
      ...postchain('runs', '--status', 'waiting'),
      ...postchain('approve', 'mail-3', '--module', 'desk.mjs'),
    ],
  };
  rmSync(home, { recursive: true });
  return text.replace(/<!-- (\w+) -->/gu, (_, name) => terminal(terminals[name]));
}

const quoted = (arg) => (arg.includes(' ') ? `"${arg}"` : arg);

/** The lines that a program prints. Findings and degraded answers end with another exit code. */
function output(args, env) {
  try {
    return linesOf(
      execFileSync(process.execPath, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  } catch (error) {
    if (!error.stdout) throw error;
    return linesOf(error.stdout);
  }
}

const linesOf = (text) => text.split('\n').filter((line) => line.trim() !== '');

/** Starts a program, and kills it after its first line. */
async function untilKilled(file, env) {
  const child = spawn(process.execPath, [file], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return [`$ node ${file}`, line, `$ kill -9 ${child.pid}`];
}

const CLASSES = [
  [/^\$ /u, 'command'],
  [/^FAILS|^Degraded/u, 'bad'],
  [/completed|^holds|continues/u, 'good'],
];

function terminal(lines) {
  const spans = lines.map((line) => {
    const [, kind = 'plain'] = CLASSES.find(([pattern]) => pattern.test(line)) ?? [];
    return `<span class="${kind}">${escapeHtml(line)}</span>`;
  });
  return `<pre class="terminal" v-pre>${spans.join('&#10;')}</pre>`;
}

const escapeHtml = (text) => text.replace(/[&<>"]/gu, (character) => `&#${character.charCodeAt(0)};`);
