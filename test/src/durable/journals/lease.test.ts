import { existsSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Lease, leaseState, seemsHeld, thisHolder } from '../../../../src/durable/journals/lease.ts';

const inAnotherContainer = (beatMs: number): Lease => ({
  holder: { ...thisHolder(), id: 'elsewhere', space: 'another pid:[1]' },
  token: 1,
  beatMs,
});

it.each([
  [-86_400, false],
  [-60, true],
  [60, true],
  [86_400, false],
])('a lease on another machine, with a heartbeat %i seconds from now, seems held: %s', (seconds, isHeld) => {
  expect(seemsHeld(inAnotherContainer(Date.now() + seconds * 1_000))).toBe(isHeld);
});

const TIME = '/proc/self/ns/time';
it.skipIf(!existsSync(TIME))('a running process of another time namespace is not taken for dead', () => {
  const space = thisHolder().space.replace(readlinkSync(TIME), 'time:[1]');
  // There, the start of a process is another number.
  const holder = { ...thisHolder(), id: 'elsewhere', pid: process.ppid, startedAt: '1', space };
  expect(leaseState({ holder, token: 1, beatMs: 0 })).toBe('unsure');
});
