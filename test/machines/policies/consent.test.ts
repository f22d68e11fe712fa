import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import type { ConsentChoice, ContextOperation } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import {
  applyOverrides,
  consentRequest,
  overrule,
  readChoice,
  resolveConsent,
  undoOperation,
} from '../../../machines/policies/consent.ts';
import {
  append,
  applyOperations,
  contextDocument,
  contextOf,
  KEPT_BY_DEFAULT,
  KEPT_BY_USER,
} from '../../../machines/policies/context.ts';
import { estimatedMeasures } from '../../../machines/policies/understanding.ts';
import { aMessage, aState, deepFreeze, operations } from '../../support/contract-samples.ts';

const LONG = `The user wrote this, and much more of it. ${'More and more. '.repeat(80)}`;
const user = (id: string) => aMessage({ id, role: 'user', content: LONG });
const asks = (target: string): ContextOperation => ({
  ...operations.TRANSFORM,
  id: `o-${target}`,
  target,
  metadata: { requiresConsent: true, relevance: 0.1 },
});
const messages = deepFreeze([user('u1'), user('u2'), aMessage({ id: 'm1' })]);
const batch = deepFreeze([asks('u1'), operations.PRUNE, asks('u2')]);
const contentAfter = (id: string, choice: ConsentChoice, items?: Record<string, ConsentChoice>) =>
  applyOperations(messages, resolveConsent(batch, choice, items)).find((message) => message.id === id)?.content;

describe('asking for consent', () => {
  it('[U8] asks once for the whole batch with a 50-character preview of each message', () => {
    const request = consentRequest(batch, messages);
    expect(request?.items.map(({ messageId, chars }) => [messageId, chars])).toEqual([
      ['u1', LONG.length],
      ['u2', LONG.length],
    ]);
    expect(request?.items[0]).toMatchObject({ preview: `${LONG.slice(0, 50)}…`, summary: 'Opened 1932.' });
  });

  it('[U8] does not ask when no user content is affected', () => {
    expect(consentRequest([operations.PRUNE, operations.TRANSFORM], messages)).toBeNull();
    expect(consentRequest([], messages)).toBeNull();
  });

  it.each([
    ['keep', 'keep'],
    ['summarize', 'summarize'],
    ['summarise', 'summarize'],
    ['Summarize ', 'summarize'],
    [' REMOVE\n', 'remove'],
    ['remove it', 'keep'],
    ['3', 'keep'],
    ['', 'keep'],
    ['remove?', 'keep'],
    ['summarize them', 'keep'],
    ['__proto__', 'keep'],
    [['remove'], 'keep'],
  ])('[U8] reads the reply %j as %s', (said, wanted) => {
    expect(readChoice(said)).toBe(wanted);
  });
});

describe('the decision of the user', () => {
  it.each([
    ['keep', LONG],
    ['summarize', 'Opened 1932.'],
    ['remove', undefined],
  ] as const)('[U8] applies %s to the whole batch', (choice, wanted) => {
    expect(contentAfter('u1', choice)).toBe(wanted);
    expect(contentAfter('u2', choice)).toBe(wanted);
  });

  it('[U8] does not affect operations that need no consent', () => {
    for (const choice of ['keep', 'summarize', 'remove'] as const)
      expect(resolveConsent(batch, choice)[1]).toEqual(operations.PRUNE);
  });

  it('[U9] replaces no operation that loses no content, whatever was chosen for its message', () => {
    const { target } = operations.TAG;
    expect(resolveConsent([operations.TAG], 'keep', { [target]: 'remove' })).toEqual([operations.TAG]);
  });

  it('[U8] is the same for messages whose ids are names that every object has', () => {
    const [resolved] = resolveConsent([asks('constructor')], 'remove');
    expect(resolved).toMatchObject({ operation: 'PRUNE', target: 'constructor', code: 'user_consent' });
  });

  it('[U9] keeps and reports as kept a message that has no planned summary, even if a summary was chosen', () => {
    const [, kept] = resolveConsent(batch, 'keep', { m1: 'summarize' });
    expect(kept).toMatchObject({
      operation: 'TAG',
      target: 'm1',
      code: 'user_consent',
      reason: 'kept because no summary of it was planned',
      metadata: { consent: 'keep' },
    });
  });

  it('[U8] records on each message that the reply was not understood', () => {
    const reasons = resolveConsent(batch, 'explode', { u2: 'keep' }).map(({ reason }) => reason);
    expect(reasons[0]).toBe('kept because the reply was not understood');
    expect(reasons[2]).toBe('kept by the user');
  });

  it.each([null, '', 7, 'delete'])(
    '[U8] keeps a message whose own choice is %j, whatever was chosen for all',
    (own) => {
      const [first] = resolveConsent(batch, 'remove', { u1: own });
      expect(first).toMatchObject({
        operation: 'TAG',
        data: { tags: [KEPT_BY_DEFAULT] },
        code: 'no_consent',
        reason: 'kept because the reply was not understood',
      });
    },
  );

  it('[U8] marks kept messages so that they are not asked about again', () => {
    const [first] = applyOperations(messages, resolveConsent(batch, 'keep'));
    expect(first?.tags).toContain(KEPT_BY_USER);
  });

  it('[U8] leaves no operation on user content pending and records the decision on each', () => {
    const choice = fc.constantFrom<ConsentChoice>('keep', 'summarize', 'remove');
    const items = fc.dictionary(fc.constantFrom('u1', 'u2'), choice);
    fc.assert(
      fc.property(choice, items, (all, own) => {
        const resolved = resolveConsent(batch, all, own);
        expect(consentRequest(resolved, messages)).toBeNull();
        for (const { target, metadata, reason } of resolved.filter(({ target }) => target !== 'm1')) {
          expect(metadata['consent']).toBe(Object.hasOwn(own, target) ? own[target] : all);
          expect(reason).not.toBe('');
        }
      }),
    );
  });
});

