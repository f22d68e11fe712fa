import { describe, expect, it } from 'vitest';
import { memorySessions } from '../../../../src/chain/runtime/memory-sessions.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { anError } from '../../../support/errors.ts';
import { entriesOf, startScripted } from '../../../support/run-chain.ts';

const told = `Please look into this. ${'It is a long story. '.repeat(80)}`;
const history = [{ role: 'user' as const, content: told }];

describe('[U9] the option `consent`', () => {
  it('is "keep" by default: a run that nobody listens to never waits, calls no model for a summary, and keeps everything', async () => {
    const model = scriptedModel({}, { otherwise: replies });
    const run = createPostChain({ model }).run({ request: 'Is it so?', history });
    expect(await run.answer).toMatchObject({ status: 'completed' });
    expect(entriesOf(run, 'consent-asked')).toEqual([]);
    expect(entriesOf(run, 'consent-resolved')).toMatchObject([{ kept: 1, by: 'option' }]);
    expect(model.calls.map(({ task }) => task)).not.toContain('summary');
    const { messages } = run.ref.getSnapshot().context;
    expect(messages[0]).toMatchObject({ content: told, tags: ['kept-by-default'] });
  });

  it.each([
    ['keep', 'TAG', 'no_consent', 'kept by an option'],
    ['summarize', 'TRANSFORM', 'long_message', 'the user message has'],
    ['remove', 'PRUNE', 'long_message', 'an option removes it'],
  ] as const)(
    'decides at once: "%s" makes it a %s of the message, with the code %s',
    async (consent, operation, code, reason) => {
      const { run, clock } = startScripted({}, { consent }, { history });
      await run.answer;
      expect(clock.now()).toBe(0);
      const operations = entriesOf(run, 'operations').flatMap(({ applied }) => applied);
      expect(operations.filter(({ target }) => target === 'earlier.h1')).toMatchObject([
        { operation, code, reason: expect.stringContaining(reason), metadata: { consent, requiresConsent: false } },
      ]);
      expect(entriesOf(run, 'consent-resolved')).toMatchObject([{ by: 'option' }]);
    },
  );

  it('holds for the user messages of a session too', async () => {
    const sessions = memorySessions();
    const model = scriptedModel({}, { otherwise: replies });
    const chain = createPostChain({ model, sessions, consent: 'summarize' });
    await chain.run({ request: told, sessionId: 'u' }).answer;
    await chain.run({ request: 'And now?', sessionId: 'u' }).answer;
    const run = chain.run({ request: 'And then?', sessionId: 'u' });
    await run.answer;
    const [recalled] = entriesOf(run, 'session-recalled');
    expect(recalled?.messages[0]?.content.length).toBeLessThanOrEqual(200);
  });

  it.each([['yes'], [null], [7]])('rejects %j', (consent) => {
    expect(() => createPostChain({ consent: consent as never })).toThrow(
      anError('invalid_option', /^consent: .*"ask"/),
    );
  });
});
