import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, describe, expect, it } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { createDurableMachine, fileJournals } from '../../../../src/entries/durable.ts';
import { connectClient } from '../../../support/mcp-client.ts';

// Modules find xstate. They are not within `node_modules` themselves, where Node runs no TypeScript.
const root = mkdtempSync(join(realpathSync(tmpdir()), 'machines-'));
symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'), 'junction');
afterAll(() => rmSync(root, { recursive: true }));

function module(name: string, text: string): string {
  writeFileSync(join(root, name), text);
  return name;
}

const door = module(
  'door.mjs',
  `import { assign, fromPromise, setup } from 'xstate';
  console.log('a line on standard output');
  const base = setup({
    actors: { lock: fromPromise(() => { throw new Error('an actor ran'); }) },
    actions: { ring: () => { throw new Error('an action ran'); } },
    guards: { isRight: ({ event }) => event.code === 7 },
  });
  export const machine = base.createMachine({
    id: 'door', initial: 'open', context: { tries: 0 },
    states: {
      open: { on: { close: { target: 'closed', actions: 'ring' } } },
      closed: {
        invoke: {
          src: 'lock',
          onDone: 'locked',
          onError: { target: 'open', actions: assign({ tries: ({ context }) => Math.min(context.tries + 1, 3) }) },
        },
        after: { 5000: 'open' },
      },
      locked: { on: { unlock: { target: 'open', guard: 'isRight' }, knock: { guard: 'isRight' } } },
    },
  });
  export const broken = base.createMachine({
    id: 'broken', initial: 'open',
    states: { open: { on: { close: 'closed' } }, closed: { invoke: { src: 'lock', onDone: 'locked' } }, locked: {}, lost: {} },
  });`,
);
const events = [{ type: 'close' }, { type: 'unlock', code: 7 }, { type: 'knock', code: 1 }];

async function connect(...flags: readonly string[]): Promise<Client> {
  const { PATH = '' } = process.env;
  const args = [join(process.cwd(), 'dist/cli.js'), 'mcp', '--machines', ...flags];
  return connectClient(
    new StdioClientTransport({ command: process.execPath, args, cwd: root, env: { PATH }, stderr: 'ignore' }),
  );
}

/** Returns the structured result of a tool, or the text of its error. */
async function call(client: Client, name: string, given: object): Promise<unknown> {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: given as never });
  const [first] = content as readonly { readonly text: string }[];
  if (isError === true) return first?.text;
  expect(JSON.parse(first?.text ?? '')).toEqual(structuredContent);
  return structuredContent;
}

