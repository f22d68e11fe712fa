import { describe, expect, it } from 'vitest';
import type { ChatTurn } from '../../../../machines/contracts/model.ts';
import { ALL_FEATURES, callOptions } from '../../../../src/integrations/ai-sdk/call-options.ts';

const optionsFor = (provider: string, turns: readonly ChatTurn[]) =>
  callOptions(
    { task: 'action', turns, schemaName: 'reply', outputSchema: { type: 'object' }, replyForm: 'text', input: {} },
    ALL_FEATURES,
    { provider, specificationVersion: 'v3' },
  ).prompt;

const turns: readonly ChatTurn[] = [
  { role: 'system', content: 'Rules.' },
  { role: 'user', content: 'The context.\n\nThe task.', cachedChars: 12 },
];

describe('the part of a prompt that later calls repeat', () => {
  it.each(['anthropic.messages', 'amazon-bedrock', 'openrouter.chat'])('is marked for %s', (provider) => {
    const [system, user] = optionsFor(provider, turns);
    const marked = expect.objectContaining({ anthropic: { cacheControl: { type: 'ephemeral' } } });
    expect(system).toMatchObject({ role: 'system', providerOptions: marked });
    expect(user?.content).toEqual([
      { type: 'text', text: 'The context.', providerOptions: marked },
      { type: 'text', text: '\n\nThe task.' },
    ]);
  });

  it('is not marked for a provider that caches by itself', () => {
    expect(optionsFor('openai.chat', turns)).toEqual([
      { role: 'system', content: 'Rules.' },
      { role: 'user', content: [{ type: 'text', text: 'The context.\n\nThe task.' }] },
    ]);
  });

  it('is not marked in a prompt that no later call repeats', () => {
    const single = turns.map(({ role, content }) => ({ role, content }));
    expect(JSON.stringify(optionsFor('anthropic.messages', single))).not.toContain('cacheControl');
  });
});
