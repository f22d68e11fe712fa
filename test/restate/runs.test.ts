import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replay } from '../../src/chain/journal/replay.ts';
import {
  createModelControl,
  journalOf,
  type ModelControl,
  questionOf,
  type RestateServer,
  runClient,
  type ServiceProcess,
  startRestate,
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

/** A message that is not summarized without consent. */
const history = [{ role: 'user' as const, content: `Please look into this. ${'It is a long story. '.repeat(80)}` }];

const asks = async (run: ReturnType<typeof runClient>) => (await run.status())?.asks?.type ?? null;
const begun = (run: string): string[] =>
  meeting.calls(run).flatMap(({ what, task }) => (what === 'begun' ? [task] : []));

describe('a run on Restate', () => {
  it('answers, reports its status, and has a journal that replays identically', async () => {
    const run = runClient(restate, 'whole');
    expect(await run.status()).toBeNull();
    await run.workflowSubmit({ request: 'Is it so? #whole' });
    const answer = await run.workflowAttach();
    expect(answer).toMatchObject({ status: 'completed', answerText: 'It is so, for certain.' });

    const journal = await journalOf(run);
    expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_, index) => index));
    const replayed = replay(journal);
    expect(replayed.divergence).toBeNull();
    expect(replayed.answer).toEqual(answer);
    expect(await run.status()).toEqual({
      runId: 'whole',
      status: 'completed',
      phase: 'yield',
      cycle: 1,
      asks: null,
      approvals: [],
      entries: journal.length,
    });
    expect(await run.journal({ from: journal.length - 2 })).toEqual({
      entries: journal.slice(-2),
      next: journal.length,
      isEnd: true,
    });
  });

  it('is created once per key, however often it is started', async () => {
    const run = runClient(restate, 'twice');
    await run.workflowSubmit({ request: 'Is it so? #twice' });
    const again = await run.workflowSubmit({ request: 'And this? #twice' });
    expect(again.status).toBe('PreviouslyAccepted');
    await run.workflowAttach();
    expect(new Set(begun('twice')).size).toBe(begun('twice').length);
  });

  it.each([
    ['', 'invalid_request'],
    [7 as never, 'invalid_request'],
  ])('rejects the request %j immediately', async (request, code) => {
    const run = runClient(restate, `refused ${request}`);
    await run.workflowSubmit({ request });
    await expect(run.workflowAttach()).rejects.toThrow(code);
  });

  it('waits for consent, and counts it once when it is sent twice with one id', async () => {
    const run = runClient(restate, 'consent');
    await run.workflowSubmit({ request: 'Is it so? #consent', history });
    await waitUntil(async () => (await asks(run)) === 'consent-asked');
    const event = { type: 'consent.given', questionId: await questionOf(run), choice: 'remove' } as const;
    expect(await run.send({ event, id: 'click 1' })).toEqual({ number: 0, repeated: false });
    expect(await run.send({ event, id: 'click 1' })).toEqual({ number: 0, repeated: true });
    await run.workflowAttach();
    const journal = await journalOf(run);
    expect(journal.filter(({ type }) => type === 'delivery')).toHaveLength(1);
    expect(journal.find(({ type }) => type === 'consent-resolved')).toMatchObject({ removed: 1, by: 'user' });
  });

  it('keeps everything after the consent timeout, with a timer that needs no process', async () => {
    const run = runClient(restate, 'curt', 'curt');
    await run.workflowSubmit({ request: 'Is it so? #curt', history });
    await run.workflowAttach();
    const resolved = (await journalOf(run)).find(({ type }) => type === 'consent-resolved');
    expect(resolved).toMatchObject({ kept: 1, by: 'time-out' });
  });

  it('follows directions in manual mode, one by one', async () => {
    const run = runClient(restate, 'manual');
    await run.workflowSubmit({ request: 'Unsure: is it so? #manual', mode: 'manual' });
    await waitUntil(async () => (await asks(run)) === 'direction-asked');
    const nowhere = { event: { type: 'run.directed', phase: 'nowhere' } };
    await expect(run.send(nowhere as never)).rejects.toThrow('invalid_option');
    await run.send({ event: { type: 'run.directed', phase: 'observation', questionId: await questionOf(run) } });
    await waitUntil(async () => (await run.status())?.cycle === 2 && (await asks(run)) === 'direction-asked');
    await run.send({ event: { type: 'run.finished' } });
    const answer = await run.workflowAttach();
    expect(answer.answerText).not.toBe('');
    const journal = await journalOf(run);
    const phases = journal.flatMap((entry) => (entry.type === 'phase-start' && entry.cycle === 2 ? [entry.phase] : []));
    expect(phases[0]).toBe('observation');
    expect(replay(journal).divergence).toBeNull();
  });

  it('keeps events of many senders in one order without losing any', async () => {
    const run = runClient(restate, 'crowd');
    const words = Array.from(
      { length: 8 },
      (_, at) =>
        ({ type: 'consent.given', questionId: 's5.consent', choice: 'keep', items: { [`m${at}`]: 'keep' } }) as const,
    );
    const sent = await Promise.all(words.map((event) => run.send({ event })));
    expect(sent.map(({ number }) => number).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await run.workflowSubmit({ request: 'Unsure: is it so? #crowd', mode: 'manual' });
    await waitUntil(async () => (await asks(run)) === 'direction-asked');
    await run.send({ event: { type: 'run.finished' } });
    await run.workflowAttach();
    const heard = (await journalOf(run)).flatMap((entry) =>
      entry.type === 'delivery' && entry.event.type === 'consent.given' ? [entry.event.items] : [],
    );
    const inOrder = sent
      .map(({ number }, at) => [number, words[at]?.items] as const)
      .sort(([one], [other]) => one - other);
    expect(heard).toEqual(inOrder.map(([, items]) => items));
  });

  it('answers degraded immediately when canceled, and aborts the in-flight call', async () => {
    meeting.hold('intention');
    const run = runClient(restate, 'cancel');
    await run.workflowSubmit({ request: 'Is it so? #cancel' });
    await waitUntil(() => begun('cancel').includes('intention'));
    await run.send({ event: { type: 'run.cancelled', reason: 'enough' } });
    expect(await run.workflowAttach()).toMatchObject({ status: 'cancelled' });
    await waitUntil(() => meeting.calls('cancel').some(({ what, task }) => what === 'aborted' && task === 'intention'));
    meeting.release('intention');
  });

  it('is interrupted and answers when its Restate invocation is canceled', async () => {
    meeting.hold('intention');
    const run = runClient(restate, 'interrupted');
    const { invocationId } = await run.workflowSubmit({ request: 'Is it so? #interrupted' });
    await waitUntil(() => begun('interrupted').includes('intention'));
    await fetch(`${restate.admin}/invocations/${invocationId}/cancel`, { method: 'PATCH' });
    expect(await run.workflowAttach()).toMatchObject({ status: 'degraded' });
    meeting.release('intention');
    const deliveries = (await journalOf(run)).filter(({ type }) => type === 'delivery');
    expect(deliveries).toMatchObject([{ event: { type: 'run.interrupted' } }]);
  });

  it.each([{ type: 'nonsense' }, {}, null, 'run.cancelled'])('rejects %j as an event', async (event) => {
    await expect(runClient(restate, 'whole').send({ event: event as never })).rejects.toThrow('invalid_option');
  });

  it('keeps reply timeouts within its step, and retries as usual', async () => {
    meeting.hold('experience');
    const run = runClient(restate, 'hasty', 'hasty');
    await run.workflowSubmit({ request: 'Is it so? #hasty' });
    const answer = await run.workflowAttach();
    meeting.release('experience');
    expect(answer.answerText).not.toBe('');
    const ends = (await journalOf(run)).flatMap((entry) =>
      entry.type === 'attempt-end' && entry.task === 'experience' ? [entry.failure] : [],
    );
    expect(ends.length).toBeGreaterThan(1);
    for (const failure of ends)
      expect(failure).toMatchObject({ code: 'no_reply', message: 'No reply began within 50 ms.' });
  });

  it('aborts a call at the phase deadline', async () => {
    meeting.hold('intention');
    const run = runClient(restate, 'brief', 'brief');
    await run.workflowSubmit({ request: 'Is it so? #brief' });
    const answer = await run.workflowAttach();
    expect(answer.status).toBe('degraded');
    await waitUntil(() => meeting.calls('brief').some(({ what, task }) => what === 'aborted' && task === 'intention'));
    meeting.release('intention');
  });

  it('completes identically when it is suspended at every wait', async () => {
    const run = runClient(restate, 'restless', 'restless');
    await run.workflowSubmit({ request: 'Unsure: is it so? #restless', history, mode: 'manual' });
    await waitUntil(async () => (await asks(run)) === 'consent-asked');
    await run.send({ event: { type: 'consent.given', questionId: await questionOf(run), choice: 'keep' } });
    await waitUntil(async () => (await asks(run)) === 'direction-asked');
    await run.send({ event: { type: 'run.finished' } });
    await run.workflowAttach();
    const tasks = meeting.calls('restless').filter(({ what }) => what === 'ended');
    const journal = await journalOf(run);
    expect(tasks).toHaveLength(journal.filter(({ type }) => type === 'attempt-start').length);
    expect(replay(journal).divergence).toBeNull();
  });
});
