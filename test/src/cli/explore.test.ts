import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { printable } from '../../../src/internal/printable.ts';
import { cli } from '../../support/cli.ts';

// Within the project, so that it finds xstate.
const folder = mkdtempSync(join(process.cwd(), 'node_modules/.cache/explored-'));
afterAll(() => rmSync(folder, { recursive: true }));

function module(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const door = (onError: string) => `
  import { fromPromise, setup } from 'xstate';
  export const machine = setup({ actors: { lock: fromPromise(async () => true) } }).createMachine({
    id: 'door', initial: 'open',
    states: {
      open: { on: { close: 'closed' } },
      closed: { invoke: { src: 'lock', onDone: 'locked'${onError} } },
      locked: { on: { unlock: 'open' } },
    },
  });
  export const outcomes = {
    lock: [{ kind: 'done', name: 'turned', output: true }, { kind: 'error', name: 'jams', error: new Error('it jams') }],
  };
  export const events = [{ type: 'close' }, { type: 'unlock' }];
`;

describe('postchain explore, paths and lint', () => {
  it('tell how much can happen to a chart of ours, and what nothing reaches', async () => {
    expect((await cli('explore', 'action')).stdout).toMatch(
      /^actionLoop: \d+ states, \d+ edges, \d+ paths that cover them\n(\d+) of \1 parts of the chart reached\n$/u,
    );
    const { states, edges, beginnings } = JSON.parse((await cli('explore', 'action', '--json')).stdout);
    expect(beginnings[0]).toEqual({ name: 'a function decides', state: 0 });
    expect(states[0]).toEqual({ id: 0, value: 'classifying', depth: 0, status: 'active' });
    expect(edges[0]).toEqual({
      from: 0,
      event: 'attempt: an answer',
      guard: 'nothingToRun',
      to: expect.any(Number),
      transitions: [expect.any(Number), expect.any(Number)],
    });
  });

  it('print ways to read, through a machine of the user’s', async () => {
    const { stdout } = await cli('paths', module('door.mjs', door(", onError: 'open'")));
    expect(stdout).toBe(`1. it begins, in open
   close → closed
   lock: jams → open

2. it begins, in open
   close → closed
   lock: turned → locked
   unlock → open
`);
  });

  it('say what holds of it, and exit 1 with the shortest way to see what does not', async () => {
    expect(await cli('lint', module('sound.mjs', door(", onError: 'open'")))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('door: 4 properties over 3 states, all hold'),
    });
    const jammed = await cli('lint', module('jams.mjs', door('')));
    expect(jammed.code).toBe(1);
    expect(jammed.stdout).toContain(
      'FAILS: no error of an actor goes unhandled: it is so in "closed", after from its beginning → close → lock: jams\n',
    );
  });

  it.each([
    ['nowhere.mjs', /There is no chart and no file "nowhere\.mjs": choose one of chain, attempt, action/u],
    [module('empty.mjs', 'export const other = 1;'), /got other; wanted an XState machine as "machine"/u],
    [module('broken.mjs', 'export const = 1;'), /broken\.mjs cannot be loaded: /u],
    [
      module('mute.mjs', door('').replace('export const outcomes', 'const outcomes')),
      /got none for the actor "lock", which door\.closed invokes/u,
    ],
  ])('refuse %s in a line', async (name, message) => {
    const { code, stderr } = await cli('lint', name);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n').length).toBe(1);
  });

  it.skipIf(Number.parseInt(process.versions.node, 10) >= 22)(
    'say what to do with TypeScript where Node reads none',
    async () => {
      expect((await cli('lint', module('door.ts', door('')))).stderr).toMatch(
        /door\.ts cannot be loaded: Node \d+\.\d+\.\d+ reads no TypeScript; give the JavaScript it is built to, or use Node 22\.18 or later$/mu,
      );
    },
  );
});

describe('postchain coverage', () => {
  it('tells what recorded runs brought about of the charts, and exits 1 below a threshold', async () => {
    const journal = join(folder, 'run.jsonl');
    await cli('run', 'What is a cycle?', '--docs', 'docs/yield.md', '--journal', journal, '--quiet');
    const { code, stdout } = await cli('coverage', journal);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^machine +states +transitions +guards +outcomes +delays +all\npostChain +\d/u);
    expect(stdout).toContain('postChain, never:\n');
    const parsed = JSON.parse((await cli('coverage', journal, journal, '--json')).stdout);
    expect(parsed.map(({ machine }: { machine: string }) => machine)).toEqual(['postChain', 'attempt', 'actionLoop']);
    const deciding = parsed[0].items.find(
      ({ key }: { key: string }) => key === 'state postChain.cycling.yield.deciding',
    );
    expect(deciding).toMatchObject({ kind: 'state', name: 'postChain.cycling.yield.deciding' });
    expect(deciding.times % 2).toBe(0);
    const page = join(folder, 'deep', 'coverage.html');
    expect((await cli('coverage', journal, '--html', page)).stdout).toBe(
      `${stdout}\n${page}: the charts, coloured. It opens from disk.\n`,
    );
    expect(readFileSync(page, 'utf8')).toContain('"title":"Recorded run: run.jsonl"');
    expect(parsed[0].chart).toBeUndefined();
    expect((await cli('coverage', journal, '--html', folder)).stderr).toMatch(/: it cannot be written \(EISDIR/u);
    const missed = await cli('coverage', journal, '--min', '20', '--min', 'guards=99.5');
    expect(missed.code).toBe(1);
    expect(missed.stderr).toMatch(/^postChain: \d+\.\d % of guards, wanted 99\.5 %\nattempt: /u);
    expect((await cli('coverage', journal, '--min', '1')).code).toBe(0);
    expect((await cli('coverage', journal, '--min', 'lines=10')).stderr).toContain(
      'Wanted per cent, as 80 or guards=60; kinds are states, transitions, guards, outcomes, delays.',
    );
    expect(await cli('coverage', 'nowhere')).toMatchObject({ code: 2 });
  });

  it.each([
    ['throws null', 'throw null;', /cannot be loaded: null$/u],
    [
      'never comes to its end',
      'await new Promise(() => {});',
      /cannot be loaded: it awaits at its top what never comes\.$/u,
    ],
    ['has properties that are no list', `${door('')} export const properties = {};`, /"properties" as an array/u],
    [
      'has outcomes that are null',
      `${door('').replace('outcomes', 'others')} export const outcomes = null;`,
      /"outcomes" as an object/u,
    ],
  ])('refuse a module that %s', async (name, text, message) => {
    const { stderr, code } = await cli('lint', module(`${name.replaceAll(' ', '-')}.mjs`, text));
    expect(stderr.trim()).toMatch(message);
    expect(code).toBe(2);
  });

  it('print no escape sequences of a chart', async () => {
    const path = module(
      'escapes.mjs',
      `import { createMachine } from 'xstate';
       export const machine = createMachine({ id: 'm\\u001b[2J', initial: 'a', states: { a: { on: { 'go\\u0007': 'b' } }, b: {} } });
       export const events = [{ type: 'go\\u0007' }];`,
    );
    for (const args of [
      ['lint', path],
      ['paths', path],
      ['explore', path],
      ['explore', path, '--json'],
    ]) {
      const { stdout } = await cli(...args);
      expect(stdout).not.toBe('');
      expect(stdout).toBe(printable(stdout));
    }
  });
});
