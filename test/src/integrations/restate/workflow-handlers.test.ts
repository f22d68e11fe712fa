import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import {
  foldStatus,
  initialStatus,
  type WorkflowStatus,
} from '../../../../src/integrations/restate/workflow-handlers.ts';
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
