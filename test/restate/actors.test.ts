import { connect } from '@restatedev/restate-sdk-clients';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { setup } from 'xstate';
import type { createRestateActor } from '../../src/entries/restate.ts';
import {
  createModelControl,
  type RestateServer,
  type ServiceProcess,
  startRestate,
  startService,
  waitUntil,
} from '../support/restate-cluster.ts';

let restate: RestateServer;
let service: ServiceProcess;

beforeAll(async () => {
  restate = await startRestate();
  service = await startService('example');
  await restate.register(service.uri);
});

afterAll(async () => {
  await service?.kill();
  await restate?.stop();
});

/** The machine of examples/restate/main.ts, for its types. */
const machine = setup({
  types: { input: {} as { amount: number }, output: {} as { amount: number } },
}).createMachine({});
type Order = ReturnType<typeof createRestateActor<typeof machine>>;

const orderOf = (key: string) =>
  connect({ url: restate.ingress }).workflowClient<Order>({ name: 'order' } as Order, key);

describe('a machine on Restate', () => {
  it('waits for approval and a delay in no process, and ships once', async () => {
    const order = orderOf('o-1');
    await order.workflowSubmit({ amount: 40 });
    const asked = async () => (await order.status())?.pending.approvals[0];
    await waitUntil(async () => (await asked()) !== undefined);
    await service.kill();
    await service.restart();

    const { id = '', digest = '', question } = (await asked()) ?? {};
    expect(question).toEqual({ amount: 40 });
    const answer = { type: 'approval.given', id, decision: 'approve' } as const;
    expect(await order.send({ event: { ...answer, digest: 'stale' } })).toEqual({ number: 0, repeated: false });
    for (const repeated of [false, true])
      expect(await order.send({ event: { ...answer, digest }, id: 'click' })).toEqual({ number: 1, repeated });
    await waitUntil(async () => (await order.status())?.value === 'waiting');
    expect((await order.status())?.pending.timers).toMatchObject([{ event: 'xstate.after.2000.order.waiting' }]);
    await service.kill();
    const before = service.output();
    await service.restart();

    expect(await order.workflowAttach()).toEqual({ amount: 40 });
    expect(`${before}${service.output()}`.match(/^The order ships\.$/gmu)).toHaveLength(1);
    const status = await order.status();
    expect(status).toMatchObject({ status: 'done', value: 'shipped', output: { amount: 40 } });
    const { entries, isEnd } = await order.journal({});
    expect([entries.length, isEnd]).toEqual([status?.entries, true]);
    expect(entries.filter(({ type }) => type === 'delivery')).toHaveLength(1);
  });

  it('ends with a terminal error when its invocation is canceled', async () => {
    const order = orderOf('o-2');
    const { invocationId } = await order.workflowSubmit({ amount: 40 });
    await waitUntil(async () => (await order.status()) !== null);
    await fetch(`${restate.admin}/invocations/${invocationId}/cancel`, { method: 'PATCH' });
    await expect(order.workflowAttach()).rejects.toThrow('cancelled');
    expect(await order.status()).toMatchObject({ status: 'stopped' });
  });

  it('keeps what it has recorded, and knows that a call was interrupted, when its process dies', async () => {
    const control = await createModelControl();
    const rig = await startService('rig', control);
    onTestFinished(async () => {
      await rig.kill();
      await control.remove();
    });
    await restate.register(rig.uri);
    const pid = rig.pid();
    control.hold('probe');
    const probe = connect({ url: restate.ingress }).workflowClient<Order>({ name: 'probe' } as never, 'p-1');
    await probe.workflowSubmit({ amount: 0 });
    await waitUntil(() => control.calls('probe').length === 1);
    await rig.kill();
    control.release('probe');
    await rig.restart();
    expect(await probe.workflowAttach()).toEqual({ pid, wasInterrupted: true });
    expect(control.calls('probe').map((call) => call.pid)).toEqual([pid, rig.pid()]);
  });

  it.each([{ type: 'xstate.stop' }, { amount: 1 }, { type: 'big', text: 'x'.repeat(100_000) }])(
    'rejects an event that is not one',
    async (event) => {
      await expect(orderOf('o-1').send({ event: event as never })).rejects.toThrow('invalid_option');
    },
  );
});
