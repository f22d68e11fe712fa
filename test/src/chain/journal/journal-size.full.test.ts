import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPassageIndex, createPostChain, extractiveModel } from '../../../../src/entries/index.ts';
import { fileJournals, loadDocuments } from '../../../../src/entries/node.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { createRandom, SEED } from '../../../support/random.ts';

/** Words that hardly compress: letters drawn at random. */
function randomProse(chars: number, seed: number): string {
  const random = createRandom(seed);
  let text = '';
  while (text.length < chars)
    text += `${Array.from({ length: random.int(2, 9) }, () => random.pick([...'abcdefghijklmnopqrstuvwxyz'])).join('')} `;
  return text.slice(0, chars);
}

describe('the file of a journal', () => {
  it('takes at most 20 kB for the question of the README', async () => {
    const folder = temporaryFolder();
    const { documents } = await loadDocuments(['docs']);
    const chain = createPostChain({
      newId: () => 'run-1',
      model: extractiveModel(),
      documents: createPassageIndex(documents),
      journals: fileJournals(folder),
    });
    const { answer } = chain.run({ request: 'What does the Yield phase decide, and in which order?' });
    expect((await answer).status).toBe('completed');
    expect(readFileSync(join(folder, 'run-1.jsonl')).length).toBeLessThanOrEqual(20_000);
  });

  it.each([1, 1_000])(
    'takes at most three times the size of replies that arrive in chunks of %i characters',
    async (chunkChars) => {
      const folder = temporaryFolder();
      let saidChars = 0;
      let seed = SEED;
      const prose = (chars: number): string => randomProse(chars, ++seed);
      const model = scriptedModel(
        ({ task }) => {
          const text = prose(2_000);
          const reply = {
            action: { ...replies.action, response: text },
            experience: { ...replies.experience, summary: text },
            intention: { ...replies.intention, goal: text },
            observation: { ...replies.observation, insights: [text] },
            understanding: { ...replies.understanding, integrated: text },
            yield: { ...replies.yield, answer: text, confidence: 0.5, informationSufficiency: 0.5 },
            synthesis: { ...replies.synthesis, answerText: text },
          }[task as 'action'];
          saidChars += JSON.stringify(reply).length;
          return reply;
        },
        { chunkChars },
      );
      const chain = createPostChain({
        profile: 'thorough',
        newId: () => 'run-1',
        model,
        journals: fileJournals(folder),
        limits: { maxCycles: 60, maxModelCalls: 1_000, maxTokens: 1e9, maxSummaries: 0 },
      });
      await chain.run({ request: 'Is it so?' }).answer;
      const bytes = readFileSync(join(folder, 'run-1.jsonl')).length;

      expect(saidChars).toBeGreaterThan(600_000);
      expect(bytes).toBeLessThanOrEqual(3 * saidChars);
    },
  );
});
