import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { printable } from '../../../src/internal/printable.ts';
import { cli } from '../../support/cli.ts';

// Modules find xstate. They are not within `node_modules` themselves, where Node runs no TypeScript.
const folder = mkdtempSync(join(realpathSync(tmpdir()), 'explored-'));
symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'), 'junction');
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
  it('explore prints the size of a built-in chart and its unreached items', async () => {
    expect((await cli('explore', 'action')).stdout).toMatch(
      /^actionLoop: [\d,]+ states, [\d,]+ edges, \d+ covering paths\n(\d+) of \1 chart items reached\n$/u,
    );
    const { states, edges, starts } = JSON.parse((await cli('explore', 'action', '--json')).stdout);
    expect(starts[0]).toEqual({ name: 'a function decides', state: 0 });
    expect(states[0]).toEqual({ id: 0, value: 'classifying', depth: 0, status: 'active' });
    expect(edges[0]).toEqual({
      from: 0,
      event: 'attempt: an answer',
      guard: 'nothingToRun',
      to: expect.any(Number),
      transitions: [expect.any(Number), expect.any(Number)],
    });
  });

  it('paths prints scenarios of the user’s machine', async () => {
    const { stdout } = await cli('paths', module('door.mjs', door(", onError: 'open'")));
    expect(stdout).toBe(`1. start → open
   close → closed
   lock: jams → open

2. start → open
   close → closed
   lock: turned → locked
   unlock → open
`);
  });

  it('lint prints which properties hold, and exits with 1 and the shortest counterexample', async () => {
    expect(await cli('lint', module('sound.mjs', door(", onError: 'open'")))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('door: 8 properties checked in 3 states, all hold'),
    });
    const repeated = `${door(", onError: 'open'")}
      import { noDeadEnd } from '${pathToFileURL('dist/testing.js')}';
      export const properties = [noDeadEnd];`;
    expect((await cli('lint', module('repeated.mjs', repeated))).stdout).toContain('8 properties checked');
    const jammed = await cli('lint', module('jams.mjs', door('')));
    expect(jammed.code).toBe(1);
    expect(jammed.stdout).toContain(
      'FAILS: no unhandled error: "it jams" ends it in "closed", after start → close → lock: jams\n',
    );
  });

  it('assume that an actor ends without an output, or fails, and say so', async () => {
    const mute = module('mute.mjs', door(", onError: 'open'").replace('export const outcomes', 'const outcomes'));
    const note = 'Assumed done(undefined) and fails() as the outcomes of lock; list the real ones in "outcomes"\n';
    for (const command of ['lint', 'explore', 'paths']) {
      const { code, stdout } = await cli(command, mute);
      expect([code, stdout.endsWith(note)]).toEqual([0, true]);
    }
    const unhandled = module('mute-unhandled.mjs', door('').replace('export const outcomes', 'const outcomes'));
    expect((await cli('lint', unhandled)).stdout).toMatch(/FAILS: no unhandled error.*lock: error\n/u);
  });

  it('assume the same outcomes for actors that an action or an assignment spawns', async () => {
    const spawning = module(
      'spawning.mjs',
      `import { assign, fromPromise, setup, spawnChild, stopChild } from 'xstate';
      const load = fromPromise(async () => 1);
      export const machine = setup({ actors: { load, save: load, unused: load } }).createMachine({
        id: 'file', initial: 'loading', context: {},
        states: {
          loading: {
            entry: spawnChild('load', { id: 'load' }),
            on: { 'xstate.done.actor.load': 'saving', 'xstate.error.actor.load': 'failed' },
          },
          saving: {
            entry: assign(({ spawn }) => ({ ref: spawn('save') })),
            on: { 'xstate.done.actor.*': 'saved', 'xstate.error.actor.*': 'failed' },
          },
          saved: { type: 'final' },
          failed: { entry: stopChild('load'), type: 'final' },
        },
      });`,
    );
    const { code, stdout } = await cli('lint', spawning);
    expect([code, stdout.trim().split('\n').slice(-2)]).toEqual([
      0,
      [
        'file: 8 properties checked in 5 states, all hold',
        'Assumed done(undefined) and fails() as the outcomes of load, save; list the real ones in "outcomes"',
      ],
    ]);
  });

  it.each([
    ['nowhere.mjs', /Chart "nowhere\.mjs" not found; expected chain, attempt, action/u],
    [module('empty.mjs', 'export const other = 1;'), /must export an XState machine; its exports are other$/mu],
    [module('broken.mjs', 'export const = 1;'), /Cannot load \S*broken\.mjs: /u],
    [module('throws.mjs', 'throw null;'), /^postchain: Cannot load \S+: null$/mu],
    [module('waits.mjs', 'await new Promise(() => {});'), /Cannot load \S+: its top-level await never settles$/mu],
    [module('list.mjs', `${door('')} export const properties = {};`), /"properties" must be an array$/mu],
    [
      module('null.mjs', `${door('').replace('outcomes', 'others')} export const outcomes = null;`),
      /"outcomes" must be an object/u,
    ],
  ])('reject %s with one line', async (name, message) => {
    const { code, stderr } = await cli('lint', name);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n').length).toBe(1);
  });
});