describe('postchain mcp --machines', () => {
  it('offers tools with descriptions', async () => {
    const { tools } = await (await connect()).listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'lint',
      'explore',
      'check',
      'diagram',
      'simulate',
      'cover',
      'mutants',
      'replay',
    ]);
    for (const { description, inputSchema } of tools) {
      expect(description).not.toBe('');
      expect(inputSchema.required).toContain('file');
    }
  });

  it('lint returns what fails with a counterexample, and states which outcomes were assumed', async () => {
    const client = await connect();
    const result = await call(client, 'lint', { file: `${door}#broken` });
    expect(result).toMatchObject({
      machine: 'broken',
      holds: false,
      assumed: expect.stringMatching(/^done\(undefined\) and fails\(\) as the outcomes of lock/u),
      findings: expect.arrayContaining([
        { property: 'no unreachable state', holds: false, what: 'broken.lost is never entered', at: ['lost'] },
        expect.objectContaining({
          property: 'no unhandled error',
          holds: false,
          what: expect.stringContaining('ends it in "closed"'),
          at: ['closed'],
          start: 'open',
          path: [
            { event: 'close', state: 'closed' },
            { event: 'lock: error', state: 'closed' },
          ],
        }),
        expect.objectContaining({ property: 'no dead end', holds: false }),
        { property: 'no dead transition', holds: true },
      ]),
    });
    const given = await call(client, 'lint', { file: `${door}#broken`, outcomes: { lock: [{ done: true }] } });
    expect(given).not.toHaveProperty('assumed');
    expect(given).toMatchObject({
      findings: expect.arrayContaining([{ property: 'no unhandled error', holds: true }]),
    });
  });

  it('explore returns the states with their paths, the transitions, and what nothing reaches', async () => {
    expect(await call(await connect(), 'explore', { file: `${door}#machine`, events })).toMatchObject({
      machine: 'door',
      reached: [
        { state: 'open', status: 'active', path: [] },
        { state: 'closed', path: ['close'] },
        { state: 'locked', path: ['close', 'lock: done'] },
      ],
      transitions: expect.arrayContaining([
        { from: 'closed', event: 'lock: error', to: 'open', by: ['closed, error → open'] },
      ]),
      notReached: expect.arrayContaining([{ kind: 'transition', name: 'locked, knock, [isRight] → (no target)' }]),
    });
  });

  it('check returns the shortest counterexample of each property that fails', async () => {
    const properties = [
      { property: 'atMost', field: 'tries', most: 1 },
      { property: 'precedes', first: { event: 'lock: done' }, before: { state: 'locked' } },
      { property: 'precedes', first: { event: 'unlock' }, before: { actor: 'lock' } },
      { property: 'never', states: ['locked'] },
      { property: 'eventually', states: ['open', 'locked'] },
      { property: 'endsWithin', events: 1 },
      { property: 'precedes', first: { event: 'lock: error' }, before: { state: 'locked' }, times: 'never' },
      { property: 'until', states: ['open', 'closed'], end: ['locked'] },
      { property: 'until', states: ['open'], end: ['locked'] },
      { property: 'respond', states: ['closed'], response: ['open', 'locked'] },
      { property: 'respond', states: ['locked'], response: ['open'] },
    ];
    const client = await connect();
    const result = await call(client, 'check', { file: `${door}#machine`, events, properties });
    expect(result).toMatchObject({
      holds: false,
      findings: [
        {
          holds: false,
          path: [1, 2].flatMap(() => [{ event: 'close' }, { event: 'lock: error' }]),
          context: { tries: 2 },
        },
        { holds: true },
        { holds: false, path: [{ event: 'close', state: 'closed' }] },
        { holds: false, path: [{ event: 'close' }, { event: 'lock: done', state: 'locked' }] },
        { holds: true },
        { holds: false },
        { holds: false, path: ['close', 'lock: error', 'close', 'lock: done'].map((event) => ({ event })) },
        { holds: true },
        { holds: false, path: [{ event: 'close', state: 'closed' }] },
        { holds: true },
        { holds: false, path: [{ event: 'close' }, { event: 'lock: done', state: 'locked' }] },
      ],
    });
    const unknown = [{ property: 'never', states: ['opened'] }];
    expect(await call(client, 'check', { file: `${door}#machine`, events, properties: unknown })).toBe(
      'invalid_option: "opened" is not a state of door; expected one of door, door.open, door.closed, door.locked',
    );
  });

  it('simulate takes steps without running actors or actions, and a counterexample can be simulated', async () => {
    const steps = [
      'close',
      'lock: error',
      'close',
      { actor: 'lock', done: 5 },
      { type: 'unlock', code: 1 },
      { type: 'unlock', code: 7 },
    ];
    const client = await connect();
    expect(await call(client, 'simulate', { file: `${door}#machine`, steps })).toMatchObject({
      start: { state: 'open', context: { tries: 0 }, accepts: ['close'], mayOccur: [] },
      steps: [
        { event: 'close', state: 'closed', mayOccur: ['lock: done', 'lock: error', 'after 5000 ms'] },
        { state: 'open', context: { tries: 1 } },
        { state: 'closed' },
        { event: 'lock: done 5', state: 'locked', accepts: ['unlock', 'knock'] },
        { ignored: true, state: 'locked', guards: ['locked, unlock, [isRight] → open: false'] },
        { state: 'open', transitions: ['locked, unlock, [isRight] → open'] },
      ],
    });
    expect(await call(client, 'simulate', { file: `${door}#machine`, steps: ['lock: done'] })).toMatch(
      /^path_failed: Step 1: "lock: done" cannot occur in open; possible: close/u,
    );
  });

  it('cover returns what paths do not cover, and short paths that do', async () => {
    const client = await connect();
    const given = { file: `${door}#broken`, outcomes: { lock: [{ done: true }] } };
    expect(await call(client, 'cover', given)).toMatchObject({
      percent: { transitions: 100, states: 80 },
      notCovered: [{ kind: 'state', name: 'broken.lost', unreachable: true }],
      paths: [{ steps: ['close', 'lock: done true'], end: 'locked' }],
    });
    expect(await call(client, 'cover', { ...given, paths: [{ steps: ['close'] }] })).toMatchObject({
      percent: { transitions: 50 },
      notCovered: expect.arrayContaining([{ kind: 'state', name: 'broken.locked' }]),
      paths: [{ steps: ['close', 'lock: done true'] }],
    });
  });

  it('mutants returns the mistakes that properties and paths do not detect', async () => {
    const given = { file: `${door}#machine`, events, properties: [] };
    const paths = [{ steps: ['close', 'lock: done', { type: 'unlock', code: 7 }] }];
    const client = await connect();
    expect(await call(client, 'mutants', { ...given, paths })).toMatchObject({
      machine: 'door',
      notDetected: expect.arrayContaining(['door.closed, error: transition dropped']),
    });
    const broken = { file: `${door}#broken` };
    expect(await call(client, 'mutants', broken)).toMatch(
      /^invalid_option: The suite fails on broken without a mutation/u,
    );
  });

  it('replay compares the journal of a durable actor with the machine', async () => {
    const machine = setup({ actors: { lock: fromPromise(async () => true) } }).createMachine({
      id: 'gate',
      initial: 'open',
      states: { open: { on: { close: 'closed' } }, closed: { invoke: { src: 'lock', onDone: 'locked' } }, locked: {} },
    });
    const host = createDurableMachine(machine, { journals: fileJournals(join(root, 'journals')) });
    const actor = await host.open('gate-1');
    await actor.send({ type: 'close' });
    await actor.park({ wait: true });
    const gate = (onDone: string): string => `import { fromPromise, setup } from 'xstate';
      export const machine = setup({ actors: { lock: fromPromise(async () => true) } }).createMachine({
        id: 'gate', initial: 'open',
        states: { open: { on: { close: 'closed' } }, closed: { invoke: { src: 'lock', onDone: '${onDone}' } }, locked: {} },
      });`;
    const client = await connect();
    const journal = 'journals/gate-1.jsonl';
    expect(await call(client, 'replay', { file: module('gate.mjs', gate('locked')), journal })).toMatchObject({
      actor: 'gate-1',
      identical: true,
      state: 'locked',
    });
    expect(await call(client, 'replay', { file: module('gate-2.mjs', gate('open')), journal })).toMatchObject({
      identical: false,
      difference: {
        text: expect.stringContaining(
          'the transition from closed to locked; the machine now does the transition from closed to open',
        ),
      },
    });
    expect(await call(client, 'replay', { file: `${door}#machine`, journal })).toMatch(
      /^invalid_journal: .* is the journal of a machine "gate"; expected one of "door"/u,
    );
    expect(await call(client, 'replay', { file: door, journal: '../gate-1.jsonl' })).toMatch(/^invalid_path: /u);
  });

  it('checks the example of the skill, which holds', async () => {
    const skill = readFileSync('SKILL.md', 'utf8');
    const [code = '', json = ''] = ['js', 'json'].map(
      (kind) => skill.split(`\`\`\`${kind}\n`)[1]?.split('```')[0] ?? '',
    );
    const result = await call(await connect(), 'check', { ...JSON.parse(json), file: module('refund.mjs', code) });
    expect(result).toMatchObject({ machine: 'refund', holds: true });
  });

  it('diagram returns Mermaid', async () => {
    expect(await call(await connect(), 'diagram', { file: `${door}#machine` })).toMatchObject({
      mermaid: expect.stringContaining('door_open -.->|"close"| door_closed'),
    });
  });

  it('survives modules that hang, allocate without end or exit, and says so', async () => {
    const client = await connect('--time-limit', '20', '--memory-limit', '200');
    const errors: Readonly<Record<string, readonly [text: string, error: RegExp]>> = {
      'heap.mjs': [
        'const all = []; while (true) all.push({ a: [1, 2] });',
        /^exploration_failed: lint exceeded 200 MB of memory, and was stopped;/u,
      ],
      'buffers.mjs': [
        'const all = []; while (true) all.push(Buffer.alloc(1e6, 1));',
        /^exploration_failed: lint exceeded 200 MB of memory/u,
      ],
      'exits.mjs': ['process.exit(3);', /^exploration_failed: The process of lint ended with exit code 3;/u],
      'never.mjs': [
        'await new Promise(() => {});',
        /^exploration_failed: Cannot load .*its top-level await never settles$/u,
      ],
      'throws.mjs': ['throw new Error("broken\\nin two lines");', /^invalid_option: Cannot load .*: broken$/u],
      'empty.mjs': ['', /^invalid_option: .* must export an XState machine; its exports are empty$/u],
    };
    for (const [name, [text, error]] of Object.entries(errors))
      expect(await call(client, 'lint', { file: module(name, text) })).toMatch(error);
    expect(await call(client, 'diagram', { file: `${door}#machine` })).toMatchObject({ machine: 'door' });
  });

  it('answers many calls at once', async () => {
    const client = await connect();
    const calls = Array.from({ length: 10 }, () => call(client, 'diagram', { file: `${door}#machine` }));
    for (const result of await Promise.all(calls)) expect(result).toMatchObject({ machine: 'door' });
  });

  it('stops a module that hangs at the time limit', async () => {
    const client = await connect('--time-limit', '1');
    expect(await call(client, 'explore', { file: module('hangs.mjs', 'while (true);') })).toMatch(
      /^exploration_failed: explore did not finish within 1 s, and was stopped;/u,
    );
  });

  it('refuses files outside of the root, links to them, and invalid arguments', async () => {
    const client = await connect();
    const outside = join(process.cwd(), 'package.json');
    symlinkSync(outside, join(root, 'link.json'));
    for (const file of [outside, 'link.json', '../x.mjs'])
      expect(await call(client, 'lint', { file })).toMatch(/^invalid_path: /u);
    expect(await call(client, 'lint', { file: door, outcome: {} })).toBe(
      'invalid_option: outcome: unknown option; expected one of file, outcomes, events, inputs, abstraction, limit, depth.',
    );
  });
});
