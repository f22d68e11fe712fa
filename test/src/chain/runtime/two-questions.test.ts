import { expect, it } from 'vitest';
import { createPassageIndex, createPostChain } from '../../../../src/entries/index.ts';

const others = Array.from(
  { length: 30 },
  (_, at) => `## Room ${at}\n\nThe library does open room ${at} to readers when it is quiet.`,
);
const text = `${others.join('\n\n')}\n\n## Hours\n\nThe library opens at nine.\n\n## Fees\n\nA card costs 12 euros per year.`;

it.each([
  ['When does the library open, and what does a card cost?', ['opens at nine', '12 euros']],
  ['What does a card cost and when does the library open?', ['opens at nine', '12 euros']],
  ['When does the library open? What does a card cost?', ['opens at nine', '12 euros']],
])('[C5] answers both questions, even if no search finds both: %s', async (request, quotes) => {
  const chain = createPostChain({ documents: createPassageIndex([{ path: 'library.md', text }]) });
  const { answerText, metadata } = await chain.run({ request }).answer;
  for (const quote of quotes) expect(answerText).toContain(quote);
  expect(metadata.cycles).toBeLessThanOrEqual(2);
});

it('searches once for one question, and for each of several that refers to no other', async () => {
  const searched: string[] = [];
  const documents = {
    search: async (query: string) => {
      searched.push(query);
      return { query, passages: [], widened: false };
    },
  };
  const limits = { maxCycles: 1 };
  await createPostChain({ documents, limits }).run({ request: 'When does it open?' }).answer;
  expect(searched).toEqual(['When does it open?']);
  const two = 'When does the hall open, and who owns it?';
  await createPostChain({ documents, limits }).run({ request: two }).answer;
  expect(searched.slice(1)).toEqual([two, 'When does the hall open']);
});