describe('postchain diagram, coverage, explore, paths and lint load modules the same way', () => {
  const commands = [['diagram'], ['coverage'], ['explore'], ['paths'], ['lint']] as const;
  const light = `
    import { createMachine } from 'xstate';
    const states = { red: { after: { 10: 'green' } }, green: { on: { STOP: 'red' } } };
    export const light = createMachine({ id: 'light', initial: 'red', states });
  `;
  const two = module('two.mjs', `${light} export const other = light.provide({});`);

  it.each([
    ['the only machine', module('only.mjs', light)],
    ['a default export', module('default.mjs', `${light} export default light;`)],
    ['one of several', `${two}#light`],
    ['CommonJS', module('common.cjs', `module.exports = require('./only.mjs');`)],
  ])('%s', async (_, path) => {
    const outputs = await Promise.all(commands.map((command) => cli(...command, path)));
    expect(outputs.map(({ stderr }) => stderr)).toEqual(commands.map(() => ''));
    const [diagram, coverage, explored, paths, lint] = outputs.map(({ stdout }) => stdout);
    expect(diagram).toContain('light_red -.->|"after 10"| light_green\n');
    expect(coverage).toMatch(/^machine .*\nlight {4,}100\.0% /u);
    expect(explored).toMatch(/^light: 2 states, \d edges, /u);
    expect(paths).toContain('after 10 ms → green');
    expect(lint).toContain('light: 8 properties checked in 2 states');
  });

  it.each(commands)(
    '%s prints one line if a module exports no machine, or several without a choice',
    async (command) => {
      expect(await cli(command, two)).toMatchObject({
        code: 2,
        stderr: `postchain: ${two} exports 2 machines; expected ${two}#light, ${two}#other\n`,
      });
      expect((await cli(command, `${two}#third`)).stderr).toContain('exports 2 machines; expected');
      expect((await cli(command, module('none.mjs', 'export const one = 1;'))).stderr).toMatch(
        /^postchain: \S+none\.mjs must export an XState machine; its exports are one\n$/u,
      );
    },
  );

  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const runsTypeScript = major > 22 || (major === 22 && minor >= 18);
  it.each(commands)('%s loads TypeScript if Node supports it', async (command) => {
    const typed = light.replace('export const light =', 'export const light: unknown =');
    for (const path of [module('light.ts', typed), module('reexport.mjs', `export * from './light.ts';`)]) {
      const { stdout, stderr } = await cli(command, path);
      expect(stderr).toMatch(
        runsTypeScript
          ? /^$/u
          : /^postchain: Cannot load \S+: Node \S+ cannot run TypeScript; pass compiled JavaScript, use Node 22\.18 or later, or install tsx and set NODE_OPTIONS="--import tsx"\n$/u,
      );
      if (runsTypeScript) expect(stdout).toContain(command === 'paths' ? 'red' : 'light');
    }
  });

  it('coverage reports several modules, and checks thresholds', async () => {
    const partial = module('partial.mjs', `${light} export const depth = 0;`);
    const { code, stdout, stderr } = await cli('coverage', partial, two.concat('#other'), '--min', '60');
    expect(code).toBe(1);
    expect(stdout).toMatch(/\nlight .*\nlight \(2\) /u);
    expect(stderr).toMatch(/^light: \d+\.\d% of all, below 60%\n/u);
  });
});

describe('postchain coverage', () => {
  it('prints how much of the charts recorded runs reached, and exits with 1 below a threshold', async () => {
    const journal = join(folder, 'run.jsonl');
    const flags = ['--docs', 'docs/yield.md', '--profile', 'thorough', '--journal', journal, '--quiet'];
    await cli('run', 'What is a cycle?', ...flags);
    const { code, stdout } = await cli('coverage', journal);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^machine +states +transitions +guards +outcomes +delays +all\npostChain +\d/u);
    expect(stdout).toMatch(/\n\nNot reached: \d+ items; list them with --all\n$/u);
    expect(stdout.split('\n').length).toBeLessThan(10);
    expect((await cli('coverage', journal, '--all')).stdout).toContain('postChain, not reached:\n');
    const parsed = JSON.parse((await cli('coverage', journal, journal, '--json')).stdout);
    expect(parsed.map(({ machine }: { machine: string }) => machine)).toEqual(['postChain', 'attempt', 'actionLoop']);
    const deciding = parsed[0].items.find(
      ({ key }: { key: string }) => key === 'state postChain.cycling.yield.deciding',
    );
    expect(deciding).toMatchObject({ kind: 'state', name: 'postChain.cycling.yield.deciding' });
    expect(deciding.times % 2).toBe(0);
    const same = module('same.mjs', door('').replace("id: 'door'", "id: 'attempt'"));
    expect((await cli('coverage', journal, same)).stdout).toMatch(/\nattempt .*\nactionLoop .*\nattempt \(2\) /u);
    expect(parsed[0].chart).toBeUndefined();
    const missed = await cli('coverage', journal, '--min', '20', '--min', 'guards=99.5');
    expect(missed.code).toBe(1);
    expect(missed.stderr).toMatch(/^postChain: \d+\.\d% of guards, below 99\.5%\nattempt: /u);
    expect((await cli('coverage', journal, '--min', '1')).code).toBe(0);
    expect((await cli('coverage', journal, '--min', 'lines=10')).stderr).toContain(
      'Expected a percentage such as 80 or guards=60; kinds are states, transitions, guards, outcomes, delays.',
    );
    expect(await cli('coverage', 'nowhere')).toMatchObject({ code: 2 });
  });

  it('print no escape sequences from a chart', async () => {
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
