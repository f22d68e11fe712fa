import type { WorkflowSharedContext } from '@restatedev/restate-sdk';
import { describe, expect, it } from 'vitest';
import { clientEventSchema } from '../../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { foldStatus, initialStatus, type WorkflowStatus } from '../../../../src/integrations/restate/chain-status.ts';
import { type SentEvent, sendEvent } from '../../../../src/integrations/restate/workflow-handlers.ts';
import { sendAnswer, settle, startScripted } from '../../../support/run-chain.ts';

const statusOf = (journal: readonly JournalEntry[]): WorkflowStatus =>
  journal.reduce(foldStatus, initialStatus('run-1'));
const history = [{ role: 'user' as const, content: 'It is a long story. '.repeat(80) }];

describe('foldStatus', () => {
  it('reports the phase, the cycle and the pending question', async () => {
    const { run } = startScripted({ yield: { hang: true } }, {}, { history });
    expect(statusOf([])).toMatchObject({ status: 'running', phase: null, entries: 0 });
    await settle();
    const asking = statusOf(run.journal);
    expect(asking).toMatchObject({ status: 'running', phase: 'understanding', cycle: 1, entries: run.journal.length });
    expect(asking.asks).toMatchObject({ type: 'consent-asked', request: { items: [{}] } });
    sendAnswer(run, { type: 'consent.given', choice: 'keep' });
    await settle();
    expect(statusOf(run.journal)).toMatchObject({ phase: 'yield', asks: null });
    run.cancel();
    await run.answer;
    expect(statusOf(run.journal)).toMatchObject({ status: 'cancelled', asks: null });
  });

  it('keeps the question until a valid direction is given', async () => {
    const unsure = { answer: 'Perhaps.', confidence: 0.1, informationSufficiency: 1, taskComplete: false };
    const rest = { needsTools: false, proposedPhase: null, rationale: '', usedMessageIds: [] };
    const { run } = startScripted({ yield: { ...unsure, ...rest } }, {}, { mode: 'manual' });
    await settle();
    sendAnswer(run, { type: 'run.directed', phase: 'nowhere' });
    expect(statusOf(run.journal).asks?.type).toBe('direction-asked');
    sendAnswer(run, { type: 'run.directed', phase: 'experience' });
    expect(statusOf(run.journal)).toMatchObject({ phase: 'experience', cycle: 2, asks: null });
    run.cancel();
    await run.answer;
  });
});

/** The shared context of a workflow, with its promises in memory. */
function sharedContext() {
  const promises = new Map<string, unknown>();
  let operations = 0;
  const promise = (name: string) => ({
    peek: async () => {
      operations += 1;
      return promises.get(name);
    },
    resolve: async (value: unknown) => void promises.set(name, value),
  });
  const ctx = { promise, request: () => ({ id: 'request' }), date: { now: async () => 0 } };
  return { ctx: ctx as unknown as WorkflowSharedContext, operations: () => operations };
}

describe('sendEvent', () => {
  it('rejects events over the limit without reading the earlier ones', async () => {
    const { ctx, operations } = sharedContext();
    const event = (number: number): SentEvent => ({ event: { type: 'run.finished' }, id: `event ${number}` });
    for (let number = 0; number < 200; number += 1)
      expect(await sendEvent(ctx, event(number), clientEventSchema)).toEqual({ number, repeated: false });
    const before = operations();
    await expect(sendEvent(ctx, event(200), clientEventSchema)).rejects.toMatchObject({ code: 429 });
    expect(operations() - before).toBe(1);
  });

  it('gives a repeated event the number of the first', async () => {
    const { ctx } = sharedContext();
    for (const repeated of [false, true])
      expect(await sendEvent(ctx, { event: { type: 'run.finished' }, id: 'a' }, clientEventSchema)).toEqual({
        number: 0,
        repeated,
      });
  });
});
