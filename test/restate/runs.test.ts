import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replay } from '../../src/replay/replay.ts';
import { journalOf, runAt } from './rig/client.ts';
import { type RestateServer, startRestate } from './rig/restate-server.ts';
import { createMeeting, type Meeting, type ServiceProcess, startService } from './rig/service-process.ts';

let restate: RestateServer;
let meeting: Meeting;
let service: ServiceProcess;

beforeAll(async () => {
  [restate, meeting] = await Promise.all([startRestate(), createMeeting()]);
  service = await startService('rig', meeting);
  await restate.register(service.uri);
});

afterAll(async () => {
  await service?.kill();
  await restate?.stop();
  await meeting?.end();
});

describe('a run on Restate', () => {
  it('answers, and its journal replays on the charts entry by entry', async () => {
    const run = runAt(restate, 'whole');
    await run.workflowSubmit({ request: 'Is it so? #whole' });
    const answer = await run.workflowAttach();
    expect(answer).toMatchObject({ status: 'completed', answerText: 'It is so, for certain.' });
    const journal = await journalOf(run);
    console.log(journal.length, service.output(), await run.status());
    expect(replay(journal).divergence).toBeNull();
  });
});
