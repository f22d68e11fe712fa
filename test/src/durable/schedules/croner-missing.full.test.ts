import { expect, it, vi } from 'vitest';
import { createMachine } from 'xstate';
import { createDurableMachine, createSchedules, memoryJournals } from '../../../../src/entries/durable.ts';

vi.mock('croner', () => {
  throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
});

it('needs croner only for a schedule with a cron expression, and names it', async () => {
  const journals = memoryJournals();
  const reports = createDurableMachine(createMachine({ id: 'report' }), { journals });
  const schedules = createSchedules({ journals, hosts: [reports] });
  await expect(schedules.set('nightly', { machine: 'report', cron: '0 3 * * *' })).rejects.toMatchObject({
    code: 'package_missing',
    message: 'A schedule with "cron" requires the package "croner", which is not installed; run: npm install croner',
  });
  await schedules.set('poll', { machine: 'report', everyMs: 60_000 });
  expect((await schedules.list()).map(({ id }) => id)).toEqual(['poll']);
});
