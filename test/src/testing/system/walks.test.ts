import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import type { WalksOptions } from '../../../../src/testing/system/system-options.ts';
import { systemReportText } from '../../../../src/testing/system/system-report.ts';
import { testSystem } from '../../../../src/testing/system/test-system.ts';
import { checkout, checkoutOptions, createShop, type Fault } from '../../../support/checkout.ts';
import { rejectionOf } from '../../../support/errors.ts';

const exploration = explore(checkout, checkoutOptions);
const payloads = { ADD: z.object({ count: z.int().min(1).max(20) }) };

const walked = (fault: Fault | null, walks: WalksOptions, shop = createShop(fault)) =>
  testSystem(exploration, { system: shop.system, clock: shop.clock, walks: walks as never });

describe('random walks of a system and its model', () => {
  it('send payloads of the schema, and are counted', async () => {
    const shop = createShop();
    const counts = new Set<unknown>();
    const { send } = shop.system;
    const system: typeof shop.system = {
      ...shop.system,
      send(event, call) {
        if (event.type === 'ADD') counts.add(event.count);
        return send(event, call);
      },
    };
    const report = await walked(null, { payloads, count: 30, seed: 7 }, { ...shop, system });
    expect(report).toMatchObject({ walks: 30, seed: 7, untaken: [] });
    expect(report.steps).toBeGreaterThan(100);
    expect(counts.size).toBeGreaterThan(5);
    for (const count of counts) expect(payloads.ADD.safeParse({ count }).success).toBe(true);
    expect(systemReportText(report)).toMatch(
      /^The system does what checkout does: \d+ paths and 30 walks of seed 7, /u,
    );
  });

  it.each([
    ['keeps the items', 'expected items to be 0, received 1, after start → ADD {"count":1} → EMPTY'],
    ['forgets large counts', 'expected items to be 4, received 0, after start → ADD {"count":4}'],
    [
      'charges twice',
      'expected at to be "cart", received "paid", after start → ADD {"count":1} → PAY → charge: declined → PAY → charge: declined',
    ],
  ] as const)('find a shop that %s, with the shortest path and the smallest payload', async (fault, what) => {
    const error = await rejectionOf(walked(fault, { payloads, seed: 3 }));
    expect(error?.code).toBe('path_failed');
    expect(error?.message).toMatch(/^The system differs from checkout: /u);
    expect(error?.message.split(': ').slice(1).join(': ')).toMatch(
      /\(walk \d+ of seed 3; repeat it with walks: \{ seed: 3 \}\)$/u,
    );
    expect(error?.message).toContain(what);
  });

  it('are the same for the same seed', async () => {
    const [first, second, other] = [createShop(), createShop(), createShop()];
    await walked(null, { payloads, count: 5, seed: 1 }, first);
    await walked(null, { payloads, count: 5, seed: 1 }, second);
    await walked(null, { payloads, count: 5, seed: 2 }, other);
    expect(second.log).toEqual(first.log);
    expect(other.log).not.toEqual(first.log);
  });

  it('take only steps that the adapter can do', async () => {
    const shop = createShop();
    const { outcomes: _, ...system } = shop.system;
    await walked(null, { payloads, count: 20, seed: 1 }, { ...shop, system });
    expect(shop.log.some((line) => line.startsWith('charge'))).toBe(false);
    expect(shop.log).toContain('PAY');
  });

  it('end when the test is aborted', async () => {
    const shop = createShop();
    const controller = new AbortController();
    let sent = 0;
    const send: typeof shop.system.send = (event, call) => {
      sent += 1;
      if (sent === 60) controller.abort(new Error('enough'));
      return shop.system.send(event, call);
    };
    const { clock, system } = shop;
    const { signal } = controller;
    const error = await rejectionOf(
      testSystem(exploration, { system: { ...system, send }, clock, signal, walks: { count: 50, seed: 5 } }),
    );
    expect(error?.code).toBe('cancelled');
    expect(error?.message).toMatch(
      /^The test of checkout was aborted: "(send|read)" was aborted \(enough\), after start → .*seed 5/u,
    );
    expect(sent).toBe(60);
  });

  it('rethrow an error of the functions that are not the system', async () => {
    const { system, clock } = createShop();
    const broken = (): never => {
      throw new RangeError('wrong test');
    };
    await expect(testSystem(exploration, { system: { ...system, expected: broken }, clock })).rejects.toThrow(
      RangeError,
    );
    await expect(walked(null, { payloads: { ADD: fc.constant({ count: 1 }).map(broken) }, seed: 1 })).rejects.toThrow(
      'wrong test',
    );
  });

  it.each([
    [{ count: 0 }, '"walks.count" must be an integer > 0; received 0'],
    [{ stepz: 1 }, 'options of walks: expected only count, maxSteps, payloads, seed; received stepz.'],
    [
      { payloads: { PAYY: payloads.ADD } },
      '"walks.payloads.PAYY": the exploration sends no such event; add one to the "events" of explore, which sends ADD, EMPTY, PAY, CANCEL',
    ],
    [
      { payloads: { ADD: { count: 1 } } },
      '"walks.payloads.ADD" must be a Standard Schema (zod, valibot or arktype) or a fast-check arbitrary; received an object with count',
    ],
  ])('refuse unusable options (%o)', async (walks, message) => {
    expect(await rejectionOf(walked(null, walks as never))).toMatchObject({ code: 'invalid_option', message });
  });
});