describe('[U9] a decision about one message', () => {
  const decide = (state: ChainState, choice: ConsentChoice) => overrule(state, { messageId: 'm1', choice });
  const planned = (waiting: readonly ContextOperation[], own: Partial<Message> = {}) =>
    aState({
      messages: [aMessage({ id: 'm1', content: LONG, ...own })],
      envelope: { ...aState().envelope, operations: waiting },
    });
  /** The state after these operations on the message, which has been measured. */
  const measured = (...applied: ContextOperation[]) => {
    const history = append(contextDocument([aMessage({ id: 'm1' })]), applied);
    return aState({ history, messages: contextOf(history), measures: estimatedMeasures([]) });
  };

  it.each(['pinned', 'critical'])('keeps a message that is tagged "%s", but neither shortens nor removes it', (tag) => {
    const state = planned([], { tags: [tag] });
    expect(decide(state, 'keep').problem).toBeNull();
    for (const choice of ['summarize', 'remove'] as const)
      expect(decide(state, choice).problem).toBe(`the message must stay as it is, because it is tagged "${tag}"`);
  });

  it('drops what was planned to shorten or remove it, and nothing else', () => {
    const waiting = [operations.TAG, operations.TRANSFORM, { ...operations.TRANSFORM, id: 's1.o6', target: 'other' }];
    const { changes } = decide(planned(waiting), 'keep');
    const kept = expect.objectContaining({ operation: 'TAG', id: 'user1', data: { tags: [KEPT_BY_USER] } });
    expect(changes.envelope?.operations).toEqual([operations.TAG, waiting[2], kept]);
  });

  it.each([
    ['user', 200],
    ['assistant', 100],
  ] as const)('summarizes a message of role %s that has more than %i characters', (role, maxChars) => {
    expect(decide(planned([], { role, content: 'x'.repeat(maxChars) }), 'summarize').problem).toBe(
      `the message has at most ${maxChars} characters`,
    );
    const { changes } = decide(planned([], { role, content: 'x'.repeat(maxChars + 1) }), 'summarize');
    expect(changes.envelope?.operations).toMatchObject([{ operation: 'TRANSFORM', data: { maxChars } }]);
  });

  it('uses the summary that was planned last', () => {
    const { data } = operations.TRANSFORM;
    const newer = { ...operations.TRANSFORM, id: 's1.o6', data: { ...data, content: 'In 1932.' } };
    const { changes } = decide(planned([operations.TRANSFORM, newer]), 'summarize');
    expect(changes.envelope?.operations).toMatchObject([{ id: 'user1', data: { content: 'In 1932.' } }]);
  });

  it('waits with at most 1,000 others, of which operations of the phases are none', () => {
    const waiting = Array.from({ length: 1_000 }, (_, at) => ({ ...operations.TAG, id: `s1.o${at}` }));
    expect(decide(planned(waiting), 'keep').problem).toBeNull();
  });

  it('drops the measures of the context if that changes', () => {
    expect(decide(measured(), 'keep').changes).not.toHaveProperty('measures');
    expect(decide(measured(), 'remove').changes.measures).toBeNull();
    const evaluation = { operations: [], measures: estimatedMeasures([aMessage()]) } as never;
    expect(decide({ ...measured(), evaluation }, 'remove').changes.evaluation?.measures.tokens).toEqual([]);
    expect(decide(measured(operations.PRUNE), 'keep').changes.measures).toBeNull();
    expect(decide(planned([operations.PRUNE]), 'keep').changes.measures).toBeNull();
    expect(undoOperation(measured(operations.PRUNE), operations.PRUNE.id).changes.measures).toBeNull();
  });

  it('may be about a message that a phase adds', () => {
    const state = aState({ envelope: { ...aState().envelope, operations: [operations.ADD] } });
    expect(overrule(state, { messageId: 'm2', choice: 'remove' }).problem).toBeNull();
    expect(decide(state, 'remove').problem).toBe('the context has no message with this id');
  });

  it('is applied when the run ends, and the operations of the phases are not', () => {
    const own = { ...operations.PRUNE, id: 'user1' };
    const { applied, messages: left, envelope } = applyOverrides(planned([operations.TAG, own]));
    expect([applied, left, envelope?.operations]).toEqual([[own], [], [operations.TAG]]);
    expect(applyOverrides(planned([operations.TAG]))).toEqual({});
  });
});
