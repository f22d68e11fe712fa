import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConsentChoice, ContextOperation } from '../../../machines/contracts/context.ts';
import { consentRequest, readChoice, resolveConsent } from '../../../machines/policies/consent.ts';
import { applyOperations, KEPT_BY_DEFAULT, KEPT_BY_USER } from '../../../machines/policies/context.ts';
import { aMessage, deepFreeze, operations } from '../../support/contract-samples.ts';

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
    expect(resolved).toMatchObject({ operation: 'PRUNE', target: 'constructor' });
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
