import { cpSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'vite';
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { journalStoreChecks } from '../../src/testing/journal-store-checks.ts';
import { temporaryFolder } from '../support/cli.ts';
import { recordedRun } from '../support/recorded-run.ts';
import { PROGRAM_FOLDER } from '../support/runtimes-setup.ts';
import { installWorkerd, type Workerd } from '../support/workerd.ts';

const HOUR = 3_600_000;
const startWorkerd = await installWorkerd();
const journal = await recordedRun();

beforeAll(async () => {
  await bundle('test/runtimes/durable-object.mjs', 'durable-object.mjs');
  await bundle('examples/worker/order.ts', 'order.ts');
});

const bundled = (name: string): string => join(PROGRAM_FOLDER, 'bundled', name);

/** Bundles a Worker of the program, as Cloudflare's bundler resolves packages. */
async function bundle(source: string, name: string): Promise<void> {
  const input = join(PROGRAM_FOLDER, name);
  cpSync(source, input);
  await build({
    root: PROGRAM_FOLDER,
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['workerd', 'worker', 'browser', 'module'] },
    build: {
      outDir: bundled(name),
      target: 'esnext',
      modulePreload: false,
      rolldownOptions: {
        input,
        preserveEntrySignatures: 'strict',
        external: [/^cloudflare:/u, /^node:/u],
        output: { entryFileNames: 'worker.js', codeSplitting: false },
      },
    },
  });
}

beforeEach(({ skip }) => {
  if (typeof startWorkerd === 'string') skip(startWorkerd);
});

interface Evictable extends Workerd {
  /** Kills the process, and starts another one with its storage. */
  evict(): Promise<Evictable>;
}

async function start(name = 'durable-object.mjs', folder = temporaryFolder()): Promise<Evictable> {
  if (typeof startWorkerd === 'string') throw new Error(startWorkerd);
  const workerd = await startWorkerd(join(bundled(name), 'worker.js'), folder);
  onTestFinished(() => workerd.kill());
  return {
    ...workerd,
    async evict() {
      await workerd.kill();
      return start(name, folder);
    },
  };
}

/** Starts a server for payments. `paid` resolves with its next request: the idempotency key, and what answers it. */
async function startBank() {
  const waiting: ((request: Payment) => void)[] = [];
  const received: Payment[] = [];
  const server = createServer((request, response) => {
    const payment = { key: String(request.headers['idempotency-key']), response };
    received.push(payment);
    waiting.shift()?.(payment);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, received, next: () => new Promise<Payment>((resolve) => waiting.push(resolve)) };
}

interface Payment {
  readonly key: string;
  readonly response: ServerResponse;
}

it('a Durable Object keeps journals as every store does', async () => {
  const { call } = await start();
  const results: Record<string, unknown> = {};
  const names = journalStoreChecks({ open: () => expect.fail(), journal }).map(({ name }) => name);
  for (const name of names) results[name] = await call(name, 'check', name, journal).catch(String);
  const skipped = Object.entries(results).filter(([, result]) => result !== null);
  expect(skipped.map(([, reason]) => reason)).toEqual(['the store has no method "mail"']);
});

it('an order whose object was evicted continues at the alarm, when its delay of an hour ends', async () => {
  const first = await start();
  await first.call('a', 'start');
  const { alarmMs, dueAtMs, ...before } = (await first.call('a', 'state')) as Record<string, unknown>;
  expect(before).toMatchObject({ status: 'waiting', value: 'open' });
  expect(alarmMs).toBe(dueAtMs);
  const { call } = await first.evict();
  await call('a', 'alarmAfter', HOUR);
  await expect.poll(() => call('a', 'state')).toMatchObject({ status: 'done', value: 'expired', alarmMs: null });
});

it('a call in progress when the object is evicted runs again at the alarm, with the same idempotency key', async () => {
  const bank = await startBank();
  const first = await start();
  await first.call('a', 'start');
  const lost = bank.next();
  expect(await first.call('a', 'send', { type: 'PAY', url: bank.url })).toBe('paying');
  await lost;
  const second = await first.evict();
  expect(await second.call('a', 'state')).toMatchObject({ status: 'interrupted', alarmMs: expect.any(Number) });
  const repeated = bank.next();
  await second.call('a', 'alarmAfter', 0);
  (await repeated).response.end('receipt 1');
  await expect
    .poll(() => second.call('a', 'state'))
    .toMatchObject({ status: 'done', context: { paid: 'receipt 1' }, alarmMs: null });
  expect(bank.received.map(({ key }) => key)).toEqual(Array(2).fill((await lost).key));
});

it('an alarm during a call does not repeat it, and another one follows', async () => {
  const bank = await startBank();
  const { call } = await start();
  await call('a', 'start');
  const payment = bank.next();
  await call('a', 'send', { type: 'PAY', url: bank.url });
  const { response } = await payment;
  const { alarmMs: first } = (await call('a', 'state')) as { readonly alarmMs: number };
  await call('a', 'alarmAfter', 0);
  await expect
    .poll(async () => ((await call('a', 'state')) as { readonly alarmMs: number }).alarmMs)
    .toBeGreaterThan(first);
  response.end('receipt 1');
  await expect.poll(() => call('a', 'state')).toMatchObject({ status: 'done', alarmMs: null });
  expect(bank.received).toHaveLength(1);
});

it('an order with over 1,000 entries continues after an eviction, and its replay is the same', async () => {
  const first = await start();
  await first.call('a', 'start');
  await first.call('a', 'sendMany', 500);
  const { call } = await first.evict();
  expect(await call('a', 'send', { type: 'NOTE' })).toBe('open');
  expect(await call('a', 'state')).toMatchObject({ context: { notes: 501 } });
  const { divergence, entries } = (await call('a', 'replay')) as { readonly divergence: unknown; entries: number };
  expect(divergence).toBeNull();
  expect(entries).toBeGreaterThan(1_000);
});

it("the documentation's Worker keeps each order in an object of its own", async () => {
  const { url } = await start('order.ts');
  const ask = async (method: string, path: string): Promise<unknown> =>
    (await fetch(new URL(path, url), { method })).json();
  expect(await ask('PUT', 'o-17')).toBe('open');
  expect(await ask('PUT', 'o-18')).toBe('open');
  expect(await ask('POST', 'o-17')).toBe('paid');
  expect([await ask('GET', 'o-17'), await ask('GET', 'o-18')]).toEqual(['paid', 'open']);
});
