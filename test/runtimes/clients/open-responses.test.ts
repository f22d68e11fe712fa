import type { LanguageModelV4 } from '@ai-sdk/provider';
import { generateText, streamText } from 'ai';
import { expect, it } from 'vitest';
import { ALICE, startServer } from '../../support/chain-server.ts';
import { installClients } from '../../support/client-packages.ts';

interface OpenResponses {
  createOpenResponses(options: object): (model: string) => LanguageModelV4;
}

const load = installClients('open-responses', ['@ai-sdk/open-responses@2.0.36']);

it('the client of Open Responses gets the answer, also in a later turn', async () => {
  const { createOpenResponses } = await load<OpenResponses>('@ai-sdk/open-responses');
  const { url } = await startServer();
  const model = createOpenResponses({ name: 'chain', url: `${url}/v1/responses`, apiKey: ALICE })('postchain');
  const first = await generateText({ model, instructions: 'Be brief.', prompt: 'Is it so?' });
  expect([first.text, first.finishReason]).toEqual(['It is so.', 'stop']);
  const asked = { role: 'user' as const, content: 'Is it so?' };
  const stream = streamText({ model, messages: [asked, ...first.response.messages, { ...asked, content: 'Why?' }] });
  expect([await stream.text, await stream.finishReason]).toEqual(['It is so.', 'stop']);
  expect(await stream.reasoningText).toContain('Draft: It is so.');
  expect((await stream.totalUsage).totalTokens).toBeGreaterThan(0);
});
