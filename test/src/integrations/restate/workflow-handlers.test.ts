import { TerminalError, type WorkflowSharedContext } from '@restatedev/restate-sdk';
import { describe, expect, it } from 'vitest';
import { clientEventSchema } from '../../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { foldStatus, initialStatus, type WorkflowStatus } from '../../../../src/integrations/restate/chain-status.ts';
import { createRestateChain } from '../../../../src/integrations/restate/create-restate-chain.ts';
import { sendEvent } from '../../../../src/integrations/restate/workflow-handlers.ts';
import { sendAnswer, settle, startScripted } from '../../../support/run-chain.ts';

const statusOf = (journal: readonly JournalEntry[]): WorkflowStatus =>
  journal.reduce(foldStatus, initialStatus('run-1'));
const history = [{ role: 'user' as const, content: 'It is a long story. '.repeat(80) }];

describe('foldStatus', () => {
  it('reports the phase, the cycle and the pending question', async () => {
    const { run } = startScripted({ yield: { hang: true } }, {}, { history });
    expect(statusOf([])).toMatchObject({ status: 'running', phase: null, entries: 0 });
    await settle();
    const asking = statusOf(run.entries);
    expect(asking).toMatchObject({ status: 'running', phase: 'understanding', cycle: 1, entries: run.entries.length });
    expect(asking.asks).toMatchObject({ type: 'consent-asked', request: { items: [{}] } });
    sendAnswer(run, { type: 'consent.given', choice: 'keep' });
    await settle();
    expect(statusOf(run.entries)).toMatchObject({ phase: 'yield', asks: null });
    run.cancel();
    await run.answer;
    expect(statusOf(run.entries)).toMatchObject({ status: 'cancelled', asks: null });
  });

  it('keeps the question until a valid direction is given', async () => {
    const unsure = { answer: 'Perhaps.', confidence: 0.1, informationSufficiency: 1, taskComplete: false };
    const rest = { needsTools: false, proposedPhase: null, rationale: '', usedMessageIds: [] };
    const { run } = startScripted({ yield: { ...unsure, ...rest } }, {}, { mode: 'manual' });
    await settle();
    sendAnswer(run, { type: 'run.directed', phase: 'nowhere' });
    expect(statusOf(run.entries).asks?.type).toBe('direction-asked');
    sendAnswer(run, { type: 'run.directed', phase: 'experience' });
    expect(statusOf(run.entries)).toMatchObject({ phase: 'experience', cycle: 2, asks: null });
    run.cancel();
    await run.answer;
  });
});

/** The shared context of a workflow, with its promises in memory. */
function sharedContext() {
  const promises = new Map<string, unknown>();
  let peeks = 0;
  const promise = (name: string) => ({
    peek: async () => {
      peeks += 1;
      return promises.get(name);
    },
    get: async () => promises.get(name),
    resolve: async (value: unknown) => {
      if (promises.has(name)) throw new TerminalError('resolved before');
      promises.set(name, value);
    },
  });
  const ctx = { promise, request: () => ({ id: 'request' }), date: { now: async () => 0 } };
  const send = (id?: string) =>
    sendEvent(ctx as unknown as WorkflowSharedContext, { event: { type: 'run.finished' }, id }, clientEventSchema);
  return { promises, send, peeks: () => peeks };
}

describe('sendEvent', () => {
  it('numbers events without gaps, and does not read all earlier ones', async () => {
    const { send, peeks } = sharedContext();
    for (let number = 0; number < 1_000; number += 1) {
      const before = peeks();
      expect(await send(number % 2 === 0 ? `event ${number}` : undefined)).toEqual({ number, repeated: false });
      expect(peeks() - before).toBeLessThan(24);
    }
  });

  it('numbers events of many callers at once', async () => {
    const { send } = sharedContext();
    const all = await Promise.all(Array.from({ length: 20 }, () => send()));
    expect(all.map(({ number }) => number).toSorted((one, other) => one - other)).toEqual([...Array(20).keys()]);
  });

  it('rejects events over the limit', async () => {
    const { promises, send } = sharedContext();
    for (let number = 0; number < 10_000; number += 1) promises.set(`event-${number}`, {});
    for (const id of [undefined, 'a', 'a']) await expect(send(id)).rejects.toMatchObject({ code: 429 });
    promises.delete('event-9999');
    expect(await send()).toEqual({ number: 9_999, repeated: false });
  });

  it('gives a repeated event the number of the first', async () => {
    const { send } = sharedContext();
    await send();
    expect([await send('a'), await send(), await send('a')]).toEqual([
      { number: 1, repeated: false },
      { number: 2, repeated: false },
      { number: 1, repeated: true },
    ]);
  });

  it('stores an event whose first caller was cancelled before it stored its number', async () => {
    const { promises, send } = sharedContext();
    await send('a');
    promises.delete('number-a');
    expect(await send('a')).toEqual({ number: 1, repeated: false });
    expect(promises.get('event-1')).toMatchObject({ id: 'a' });
  });
});

describe('the journal of a run', () => {
  const stored: Record<string, unknown> = {
    status: { status: 'done', entries: 3 },
    'entries-0': [{ seq: 0 }, { seq: 1 }],
    'entries-2': [{ seq: 2 }],
  };
  const ctx = { key: 'k', stateKeys: async () => Object.keys(stored), get: async (key: string) => stored[key] };
  const { workflow } = createRestateChain() as unknown as {
    readonly workflow: { readonly journal: (context: object, request?: object) => Promise<object> };
  };

  it.each([
    [undefined, [0, 1, 2]],
    [{ from: 0 }, [0, 1, 2]],
    [{ from: 1 }, [1, 2]],
    [{ from: 3 }, []],
  ])('is read with the request %j', async (request, seqs) => {
    const entries = seqs.map((seq) => ({ seq }));
    expect(await workflow.journal(ctx, request)).toEqual({ entries, next: 3, isEnd: true });
  });

  it.each([{ from: -1 }, { from: 0.5 }, { after: 1 }])('is not read with the request %j', async (request) => {
    await expect(workflow.journal(ctx, request)).rejects.toMatchObject({ code: 400 });
  });
});
