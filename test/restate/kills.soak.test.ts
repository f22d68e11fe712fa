import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replay } from '../../src/chain/journal/replay.ts';
import {
  createModelControl,
  journalOf,
  type ModelControl,
  questionOf,
  type RestateServer,
  type RoundRobin,
  runClient,
  type ServiceProcess,
  startRestate,
  startRoundRobin,
  startService,
  waitUntil,
} from '../support/restate-cluster.ts';

let restate: RestateServer;
let meeting: ModelControl;
let service: ServiceProcess;

beforeAll(async () => {
  [restate, meeting] = await Promise.all([startRestate(), createModelControl()]);
  service = await startService('rig', meeting);
  await restate.register(service.uri);
});

afterAll(async () => {
  await service?.kill();
  await restate?.stop();
  await meeting?.remove();
});

const TASKS = ['action', 'experience', 'intention', 'observation', 'understanding', 'yield', 'synthesis'] as const;
const history = [{ role: 'user' as const, content: `Please look into this. ${'It is a long story. '.repeat(80)}` }];

/** How often each task was started. */
const begun = (run: string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { what, task } of meeting.calls(run)) if (what === 'begun') counts[task] = (counts[task] ?? 0) + 1;
  return counts;
};
const once = Object.fromEntries(TASKS.map((task) => [task, 1]));

/** Checks that the journal is complete and can be replayed on the charts. */
async function expectWhole(key: string): Promise<void> {
  const run = runClient(restate, key);
  expect(await run.workflowAttach()).toMatchObject({ status: 'completed', answerText: 'It is so, for certain.' });
  const journal = await journalOf(run);
  expect(journal.at(-1)?.type).toBe('end');
  expect(replay(journal).divergence).toBeNull();
}

describe('a run whose processes are killed', () => {
  it.each(TASKS)('completes when the service dies during %s, and repeats only that call', async (task) => {
    const key = `service-${task}`;
    meeting.hold(task);
    await runClient(restate, key).workflowSubmit({ request: `Is it so? #${key}` });
    await waitUntil(() => begun(key)[task] === 1);
    await service.kill();
    meeting.release(task);
    await service.restart();
    await expectWhole(key);
    expect(begun(key)).toEqual({ ...once, [task]: 2 });
  });

  it.each(['action', 'yield'] as const)('completes when the server dies during %s', async (task) => {
    const key = `server-${task}`;
    meeting.hold(task);
    await runClient(restate, key).workflowSubmit({ request: `Is it so? #${key}` });
    await waitUntil(() => begun(key)[task] === 1);
    await restate.kill();
    // Nobody awaits this call anymore, so it is aborted.
    await waitUntil(() => meeting.calls(key).some(({ what }) => what === 'aborted'));
    meeting.release(task);
    await restate.restart();
    await expectWhole(key);
    expect(begun(key)).toEqual({ ...once, [task]: 2 });
  });

  it('continues to wait for consent after both the service and the server were down', async () => {
    const run = runClient(restate, 'both');
    await run.workflowSubmit({ request: 'Is it so? #both', history });
    await waitUntil(async () => (await run.status())?.asks?.type === 'consent-asked');
    await Promise.all([service.kill(), restate.kill()]);
    await Promise.all([service.restart(), restate.restart()]);
    await run.send({ event: { type: 'consent.given', questionId: await questionOf(run), choice: 'remove' } });
    await expectWhole('both');
    expect(begun('both')).toEqual({ ...once, summary: 1 });
  });

  it('completes however often and wherever its service is killed', async () => {
    const run = runClient(restate, 'often');
    await run.workflowSubmit({ request: 'Unsure: is it so? #often' });
    const kills = 8;
    for (let kill = 1; kill <= kills; kill += 1) {
      // Kills the process a few entries later each time, immediately after one was written.
      await waitUntil(async () => ((await run.status())?.entries ?? 0) > kill * 17);
      await service.kill();
      await service.restart();
    }
    await run.workflowAttach();
    const journal = await journalOf(run);
    expect(replay(journal).divergence).toBeNull();
    const attempts = journal.filter(({ type }) => type === 'attempt-start').length;
    const calls = Object.values(begun('often')).reduce((sum, one) => sum + one, 0);
    expect(attempts).toBeGreaterThan(kills);
    expect(calls).toBeGreaterThanOrEqual(attempts);
    expect(calls).toBeLessThanOrEqual(attempts + kills);
  });

  it('counts the downtime', async () => {
    const run = runClient(restate, 'gone', 'curt');
    await run.workflowSubmit({ request: 'Is it so? #gone', history });
    await waitUntil(async () => (await run.status())?.asks?.type === 'consent-asked');
    await service.kill();
    await new Promise((resolve) => setTimeout(resolve, 400));
    await service.restart();
    await run.workflowAttach();
    const resolved = (await journalOf(run)).find(({ type }) => type === 'consent-resolved');
    expect(resolved).toMatchObject({ by: 'time-out' });
  });
});

describe('two processes of a service', () => {
  let other: ServiceProcess;
  let balancer: RoundRobin;

  beforeAll(async () => {
    other = await startService('rig', meeting);
    balancer = await startRoundRobin([service.uri, other.uri]);
    await restate.register(balancer.uri);
  });

  afterAll(async () => {
    await other?.kill();
    await balancer?.stop();
  });

  it('share the runs, and those of a killed process complete on the other', async () => {
    const keys = Array.from({ length: 12 }, (_, at) => `shared-${at}`);
    meeting.hold('observation');
    await Promise.all(keys.map((key) => runClient(restate, key).workflowSubmit({ request: `Is it so? #${key}` })));
    await waitUntil(() => keys.every((key) => begun(key)['observation'] === 1));
    const victims = keys.filter((key) => meeting.calls(key).at(-1)?.pid === other.pid());
    expect(victims.length).toBeGreaterThan(0);
    expect(victims.length).toBeLessThan(keys.length);
    const victim = other.pid();
    await other.kill();
    meeting.release('observation');
    for (const key of keys) await expectWhole(key);
    for (const key of keys) expect(begun(key)).toEqual({ ...once, observation: victims.includes(key) ? 2 : 1 });
    for (const key of victims)
      expect(meeting.calls(key).filter(({ what, pid }) => what === 'ended' && pid !== victim)).not.toEqual([]);
  });
});
