import { expect, it } from 'vitest';
import { inPieces } from '../../../src/server/body-stream.ts';
import { TestClock } from '../../support/simulated-clock.ts';

const sent = (value: unknown, clock = new TestClock()) =>
  inPieces(Response.json(value, { status: 201 }), { clock, keepAliveMs: 100, writeTimeoutMs: 1_000 });

it.each([1, 65_534, 65_535, 200_000])('JSON of any size arrives unchanged: %i characters', async (length) => {
  const clock = new TestClock();
  const response = await sent('ä'.repeat(length), clock);
  expect([response.status, await response.json()]).toEqual([201, 'ä'.repeat(length)]);
  expect(clock.openTimers).toBe(0);
});

it('large JSON ends when the client stops reading for too long', async () => {
  const clock = new TestClock();
  const reader = (await sent('x'.repeat(200_000), clock)).body?.getReader();
  expect((await reader?.read())?.value).toHaveLength(65_536);
  await new Promise((resolve) => setImmediate(resolve));
  clock.increment(1_000);
  await expect(reader?.read()).rejects.toThrow('the client stopped reading');
});
