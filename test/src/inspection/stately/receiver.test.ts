import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openPage, startInspector } from '../../../support/inspection-server.ts';

/** A connected XState program. */
async function aProgram(url: string) {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  const say = (message: object): void => socket.send(JSON.stringify(message));
  return {
    socket,
    say,
    /** A system that ends immediately. */
    system(rootId: string) {
      const common = { sessionId: rootId, rootId, createdAt: '1000' };
      say({ ...common, type: '@xstate.actor', name: rootId, snapshot: { status: 'active' } });
      say({ ...common, type: '@xstate.snapshot', event: { type: 'end' }, snapshot: { status: 'done' } });
    },
  };
}

describe('a program that creates many systems', () => {
  it('keeps a limited number of ended systems while it is connected', async () => {
    const { url, statelyUrl } = await startInspector();
    const page = await openPage(url);
    const program = await aProgram(statelyUrl);
    for (let number = 0; number < 300; number += 1) program.system(`x:${number}`);
    const { runs } = await page.runs((list) => list.runs.some(({ title, live }) => title === 'x:299' && !live));
    expect(runs.length).toBeLessThanOrEqual(32);
    // Later messages do not bring an ended system back.
    program.system('x:299');
    program.system('x:400');
    const later = await page.runs((list) => list.runs.some(({ title, live }) => title === 'x:400' && !live));
    expect(later.runs.filter(({ title }) => title === 'x:299')).toHaveLength(1);
    expect(later.runs.length).toBeLessThanOrEqual(32);
  });

  it('keeps active systems in the list until it disconnects', async () => {
    const { url, statelyUrl } = await startInspector();
    const page = await openPage(url);
    const program = await aProgram(statelyUrl);
    program.say({ type: '@xstate.actor', sessionId: 'y:0', rootId: 'y:0', name: 'lives', snapshot: {} });
    for (let number = 0; number < 60; number += 1) program.system(`x:${number}`);
    await page.runs((list) => list.runs.some(({ title, live }) => title === 'x:59' && !live));
    expect((await page.runs()).runs.find(({ title }) => title === 'lives')).toMatchObject({ live: true });
    program.socket.terminate();
    await page.runs((list) => list.runs.some(({ title, live }) => title === 'lives' && !live));
  });
});

describe('omissions in the record of a system', () => {
  it('are sent to a page immediately, even without new entries', async () => {
    const { url, statelyUrl } = await startInspector();
    const page = await openPage(url);
    const program = await aProgram(statelyUrl);
    program.say({ type: '@xstate.actor', sessionId: 'x:0', rootId: 'x:0', name: 'm', snapshot: {} });
    await page.runs((list) => list.runs.length === 1);
    const isTold = (sentence: string) => page.runs(({ runs }) => runs[0]?.fidelity.includes(sentence) === true);
    program.socket.send('no JSON');
    await isTold('1 message could not be parsed.');
    program.say({ type: '@xstate.event', sessionId: 'x:9', rootId: 'x:0', event: { type: 'GO' } });
    await isTold('1 message for actors that were not announced: earlier messages were lost or came late.');
  });
});

describe('an oversized definition', () => {
  it('is cut so that the inspected program keeps its memory', async () => {
    const { url, statelyUrl } = await startInspector();
    const page = await openPage(url);
    const program = await aProgram(statelyUrl);
    let states: object = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`s${at}`, {}]));
    for (let depth = 0; depth < 40; depth += 1) states = { [`${depth}`.padEnd(100_000, 'x')]: { states } };
    const definition = JSON.stringify({ id: 'm', states });
    const before = process.memoryUsage().rss;
    program.say({ type: '@xstate.actor', sessionId: 'x:0', rootId: 'x:0', name: 'm', definition, snapshot: {} });
    const { runs } = await page.runs((list) => list.runs.length === 1);
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000);
    expect(runs[0]?.fidelity.join(' ')).toContain('its chart is incomplete');
  });
});
