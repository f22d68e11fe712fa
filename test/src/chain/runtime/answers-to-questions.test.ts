import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../../machines/contracts/events.ts';
import type { Message } from '../../../../machines/contracts/message.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { entriesOf, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const LONG = `Please look into the cellar. ${'The cellar is a long story. '.repeat(60)}`;
const unsure = { yield: (call: number) => unsureAnswer(call) };
type Started = ReturnType<typeof startScripted>;

const messagesOf = ({ run }: Started): readonly Message[] => run.ref.getSnapshot().context.messages;
const asked = ({ run }: Started) => entriesOf(run, 'consent-asked');
const refusals = ({ run }: Started) =>
  entriesOf(run, 'answer-refused').map(({ event, questionId, question, reason }) => [
    event,
    questionId,
    question,
    reason,
  ]);

/** A run that waits for consent to what happens to the assistant's messages, after a question about the user's has timed out. */
async function waitingAgain(): Promise<Started> {
  const started = startScripted(
    unsure,
    { consentFor: 'all', thresholds: { pruneAbove: 0 }, limits: { maxCycles: 2, consentMs: 5_000 } },
    { history: [{ role: 'user', content: LONG }] },
  );
  await settle(200);
  started.clock.increment(5_000);
  await settle(200);
  expect(asked(started).map(({ questionId }) => questionId)).toEqual(['s5.consent', 's11.consent']);
  expect(asked(started)[1]?.request.items.map(({ messageId }) => messageId)).not.toContain('earlier.h1');
  return started;
}

/** A run in manual mode that waits for its second direction. */
async function waitingForDirection(): Promise<Started> {
  const started = startScripted(unsure, {}, { mode: 'manual' });
  await settle(200);
  started.run.send({ type: 'run.directed', phase: 'yield', questionId: 's6.direction' });
  await settle(200);
  expect(entriesOf(started.run, 'direction-asked').map(({ questionId }) => questionId)).toEqual([
    's6.direction',
    's7.direction',
  ]);
  return started;
}

const consent = (questionId: string, items?: Record<string, string>, choice = 'remove'): ChainEvent => ({
  type: 'consent.given',
  questionId,
  choice,
  ...(items && { items }),
});

describe('an answer that does not name the pending question', () => {
  it.each<[string, ChainEvent, string]>([
    ['names the question that timed out', consent('s5.consent'), 'other_question'],
    ['names it, for its message only', consent('s5.consent', { 'earlier.h1': 'remove' }, 'keep'), 'other_question'],
    ['names a question that is still to come', consent('s17.consent'), 'other_question'],
    ['names no question', { type: 'consent.given', choice: 'remove' } as never, 'unnamed_question'],
    ['names an empty one', consent(''), 'unnamed_question'],
    [
      'is only about a message of the earlier question',
      consent('s11.consent', { 'earlier.h1': 'remove' }),
      'unknown_message',
    ],
    [
      'is only about unknown messages',
      consent('s11.consent', { nobody: 'keep', request: 'remove' }),
      'unknown_message',
    ],
    ['is a direction', { type: 'run.directed', phase: 'yield', questionId: 's11.consent' }, 'other_kind'],
    [
      'is a direction to another question',
      { type: 'run.directed', phase: 'yield', questionId: 's5.direction' },
      'other_question',
    ],
    ['finishes another question', { type: 'run.finished', questionId: 's11.direction' }, 'other_question'],
  ])('[U8] [Y4] changes nothing while consent is asked for: it %s', async (_, event, reason) => {
    const started = await waitingAgain();
    const before = messagesOf(started);
    started.run.send(event);
    await settle(200);
    const named = ('questionId' in event && event.questionId) || null;
    expect(refusals(started)).toEqual([[event.type, named, 's11.consent', reason]]);
    expect(entriesOf(started.run, 'consent-resolved')).toMatchObject([{ by: 'time-out' }]);
    expect(messagesOf(started)).toBe(before);
    expect(started.run.ref.getSnapshot().context.question).toBe('s11.consent');
    started.run.send(consent('s11.consent'));
    await started.run.answer;
    expect(entriesOf(started.run, 'consent-resolved').at(-1)).toMatchObject({ by: 'user', kept: 0 });
    expect(replay(started.run.entries).divergence).toBeNull();
  });

  it.each<[string, ChainEvent, string]>([
    [
      'names the question before',
      { type: 'run.directed', phase: 'intention', questionId: 's6.direction' },
      'other_question',
    ],
    ['names no question', { type: 'run.directed', phase: 'intention' }, 'unnamed_question'],
    ['finishes the question before', { type: 'run.finished', questionId: 's6.direction' }, 'other_question'],
    ['is consent', consent('s7.direction'), 'other_kind'],
  ])('[Y4] changes nothing while a direction is asked for: it %s', async (_, event, reason) => {
    const started = await waitingForDirection();
    started.run.send(event);
    await settle(200);
    const named = ('questionId' in event && event.questionId) || null;
    expect(refusals(started)).toEqual([[event.type, named, 's7.direction', reason]]);
    expect(started.run.ref.getSnapshot().matches({ cycling: { yield: 'awaitingDirection' } })).toBe(true);
    started.run.send({ type: 'run.finished', questionId: 's7.direction' });
    expect((await started.run.answer).metadata.cycles).toBe(2);
  });

  it.each<[string, ChainEvent]>([
    ['consent', consent('s5.consent')],
    ['a direction', { type: 'run.directed', phase: 'yield', questionId: 's6.direction' }],
    ['a finish', { type: 'run.finished', questionId: 's6.direction' }],
  ])('[U8] [Y4] changes nothing where no question is asked: %s', async (_, event) => {
    const started = startScripted({ action: { hang: true } });
    await settle(200);
    started.run.send(event);
    await settle(200);
    expect(refusals(started)).toEqual([[event.type, 'questionId' in event && event.questionId, null, 'no_question']]);
    expect(started.run.ref.getSnapshot().matches({ cycling: 'action' })).toBe(true);
  });

  it('[U8] changes nothing while the answer is written', async () => {
    const started = startScripted(
      { synthesis: { hang: true } },
      { profile: { extends: 'thorough', writing: 'always' } },
    );
    await settle(400);
    expect(started.run.ref.getSnapshot().matches({ synthesizing: 'writing' })).toBe(true);
    const answers = [consent('s5.consent'), { type: 'run.directed', phase: 'yield', questionId: 's6.direction' }];
    const commands = [{ type: 'run.finished' }, { type: 'run.directed', phase: 'yield' }];
    for (const event of [...answers, ...commands]) started.run.send(event as ChainEvent);
    expect(refusals(started).map(([, , , reason]) => reason)).toEqual([
      'no_question',
      'no_question',
      'too_late',
      'too_late',
    ]);
  });

  it('[U8] may name other messages beside one that the question is about', async () => {
    const started = startScripted({}, {}, { history: [{ role: 'user', content: LONG }] });
    await settle(200);
    started.run.send(consent('s5.consent', { 'earlier.h1': 'remove', nobody: 'remove' }, 'keep'));
    await started.run.answer;
    expect(refusals(started)).toEqual([]);
    expect(entriesOf(started.run, 'consent-resolved')).toMatchObject([{ removed: 1, by: 'user' }]);
  });
});
