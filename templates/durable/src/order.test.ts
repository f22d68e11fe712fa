import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorker } from 'postchain/durable';
import * as kit from 'postchain/testing';
import { expect, it, onTestFinished } from 'vitest';
import { order } from './order.ts';
import { createOrders } from './orders.ts';

const outcomes = { pay: [kit.done('receipt'), kit.fails()] };
const exploration = kit.explore(order, { inputs: { small: { orderId: 'o-1', euros: 40 } }, outcomes });

it('ends, and pays nothing before its approval, whatever people and the payment service do', () => {
  const ends = kit.alwaysEventually('it ends', ({ status }) => status === 'done');
  const isApproved = kit.precedes({ event: 'approval: approved' }, { state: 'paying' });
  const findings = kit.findingsOf(exploration, [...kit.soundness, ends, isApproved]);
  const failed = findings.filter(({ witness }) => witness !== null);
  expect(failed.map(kit.describeFinding)).toEqual([]);
});

const paths = kit.cover(exploration).map((path) => [path.name, path] as const);
it.each(paths)('%s', (_, path) => kit.runPath(exploration, path));

async function place(orders: ReturnType<typeof createOrders>) {
  const actor = await orders.open('o-1', { input: { orderId: 'o-1', euros: 40 } });
  await actor.park();
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orders-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('expires after three days without an answer', async () => {
  const clock = new kit.SimulatedClock();
  const orders = createOrders(newFolder(), 'data:,receipt', { clock });
  await place(orders);
  clock.increment(3 * 24 * 60 * 60 * 1_000);
  const worker = createWorker({ hosts: [orders], clock });
  await worker.poll();
  await worker.stop();
  expect((await orders.replay('o-1')).snapshot.value).toBe('expired');
});

it('repeats a payment with the same key after its process was killed', async () => {
  let child: ChildProcess | null = null;
  const keys: unknown[] = [];
  const service = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
    if (keys.length === 1) child?.kill('SIGKILL');
    else response.end('receipt 1');
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

  const folder = newFolder();
  const orders = createOrders(folder, url);
  await place(orders);
  const env = { ...process.env, JOURNALS: folder, PAYMENTS_URL: url };
  child = spawn(process.execPath, ['dist/main.js', 'approve', 'o-1'], { env });
  await once(child, 'exit');

  const worker = createWorker({ hosts: [orders] });
  await worker.poll();
  await worker.stop();
  service.close();
  expect((await orders.replay('o-1')).snapshot).toMatchObject({ value: 'paid', context: { receipt: 'receipt 1' } });
  expect(keys).toEqual(['o-1', 'o-1']);
});
