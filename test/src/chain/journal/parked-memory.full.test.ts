import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { setup } from 'xstate';
import { createDurableMachine } from '../../../../src/entries/durable.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { fileJournals } from '../../../../src/entries/node.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { plannedModel, settle } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';
import { sampleSize } from '../../../support/soak.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const PARKED = sampleSize('parked actors and runs', 400, 1_000);
const MOST_BYTES_EACH = 1_024;

async function heapBytes(): Promise<number> {
  await settle();
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
const sockets = (): number => process.getActiveResourcesInfo().filter((name) => /socket|tcp/iu.test(name)).length;

/** Parks a first batch to warm up, then checks the memory, timers and sockets that another one adds. */
async function parkMany(park: (id: string) => Promise<boolean>, clock: TestClock): Promise<void> {
  // Compiled code and caches grow at first.
  for (let at = 0; at < PARKED; at += 1) expect(await park(`warm-${at}`)).toBe(true);
  const [openTimers, openSockets] = [timers(), sockets()];
  let leastBytes = Number.POSITIVE_INFINITY;
  // A leak grows in each batch; compiled code, in some.
  for (let batch = 0; batch < 4 && leastBytes > MOST_BYTES_EACH * PARKED; batch += 1) {
    const before = await heapBytes();
    for (let at = 0; at < PARKED; at += 1) expect(await park(`parked-${batch}-${at}`)).toBe(true);
    leastBytes = Math.min(leastBytes, (await heapBytes()) - before);
  }
  expect(leastBytes / PARKED).toBeLessThanOrEqual(MOST_BYTES_EACH);
  expect(clock.openTimers).toBe(0);
  expect(timers() - openTimers).toBeLessThan(PARKED / 10);
  expect(sockets() - openSockets).toBeLessThan(PARKED / 10);
}

it('parked actors take at most 1 kB each, and no timer or socket', async () => {
  const machine = setup({ delays: { day: 86_400_000 } }).createMachine({
    context: { text: 'It waits. '.repeat(500) },
    initial: 'waiting',
    states: { waiting: { on: { go: 'done' }, after: { day: 'done' } }, done: {} },
  });
  const clock = new TestClock();
  const host = createDurableMachine(machine, { journals: fileJournals(temporaryFolder()), clock });
  await parkMany(async (id) => (await host.open(id)).park(), clock);
});

it('parked runs take at most 1 kB each, and no timer or socket', async () => {
  const clock = new TestClock();
  const history = [{ role: 'user' as const, content: `Look into this. ${'It is a long story. '.repeat(80)}` }];
  const model = plannedModel({});
  let ids = 0;
  const chain = createPostChain({
    consent: 'ask',
    journals: fileJournals(temporaryFolder()),
    model,
    newId: () => `run-${ids++}`,
    clock,
  });
  await parkMany(async () => {
    // A scripted model remembers its calls.
    (model.calls as unknown[]).length = 0;
    const run = chain.run({ request: 'Is it so?', history });
    for (let turn = 0; turn < 50; turn += 1) {
      await settle();
      if (await run.park()) return true;
    }
    return false;
  }, clock);
}, 600_000);
