import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { explore, systemReportText, testSystem } from 'postchain/testing';
import { assign, setup } from 'xstate';
import * as z from 'zod';

// The model: what the service should do.
const model = setup({
  types: { context: {} as { items: number }, events: {} as { type: 'add'; count: number } | { type: 'order' } },
}).createMachine({
  id: 'shop',
  context: { items: 0 },
  initial: 'open',
  states: {
    open: {
      on: {
        add: {
          guard: ({ context, event }) => context.items + event.count <= 3,
          actions: assign({ items: ({ context, event }) => context.items + event.count }),
        },
        order: { guard: ({ context }) => context.items > 0, target: 'ordered' },
      },
    },
    ordered: {},
  },
});

// The real thing: here a service in this file, which does not use the model.
let order = { state: 'open', items: 0 };
const service = createServer(({ url = '' }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const items = order.items + Number(searchParams.get('count'));
  if (pathname === '/reset') order = { state: 'open', items: 0 };
  if (pathname === '/add' && order.state === 'open' && items <= 3) order.items = items;
  if (pathname === '/order' && order.items > 0) order.state = 'ordered';
  response.end(JSON.stringify(order));
}).listen(0, '127.0.0.1');
await once(service, 'listening');
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

const exploration = explore(model, { events: [{ type: 'add', count: 2 }, { type: 'order' }] });
const report = await testSystem(exploration, {
  system: {
    reset: () => fetch(`${url}/reset`),
    send: (event) => fetch(`${url}/${event.type}?count=${event.type === 'add' ? event.count : ''}`),
    read: async () => (await fetch(url)).json(),
    expected: ({ value, context }) => ({ state: value, items: context.items }),
  },
  walks: { count: 20, seed: 1, payloads: { add: z.object({ count: z.int().min(1).max(4) }) } },
});
console.log(systemReportText(report)); // The system does what shop does: 3 paths and 20 walks of seed 1, 478 steps, 2 of 2 transitions.
service.close();
