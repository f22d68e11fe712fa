import { describe, expect, it } from 'vitest';
import { consentChoiceSchema } from '../../../machines/contracts/context.ts';
import { chainEventSchema, clientEventSchema } from '../../../machines/contracts/events.ts';
import { PHASES, phaseSchema } from '../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { readChoice } from '../../../machines/policies/consent.ts';
import { results } from '../../support/contract-samples.ts';

const consent = (changes: object) => ({ type: 'consent.given', questionId: 'q', choice: 'keep', ...changes });
const approval = (changes: object) => ({
  type: 'approval.given',
  questionId: 'q',
  digest: 'd',
  decision: 'deny',
  ...changes,
});
/** Deep enough to overflow the stack of a recursive check. */
const DEEP = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
function cyclic(): object {
  const value: Record<string, unknown> = {};
  return Object.assign(value, { one: value, other: [value] });
}
const many = (count: number, prefix = 'm') =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 'keep']));

describe('run contracts', () => {
  it('[C1] define six phases in order, each with a reply schema', () => {
    expect(PHASES).toEqual(['action', 'experience', 'intention', 'observation', 'understanding', 'yield']);
    expect(Object.keys(replySchemas)).toEqual([...PHASES, 'continuation', 'summary', 'synthesis', 'value', 'brief']);
    for (const phase of PHASES) {
      expect(replySchemas[phase].parse(results[phase].reply)).toEqual(results[phase].reply);
      expect(phaseSchema.parse(phase)).toBe(phase);
    }
  });

  it('[Y5] accept a proposal that is not a phase, so that the chart can handle it', () => {
    const reply = { ...results.yield.reply, proposedPhase: 'nowhere' };
    expect(replySchemas.yield.parse(reply).proposedPhase).toBe('nowhere');
  });

  it.each([
    { type: 'run.interrupted' },
    { type: 'run.directed', phase: 'experience', questionId: 's6.direction' },
    { type: 'consent.given', questionId: 's5.consent', choice: 'what?', items: { m1: 'keep' } },
  ])('[Y4] [U8] accept the event $type', (event) => {
    expect(chainEventSchema.parse(event)).toEqual(event);
  });

  it('[U9] define three consent choices and read any other text for a single message as keep', () => {
    expect(consentChoiceSchema.options).toEqual(['keep', 'summarize', 'remove']);
    const bad = { type: 'consent.given', choice: 'keep', items: { m1: 'burn' } };
    expect(chainEventSchema.safeParse(bad).success).toBe(true);
    expect(readChoice('burn')).toBe('keep');
  });

  it.each([
    { type: 'run.cancelled', reason: 'changed my mind' },
    { type: 'run.directed', phase: 'experience', prompt: 'try this' },
    { type: 'run.finished' },
    { type: 'run.finished', questionId: 's6.direction' },
    { type: 'consent.given', questionId: 's5.consent', choice: 'keep', items: { m1: 'remove' } },
    consent({ items: many(1_000, 'a-uuid-has-thirty-six-characters') }),
    approval({ reason: 'no' }),
    approval({ decision: 'approve', arguments: { to: ['Ada'], euros: 5 } }),
  ])('let a client send the event $type, which is also an event of the chain', (event) => {
    expect(clientEventSchema.parse(event)).toEqual(event);
    expect(chainEventSchema.parse(event)).toEqual(event);
  });

  it.each([
    ['other limits', { type: 'run.adjusted', limits: { maxCycles: 1 } }],
    ['an interruption by the host', { type: 'run.interrupted' }],
    ['limits beside another event', { type: 'run.finished', limits: { maxCycles: 100_000 } }],
    ['consent in the name of an option', consent({ by: 'option' })],
    ['consent to no question', { type: 'consent.given', choice: 'keep' }],
    ['consent to an empty question', consent({ questionId: '' })],
    ['a choice that does not exist', consent({ choice: 'burn' })],
    ['a choice for one message that does not exist', consent({ items: { m1: 'burn' } })],
    ['choices for too many messages', consent({ items: many(1_001) })],
    ['choices for messages whose ids are too long together', consent({ items: many(1_000, 'x'.repeat(50)) })],
    ['approval without a digest', approval({ digest: undefined })],
    ['approval in the name of another', approval({ by: 'program' })],
    ['arguments that are too deep', approval({ arguments: DEEP })],
    ['arguments that contain themselves', approval({ arguments: cyclic() })],
    ['arguments that are too long', approval({ arguments: { text: 'x'.repeat(50_001) } })],
    ['a reason of a denial that is too long', approval({ reason: 'x'.repeat(20_001) })],
    ['an id that is too long', { type: 'context.undone', operationId: 'x'.repeat(1_001) }],
    ['the id of a message that is too long', consent({ items: { ['x'.repeat(1_001)]: 'keep' } })],
    ['a prompt that is too long', { type: 'run.directed', phase: 'yield', prompt: 'x'.repeat(20_001) }],
    ['a reason that is too long', { type: 'run.cancelled', reason: 'x'.repeat(20_001) }],
    ['a direction to an unknown phase', { type: 'run.directed', phase: 'nowhere' }],
    ['a call that has ended', { type: 'settled', output: {} }],
  ])('reject %s from a client', (_, event) => {
    expect(clientEventSchema.safeParse(event).success).toBe(false);
  });
});
