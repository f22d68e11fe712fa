import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { bank, machine, model } from '../../../examples/agents/refund-approval.ts';
import { done, explore, fails, precedes } from '../../../src/entries/testing.ts';
import {
  agentRuns,
  denyAll,
  requireEndsForAnyReply,
  requireProperties,
  requireReplaysRecording,
  requireSurvivesKills,
} from '../../support/agents.ts';

const example = { machine, models: [model], services: { bank }, input: 'My lamp arrived broken. Order A7, 120 euros.' };

/** The outcomes of the example's own actor. The actors of postchain/agents declare theirs. */
const outcomes = { refund: [done(''), fails()] };

const refundsMuch = (snapshot: AnyMachineSnapshot): boolean =>
  snapshot.matches('refunding') && snapshot.context.refund.cents > 5_000;

describe('the support desk', () => {
  it('always ends, and refunds a large amount only after its approval, and nothing after a denial', () => {
    // Also if someone sends the events that the model may choose.
    const events = [1, 5_001].map((cents) => ({ type: 'refund.proposed', order: 'A7', cents }) as const);
    for (const sent of [[], [...events, { type: 'mail.escalated' } as const]])
      requireProperties(explore(machine, { outcomes, events: sent, inputs: { mail: example.input } }), [
        precedes({ event: 'approval: approved' }, { state: refundsMuch }, 'each'),
        precedes({ event: 'approval: denied' }, { state: 'refunding' }, 'never'),
      ]);
  });

  it('refunds a large amount once, after its approval, also if it is killed at any entry', async () => {
    const { value, calls } = await requireSurvivesKills(example);
    expect(value).toBe('refunded');
    expect(calls.map(({ name }) => name)).toEqual(['bank.refund']);
  });

  it('refunds nothing after a denial', async () => {
    const { value, calls } = await agentRuns({ ...example, person: denyAll })();
    expect(value).toBe('left');
    expect(calls).toEqual([]);
  });

  it('ends for any reply of the model, valid or not', () => requireEndsForAnyReply(example));

  it('replays its recorded run', () => requireReplaysRecording('refund-approval', example));
});
