import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createMachine } from 'xstate';
import { chartOf } from '../../../../src/durable/charts/chart.ts';
import { systemMessageSchema } from '../../../../src/inspection/systems/messages.ts';
import { observedSystem, type SystemLimits } from '../../../../src/inspection/systems/system-log.ts';
import type { ObservedEntry } from '../../../../src/inspection/wire.ts';
import { openPage, startInspector } from '../../../support/inspection-server.ts';
import { foldedSystem } from '../../../support/inspector/inspected-runs.ts';

const chart = chartOf(createMachine({ id: 'm', initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } }));
const common = { system: 'x:0', at: 1_000 };
const machine = { type: 'machine', ...common, machine: 0, chart };
const actor = {
  type: 'actor',
  ...common,
  actor: 'x:0',
  name: 'm',
  parent: null,
  machine: 0,
  src: null,
  event: null,
  leaves: ['m.a'],
};
const transition = {
  type: 'transition',
  ...common,
  actor: 'x:0',
  event: 'GO',
  source: 'm.a',
  target: ['m.b'],
  candidates: [],
  leaves: ['m.b'],
};
const context = { type: 'context', ...common, actor: 'x:0', context: { n: 1 } };
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

async function connect(origin?: string) {
  const { url, inspectUrl } = await startInspector();
  const socket = new WebSocket(inspectUrl, { ...(origin !== undefined && { origin }) });
  onTestFinished(() => socket.terminate());
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const opened = await new Promise<string>((resolve) => {
    socket.once('open', () => resolve('open'));
    socket.once('error', ({ message }) => resolve(message));
  });
  const say = (message: unknown): void => socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  return { url, inspectUrl, opened, closed, say, socket };
}

