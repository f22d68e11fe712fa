import { expect, it } from 'vitest';
import { type Lease, seemsHeld, thisHolder } from '../../../../src/durable/journals/lease.ts';

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
