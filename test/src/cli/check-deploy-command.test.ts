import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { checkDeployCommand } from '../../../src/cli/check-deploy-command.ts';
import { createDurableMachine, fileJournals, memoryJournals } from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';

it('check-deploy names the waiting actors of machines that no module exports, and exits with 1', async () => {
  const journals = memoryJournals();
  const machineOf = (id: string) => createDurableMachine(createMachine({ id }), { journals });
  const [orders, refunds] = [machineOf('orders'), machineOf('refunds')];
  await (await orders.open('o-1')).park();
  const module = join(temporaryFolder(), 'orders.mjs');
  writeFileSync(module, 'export const { orders, again } = globalThis.exportedMachines;');
  Object.assign(globalThis, { exportedMachines: { orders, again: machineOf('orders') } });
  const check = async () => (await checkDeployCommand([module], { json: true })).text;
  expect(JSON.parse(await check())).not.toContainEqual(expect.objectContaining({ problem: expect.any(String) }));
  await (await refunds.open('r-1')).park();
  await (await refunds.open('r-2')).stop();
  const { text, code } = await checkDeployCommand([module], {});
  expect(text).toContain(`unchecked  r-1  waiting  not checked: machine "refunds" is not exported by ${module}\n`);
  expect(text).not.toContain('r-2');
  expect(text.match(/r-1/gu)).toHaveLength(1);
  expect(code).toBe(1);
  await expect(checkDeployCommand([module], { journals: '.' })).rejects.toThrow('--journals selects recorded runs');
});

it('check-deploy names the versions of the actors that would be migrated, and why one cannot be', async () => {
  const journals = memoryJournals();
  const machineOf = (version: string) => createMachine({ id: 'm', version, context: { n: version } });
  for (const id of ['good', 'bad']) await (await createDurableMachine(machineOf('1'), { journals }).open(id)).park();
  const check = async (context: () => object) => {
    const migrate = { '1': { context } };
    const migrating = createDurableMachine(machineOf('2'), { journals, versions: { '1': machineOf('1') }, migrate });
    Object.assign(globalThis, { migrating });
    const module = join(temporaryFolder(), 'm.mjs');
    writeFileSync(module, 'export default globalThis.migrating;');
    return checkDeployCommand([module], {});
  };
  const moved = await check(() => ({}));
  expect(moved).toMatchObject({ code: 0, text: expect.stringContaining('migrates   good  waiting  version 1 → 2\n') });
  const { text, code } = await check(() => null as never);
  expect(text).toContain(
    'fails      bad  waiting  version 1 → 2  actor bad cannot be migrated from version "1": context',
  );
  expect(text).toContain('2 of 2 cannot be migrated: correct "migrate", or they continue on the earlier version.\n');
  expect(code).toBe(1);
});

it('check-deploy without a module names the waiting actors beside the runs, and exits with 1', async () => {
  const place = temporaryFolder();
  const orders = createDurableMachine(createMachine({ id: 'orders' }), { journals: fileJournals(place) });
  await (await orders.open('o-1')).park();
  const { text, code } = await checkDeployCommand([], { journals: place });
  expect(text).toContain(
    'o-1  waiting  not checked: machine "orders" is not exported by a module given to check-deploy',
  );
  expect(code).toBe(1);
});