describe('the endpoint for other programs', () => {
  it.each([
    ['no JSON', '{'],
    ['not an object', '7'],
    ['an unknown type', { ...machine, type: 'run' }],
    ['a missing member', { ...transition, leaves: undefined }],
    ['a member of another type', { ...actor, leaves: 'm.a' }],
    ['an impossible time', { ...actor, at: 1e300 }],
    ['an id that is too long', { ...actor, actor: 'x'.repeat(3_000) }],
    ['a chart without a root', { ...machine, chart: { ...chart, states: chart.states.slice(1) } }],
    ['a chart with a state twice', { ...machine, chart: { ...chart, states: [...chart.states, chart.states[1]] } }],
    ['a transition to an unknown state', { ...machine, chart: { ...chart, states: chart.states.slice(0, 2) } }],
    [
      'too many states',
      {
        ...machine,
        chart: {
          ...chart,
          states: Array.from({ length: 3_000 }, (_, at) => ({
            ...chart.states[0],
            id: `s${at}`,
            parent: at === 0 ? null : 's0',
          })),
          transitions: [],
        },
      },
    ],
  ])('closes a connection that sends %s', async (_, message) => {
    const { say, closed } = await connect();
    say(message);
    expect(await closed).toBe(1008);
  });

  it('closes a connection whose message is too large', async () => {
    const { say, closed } = await connect();
    say(`"${'x'.repeat(9_000_000)}"`);
    expect(await closed).toBe(1009);
  });

  it('accepts only programs with the token, and pages of this computer', async () => {
    expect((await connect('http://evil.example')).opened).toBe('Unexpected server response: 403');
    const { opened, inspectUrl } = await connect('http://localhost:5173');
    expect(opened).toBe('open');
    const guessed = new WebSocket(inspectUrl.replace(/[\w-]{32}/u, 'x'.repeat(32)));
    onTestFinished(() => guessed.terminate());
    const message = await new Promise((resolve) => guessed.once('error', (error) => resolve(error.message)));
    expect(message).toBe('Unexpected server response: 404');
  });

  it('cuts what is nested too deeply, and drops members that would pollute prototypes', async () => {
    const { url, say } = await connect();
    say(machine);
    say(actor);
    say(JSON.stringify(context).replace('{"n":1}', `{"n":1,"__proto__":{"polluted":true},"deep":${deep(100_000)}}`));
    say({ type: 'closed', ...common });
    const page = await openPage(url);
    const { runs } = await page.runs((list) => list.runs.some(({ live }) => !live));
    const { runId } = runs[0] as (typeof runs)[number];
    page.say({ type: 'open', runId, from: 0 });
    await page.end(runId);
    const text = page.frames(runId).join('\n');
    expect(text).toContain('[…]');
    expect(text).not.toContain('polluted');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('keeps the list short, however many systems a program starts', async () => {
    const { url, say } = await connect();
    for (let number = 0; number < 300; number += 1)
      say({ ...actor, system: `x:${number}`, actor: `x:${number}`, machine: null });
    const page = await openPage(url);
    const { runs } = await page.runs((list) => list.runs.length >= 100);
    say({ ...actor, system: 'x:0', type: 'closed' });
    await page.runs((list) => list.runs.some(({ live }) => !live));
    expect(runs).toHaveLength(100);
  });
});

const limits: SystemLimits = { actors: 10, charts: 3, entries: 60, chars: 10_000 };

function logged(messages: readonly unknown[]) {
  const system = observedSystem('p/x:0', 'x:0', () => {}, limits);
  for (const message of messages) system.take(systemMessageSchema.parse(message));
  system.close();
  const entries: ObservedEntry[] = [];
  const frames: string[] = [];
  const end = new Promise((resolve) => {
    const lines = async (read: readonly string[]): Promise<void> =>
      void entries.push(...read.map((line) => JSON.parse(line)));
    const states = async (_: number, read: readonly string[]): Promise<void> => void frames.push(...read);
    system.follow(0, { lines, states, charts: () => {}, end: resolve });
  });
  return { system, entries, frames, end };
}

const session = fc.constantFrom('x:0', 'x:1', 'x:2', '__proto__');
const aMessage = fc.oneof(
  fc.constant(machine),
  fc
    .record({
      actor: session,
      parent: session,
      machine: fc.constantFrom(0, 7, null),
      src: fc.constantFrom('kid', null),
    })
    .map((it) => ({ ...actor, ...it })),
  fc.record({ actor: session, source: session, at: fc.nat() }).map((it) => ({ ...transition, ...it })),
  fc.record({ actor: session, context: fc.jsonValue() }).map((it) => ({ ...context, ...it })),
  fc
    .record({ actor: session, sender: session })
    .map((it) => ({ type: 'event', ...common, event: { type: 'GO' }, ...it })),
  fc
    .record({ actor: session, status: fc.constantFrom('done', 'error', 'stopped') })
    .map((it) => ({ type: 'end', ...common, ...it })),
);

describe('the log of a system', () => {
  it('is consistent for any valid messages, and can be read from its start', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aMessage, { maxLength: 60 }), async (messages) => {
        const { system, entries, frames, end } = logged(messages);
        expect(await end).toBeNull();
        expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
        expect(entries.every(({ atMs }, index) => atMs >= (entries[index - 1]?.atMs ?? 0))).toBe(true);
        const ids = system.charts().charts.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const { log } = foldedSystem(
          entries.map((entry) => JSON.stringify(entry)),
          frames,
        );
        expect(log.problem).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  it('is limited in actors, charts, entries and size, and says so', async () => {
    const machines = Array.from({ length: 5 }, (_, at) => ({ ...machine, machine: at }));
    const actors = Array.from({ length: 30 }, (_, at) => ({ ...actor, actor: `x:${at}`, machine: at % 5 }));
    const contexts = Array.from({ length: 90 }, (_, at) => ({ ...context, context: { text: `${at}`.repeat(500) } }));
    const { system, entries, frames, end } = logged([...machines, ...actors, ...contexts]);
    await end;
    expect(system.charts().charts).toHaveLength(3);
    expect(JSON.stringify([entries, frames]).length).toBeLessThan(20_000);
    expect(system.info()).toMatchObject({
      status: 'disconnected',
      fidelity: ['20 actors exceeded the limit and are not shown.', 'The log is full: the latest entries are missing.'],
    });
  });
});
