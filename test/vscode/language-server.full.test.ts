import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type CodeLens,
  createProtocolConnection,
  type Diagnostic,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { temporaryFolder } from '../support/cli.ts';

const SHOP = `import { createMachine } from 'xstate';
export const machine = createMachine({
  id: 'shop',
  initial: 'open',
  states: {
    open: { on: { pay: 'paying', cancel: 'closed' } },
    paying: { on: { paid: 'closed', lost: 'stuck' } },
    // stuck: { this is no state }
    stuck: {},
    unused: { on: { back: 'open' } },
    closed: { type: 'final' },
  },
});
`;

/** An editor with the language server, in a project that has installed PostChain. */
async function editor() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('.'), join(folder, 'node_modules/postchain'));
  symlinkSync(resolve('node_modules/xstate'), join(folder, 'node_modules/xstate'));
  const server = spawn(
    process.execPath,
    ['--import', pathToFileURL(resolve('test/support/tsx.mjs')).href, 'vscode/src/server.ts', '--stdio'],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const closed = once(server, 'close');
  onTestFinished(() => void server.kill('SIGKILL'));
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const published: PublishDiagnosticsParams[] = [];
  const said: string[] = [];
  connection.onNotification(
    'textDocument/publishDiagnostics',
    (one: PublishDiagnosticsParams) => void published.push(one),
  );
  connection.onRequest('workspace/codeLens/refresh', () => null);
  connection.onRequest('window/showMessageRequest', ({ message }: { readonly message: string }) => {
    said.push(message);
    return null;
  });
  connection.listen();
  await connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities: {} });
  await connection.sendNotification('initialized', {});
  const uriOf = (name: string): string => pathToFileURL(join(folder, name)).href;
  const versions = new Map<string, number>();
  /** Saves the first text, and types the others. Resolves to the diagnostics of the last. */
  async function type(name: string, ...texts: readonly string[]): Promise<readonly Diagnostic[]> {
    const uri = uriOf(name);
    for (const text of texts) {
      const version = (versions.get(uri) ?? 0) + 1;
      versions.set(uri, version);
      if (version > 1) {
        await connection.sendNotification('textDocument/didChange', {
          textDocument: { uri, version },
          contentChanges: [{ text }],
        });
        continue;
      }
      writeFileSync(join(folder, name), text);
      const textDocument = { uri, languageId: 'javascript', version, text };
      await connection.sendNotification('textDocument/didOpen', { textDocument });
    }
    const isNewest = (one: PublishDiagnosticsParams): boolean => one.uri === uri && one.version === versions.get(uri);
    await expect.poll(() => published.some(isNewest), { timeout: 60_000 }).toBe(true);
    return published.find(isNewest)?.diagnostics ?? [];
  }
  const lensesOf = (name: string): Promise<readonly CodeLens[]> =>
    connection.sendRequest('textDocument/codeLens', { textDocument: { uri: uriOf(name) } });
  return { connection, folder, type, lensesOf, uriOf, published, said, closed };
}

const placesOf = (all: readonly Diagnostic[]) =>
  all.map(({ code, range: { start, end } }) => [code, start.line, start.character, end.character]);

