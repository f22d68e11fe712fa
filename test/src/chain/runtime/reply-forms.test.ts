import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { entriesOf, startScripted } from '../../../support/run-chain.ts';

describe('a chain with replies as tool calls', () => {
  it('[A12] gives the same answer as one with text replies', async () => {
    const byText = startScripted();
    const byCall = startScripted({}, { replyForm: 'tool-call' });
    const [{ metadata: ofCall, ...answered }, { metadata: ofText, ...wanted }] = await Promise.all([
      byCall.run.answer,
      byText.run.answer,
    ]);
    expect(answered).toEqual(wanted);
    expect(ofCall.usage.inputTokens / ofText.usage.inputTokens).toBeCloseTo(1, 0);
    expect(byCall.model.calls.length).toBe(byText.model.calls.length);
    for (const { replyForm, turns, schemaName } of byCall.model.calls) {
      expect(replyForm).toBe('tool-call');
      expect(turns[0]?.content).toContain(`"${schemaName}"`);
    }
  });

  it('[A12] journals the arguments as the reply text', async () => {
    const { run } = startScripted({}, { replyForm: 'tool-call' });
    await run.answer;
    const said = entriesOf(run, 'text-delta')
      .filter(({ attemptId }) => attemptId.endsWith('yield'))
      .map(({ text }) => text)
      .join('');
    expect(JSON.parse(said)).toMatchObject({ answer: 'It is so.' });
  });

  it('rejects an unknown reply form', () => {
    expect(() => createPostChain({ replyForm: 'xml' as never })).toThrow(/replyForm: .*; received "xml"/);
  });
});
