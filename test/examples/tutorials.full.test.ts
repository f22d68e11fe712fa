import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/cli.ts';
import { openPage } from '../support/inspection-server.ts';

const FENCE = '```';
const PACKAGES = ['xstate', 'zod', 'hono', '@hono/node-server'];
const NPX = `#!/bin/sh
name=$1; shift
case $name in
  tsx) exec node --import tsx "$@" ;;
  postchain) exec node '${resolve('dist/cli.js')}' "$@" ;;
esac
`;

interface Block {
  readonly language: string;
  readonly code: string;
  /** The file that the sentences before the block name. */
  readonly file: string;
}

function blocksOf(page: string): readonly Block[] {
  let file = '';
  return page.split(`\n${FENCE}\n`).flatMap((part) => {
    const [prose = '', rest = ''] = part.split(FENCE);
    file = [...prose.matchAll(/`([\w/]+\.(?:mts|md))`/g)].at(-1)?.[1] ?? file;
    const [language = '', ...lines] = rest.split('\n');
    return language === '' ? [] : [{ language, code: `${lines.join('\n')}\n`, file }];
  });
}

/** A folder with the packages that the page installs, in which `npx` and `tsx` are stand-ins that need no network. */
function project() {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  const save = (name: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode });
  };
  save('bin/npx', NPX, 0o755);
  save('package.json', '{ "type": "commonjs" }');
  save('node_modules/tsx/package.json', '{ "type": "module", "exports": "./tsx.js" }');
  save('node_modules/tsx/tsx.js', `import '${pathToFileURL(resolve('test/support/tsx.mjs'))}';`);
  mkdirSync(join(modules, '@hono'));
  for (const name of PACKAGES) symlinkSync(resolve('node_modules', name), join(modules, name));
  symlinkSync(resolve('.'), join(modules, 'postchain'));
  return { folder, save };
}

/** Makes outputs of two runs comparable: times and addresses differ, keys too, but a key that returns is the same key. */
function comparable() {
  const keys: string[] = [];
  return (text: string) =>
    text
      .replace(/\b[0-9a-f]{16}\b/g, (key) => `key-${keys.includes(key) ? keys.indexOf(key) : keys.push(key) - 1}`)
      .replace(/^( +\d+ {2}\S+) +\d+ ms/gm, '$1 0 ms')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'a date')
      .replace(/127\.0\.0\.1:\d+(?:\/[\w-]{32}\/)?/g, 'an address');
}

/** Applies a diff block: its lines are in the file, in this order, apart from the added ones. */
function changed(text: string, diff: string): string {
  const lines = diff.trimEnd().split('\n');
  const side = (without: string) => lines.flatMap((line) => (line.startsWith(without) ? [] : [`${line.slice(1)}\n`]));
  const before = side('+').join('');
  expect(text.split(before)).toHaveLength(2);
  return text.replace(before, () => side('-').join(''));
}

/** Matches the output that a page shows; a line `…` stands for any lines. */
function shownAs(text: string): RegExp {
  const escaped = text.trimEnd().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…\n', '(?:.*\\n)*?').replace(/\n?…$/, '[^]*')}$`);
}

/** Starts commands as a terminal does: Ctrl-C reaches all their processes. */
function start(commands: string, cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn('sh', ['-c', `exec 2>&1\n${commands}`], { cwd, env, detached: true });
  const signal = (name: NodeJS.Signals) => child.exitCode === null && process.kill(-(child.pid ?? 0), name);
  onTestFinished(() => void (child.signalCode === null && signal('SIGKILL')));
  const run = { output: '', closed: once(child, 'close'), interrupt: () => signal('SIGINT') };
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    run.output += piece;
  });
  return run;
}

/** The inspector at this address has the ended actor. */
async function expectHistory(address: string): Promise<void> {
  const page = await openPage(address);
  const { runs } = await page.runs((list) => list.runs.length > 0);
  expect(runs).toMatchObject([{ status: 'completed' }]);
  page.socket.close();
}

it.each(['durable', 'agent', 'testing', 'chain'])('the tutorial %s prints what its page shows', async (name) => {
  const page = readFileSync(`docs/tutorial-${name}.md`, 'utf8');
  expect(page.replace(/^```[\s\S]*?^```$/gm, '').split(/\s+/).length).toBeLessThanOrEqual(700);
  const { folder, save } = project();
  const [printed, shown] = [comparable(), comparable()];
  const PATH = [join(folder, 'bin'), process.env['PATH']].join(delimiter);
  const env: Record<string, string> = { PATH, NO_COLOR: '1', POSTCHAIN_HOME: join(folder, 'home'), PORT: '0' };
  let server = '';
  const [setup, ...blocks] = blocksOf(page);
  expect(setup?.code).toMatch(/^mkdir .+\nnpm init -y\nnpm install postchain xstate@5 .*tsx\n/);
  for (const [at, { language, code, file }] of [setup as Block, ...blocks].entries()) {
    if (language === 'ts' || language === 'md') {
      expect(code).toBe(readFileSync(`examples/tutorials/${name}/${file}`, 'utf8'));
      save(file, code);
    }
    if (language === 'diff') save(file, changed(readFileSync(join(folder, file), 'utf8'), code));
    if (language !== 'sh') continue;
    for (const [, variable = '', value = ''] of code.matchAll(/^export (\w+)="(.*)"$/gm)) env[variable] = value;
    if (at === 0) continue;
    const text = blocks[at]?.code ?? '';
    const expected = shownAs(shown(text.replace(/\^C\n$/, '')));
    const run = start(code.replace('http://127.0.0.1:3000', server), folder, env);
    const output = () => printed(run.output).trimEnd();
    const isServer = code.includes('server.mts');
    if (isServer || text.endsWith('^C\n')) await expect.poll(output).toMatch(expected);
    else await run.closed;
    expect(output()).toMatch(expected);
    if (isServer) server = run.output.trim();
    if (code.includes('inspect')) await expectHistory(/http:\S+/.exec(run.output)?.[0] ?? '');
    if (!text.endsWith('^C\n')) continue;
    run.interrupt();
    await run.closed;
  }
});