describe('the language server', () => {
  it('shows each finding at its state, and what the editor has not saved', async () => {
    const { type } = await editor();
    const found = await type('shop.mjs', SHOP);
    expect(placesOf(found)).toEqual([
      ['no dead transition', 9, 20, 24],
      ['no unreachable state', 9, 4, 10],
      ['no dead end', 8, 4, 9],
      ['can always end', 8, 4, 9],
    ]);
    expect(found[2]?.message).toBe('no event takes a transition in "stuck", after start → pay → lost');
    const fixed = SHOP.replace("    stuck: {},\n    unused: { on: { back: 'open' } },\n", '').replace(
      ", lost: 'stuck'",
      '',
    );
    expect(await type('shop.mjs', fixed)).toEqual([]);
  });

  it('checks only the newest of texts that follow each other, and keeps the findings of a text that it cannot load', async () => {
    const { type, published } = await editor();
    await type('shop.mjs', SHOP);
    const before = published.length;
    const renamed = SHOP.replaceAll('stuck', 'lostAndFound');
    const found = await type('shop.mjs', `${SHOP} `, `${SHOP}  `, renamed);
    expect(published.length).toBe(before + 1);
    expect(found[2]?.message).toContain('lostAndFound');
    const versionOf = (version: number) => published.filter((one) => one.version === version);
    const last = await type('shop.mjs', `${renamed}const broken = {`, renamed);
    expect(placesOf(last)).toEqual(placesOf(found));
    expect(versionOf(5)).toEqual([]);
  });

  it('runs the path to a finding, with states and contexts, and draws the chart', async () => {
    const { connection, type, lensesOf, uriOf } = await editor();
    await type('shop.mjs', SHOP);
    const lenses = await lensesOf('shop.mjs');
    expect(lenses.map(({ command }) => command?.title)).toEqual([
      'Run the path to "no dead end"',
      'Run the path to "can always end"',
    ]);
    const [uri, finding] = lenses[0]?.command?.arguments ?? [];
    const text = await connection.sendRequest<string>('postchain/runPath', { uri, finding });
    expect(text).toBe(
      'no dead end: no event takes a transition in "stuck"\n\nstart → open  {}\npay → paying  {}\nlost → stuck  {}',
    );
    const chart = await connection.sendRequest<object>('postchain/chart', { uri: uriOf('shop.mjs') });
    expect(chart).toMatchObject({ machine: 'shop', mermaid: expect.stringContaining('shop_paying') });
  });

  it('checks each machine of a module, and marks each state that has the same fault', async () => {
    const { connection, type, lensesOf } = await editor();
    const two = `import { createMachine } from 'xstate';
export const first = createMachine({ id: 'first', initial: 'a', states: { a: {}, lost: {}, found: {} } });
export const second = createMachine({ id: 'second', initial: 'a', states: { a: {} } });
`;
    const all = await type('two.mjs', two);
    expect(placesOf(all).map(([code, line, start]) => [code, line, start])).toEqual([
      ['no unreachable state', 1, two.split('\n')[1]?.indexOf('lost:')],
      ['no unreachable state', 1, two.split('\n')[1]?.indexOf('found:')],
      ['no dead end', 1, two.split('\n')[1]?.indexOf('a: {')],
      ['no dead end', 2, two.split('\n')[2]?.indexOf('a: {')],
    ]);
    const [uri, finding, exported] = (await lensesOf('two.mjs')).at(-1)?.command?.arguments ?? [];
    const text = await connection.sendRequest<string>('postchain/runPath', { uri, finding, exported });
    expect(text).toContain('start → a  ');
  });

  it('leaves other modules alone, and says once that a project has no PostChain', async () => {
    const { type, folder, said } = await editor();
    expect(await type('other.mjs', 'export const createMachine = () => 1; createMachine();')).toEqual([]);
    expect(await type('text.mjs', 'export const answer = 42;')).toEqual([]);
    rmSync(join(folder, 'node_modules/postchain'));
    expect(await type('shop.mjs', SHOP)).toEqual([]);
    expect(await type('shop2.mjs', SHOP)).toEqual([]);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('npm install --save-dev postchain');
  });

  it('stops a module that never ends when its text changes, and leaves no process', async () => {
    const { connection, type, closed, published } = await editor();
    const endless = `${SHOP}for (;;);`;
    const opened = type('shop.mjs', endless, SHOP);
    expect(await opened).toHaveLength(4);
    expect(published.some(({ version }) => version === 1)).toBe(false);
    await connection.sendRequest('shutdown');
    await connection.sendNotification('exit');
    expect((await closed)[0]).toBe(0);
  });
});
