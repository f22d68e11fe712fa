import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { servePage } from '../../../src/inspection/page-session.ts';
import { createRequestAuthorizer, isOwnOrigin } from '../../../src/inspection/request-authorizer.ts';
import { runList } from '../../../src/inspection/runs.ts';
import { openSockets, type SocketEndpoint } from '../../../src/inspection/sockets.ts';
import { lineLog, type RunSource, type SourceSink } from '../../../src/inspection/source.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { openPage } from '../../support/inspection-server.ts';

const chartNamed = (id: string): RunCharts => ({ charts: [{ id, states: [], transitions: [] }], invoked: {} });

/** A source of another kind, whose charts grow and which accepts no events. */
function aSystem() {
  const entries: object[] = [];
  const log = lineLog(entries);
  const sinks = new Set<SourceSink>();
  let charts = chartNamed('one');
  const source: RunSource = {
    info: () => ({
      runId: 'system-1',
      kind: 'system',
      title: 'Traffic lights',
      startedAt: '2026-01-01T00:00:00.000Z',
      status: 'running',
      live: true,
      fidelity: ['Guards are not told.'],
      summary: null,
    }),
    charts: () => charts,
    follow(from, sink) {
      sinks.add(sink);
      return log.follow(from, sink);
    },
  };
  return {
    source,
    log,
    add(entry: object) {
      entries.push(entry);
      log.notify();
    },
    grow(id: string) {
      charts = chartNamed(id);
      for (const sink of sinks) sink.charts(charts);
    },
  };
}

/** A server of pages, with its list of runs. */
async function serve() {
  const runs = runList(null);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const door = createRequestAuthorizer(port, () => {});
  const pages: SocketEndpoint = {
    maxMessageBytes: 1_000,
    maxSockets: 2,
    allows: isOwnOrigin,
    accept: (socket) => servePage(socket, runs),
  };
  const sockets = await openSockets(door, new Map([['socket', pages]]));
  server.on('upgrade', sockets.upgrade);
  onTestFinished(async () => {
    server.close();
    await sockets.close();
  });
  return { runs, url: `http://127.0.0.1:${port}/${door.token}/` };
}

describe('the system of another program', () => {
  it('is listed and sent like a run, with its charts again when they change', async () => {
    const { runs, url } = await serve();
    const system = aSystem();
    const remove = runs.add(system.source);
    const page = await openPage(url);
    expect((await page.runs()).runs).toEqual([system.source.info()]);
    page.say({ type: 'open', runId: 'system-1', from: 0 });
    system.add({ seq: 0 });
    await expect.poll(() => page.lines('system-1')).toEqual(['{"seq":0}']);
    system.grow('two');
    system.add({ seq: 1 });
    await expect.poll(() => page.lines('system-1')).toHaveLength(2);
    expect(page.all('charts').map(({ charts }) => charts[0]?.id)).toEqual(['one', 'two']);
    system.log.end('It went away.');
    expect((await page.end('system-1')).problem).toBe('It went away.');
    remove();
    await page.runs((list) => list.runs.length === 0);
  });

  it('sends a slow page only its newest charts, before the entries that refer to them', async () => {
    const { runs, url } = await serve();
    const system = aSystem();
    runs.add(system.source);
    const page = await openPage(url);
    page.say({ type: 'open', runId: 'system-1', from: 0 });
    await expect.poll(() => page.all('charts').length).toBe(1);
    for (let number = 0; number < 200; number += 1) system.grow(`chart-${number}`);
    system.add({ seq: 0 });
    await expect.poll(() => page.lines('system-1').length).toBe(1);
    expect(page.all('charts').length).toBeLessThan(5);
    const last = page.told.findLastIndex(({ type }) => type === 'charts');
    expect(page.all('charts').at(-1)?.charts[0]?.id).toBe('chart-199');
    expect(last).toBeLessThan(page.told.findIndex(({ type }) => type === 'entries'));
  });

  it('accepts no events', async () => {
    const { runs, url } = await serve();
    runs.add(aSystem().source);
    const page = await openPage(url);
    const sent = await page.request({ type: 'send', runId: 'system-1', event: { type: 'run.cancelled' } });
    expect(sent.problem).toBe('This run is not live; it accepts no events.');
  });

  it('that cannot be shown ends with the reason, and the page stays open', async () => {
    const { runs, url } = await serve();
    const { source } = aSystem();
    const broken = (): never => {
      throw new Error('It has no charts.');
    };
    runs.add({ ...source, charts: broken });
    const page = await openPage(url);
    page.say({ type: 'open', runId: 'system-1', from: 0 });
    expect((await page.end('system-1')).problem).toBe('It has no charts.');
  });
});
