import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../machines/contracts/message.ts';
import { applyOperations } from '../../../machines/policies/context.ts';
import { initialMessages } from '../../../machines/policies/progress.ts';
import { nearDuplicates } from '../../../machines/policies/relevance.ts';
import { aChainInput, aMessage } from '../../support/contract-samples.ts';
import {
  applyWithoutConsent,
  assistantMessage,
  retentionPlan,
  searchMessage,
  userMessage,
  userTexts,
} from '../../support/retention.ts';

const newest = assistantMessage('n', 'Yes.', { cycle: 3 });
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id).filter((id) => id !== 'n');

it('[U6] near-duplicates are the same whether a list grows by one message or is passed whole, also with other lists in between', () => {
  const word = fc.constantFrom('bridge', 'harbour', 'tunnel', 'steel', 'old', 'king', 'fog');
  const texts = fc.array(
    fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' ')),
    { maxLength: 10 },
  );
  fc.assert(
    fc.property(texts, (contents) => {
      const make = () => contents.map((content, at) => aMessage({ id: `p${at}`, role: 'search', content }));
      const [growing, whole] = [make(), make()];
      for (const at of growing.keys()) {
        nearDuplicates(growing.slice(0, at + 1));
        nearDuplicates([...growing.slice(0, 1), ...growing.slice(2, at)]);
      }
      expect(nearDuplicates(growing)).toEqual(nearDuplicates(whole));
    }),
  );
});

describe('near-duplicate search results', () => {
  const tide = 'The tide in the harbour of the old town is lowest on the second Monday of March.';

  it('[U6] are reduced to one in any order, and the remaining one references the others', () => {
    const all = ['a', 'b', 'c'].map((id) => searchMessage(id, tide, { cycle: 3 }));
    for (const messages of [all, all.toReversed()]) {
      expect(idsOf(applyWithoutConsent([...messages, newest]))).toEqual([messages[0]?.id]);
      const links = retentionPlan([...messages, newest]).operations.filter(({ operation }) => operation === 'LINK');
      expect(links.map(({ target }) => target)).toEqual([messages[0]?.id, messages[0]?.id]);
    }
  });

  it('[U6] are distinct if they differ in a number or a "not"', () => {
    const texts = [
      tide,
      tide.replace('second', '2nd'),
      tide.replace('is lowest', 'is not lowest'),
      tide.replace('March', 'March 1932'),
    ];
    expect(nearDuplicates(texts.map((text, at) => searchMessage(`f${at}`, text))).size).toBe(0);
  });

  // Guards against treating a name as one of many equal words, which would lose the facts about the second station.
  it('[U6] are distinct if they name different things', () => {
    const station = (name: string) =>
      searchMessage(
        name,
        `The station of ${name} was opened in 1932. It has two platforms, a waiting room and a ticket hall, and it is staffed on
        weekdays. A small café in the hall sells tea, coffee and cake to travellers.`,
        { cycle: 3 },
      );
    expect(idsOf(applyWithoutConsent([station('Aldmoor'), station('Brennick'), newest]))).toEqual([
      'Aldmoor',
      'Brennick',
    ]);
  });

  // Guards against pruning both: the newer one as a duplicate, the older one as unreferenced.
  it('[U6] are not all pruned if one was just retrieved', () => {
    const messages = [searchMessage('old', tide, { cycle: 1 }), searchMessage('new', tide, { cycle: 3 }), newest];
    expect(idsOf(applyWithoutConsent(messages))).not.toEqual([]);
  });

  it('[U6] are not all pruned if other messages refer to the newer one', () => {
    const messages = [
      searchMessage('old', tide, { cycle: 1 }),
      searchMessage('new', tide, { cycle: 3 }),
      { ...newest, references: ['new'] },
    ];
    expect(idsOf(applyWithoutConsent(messages))).toEqual(['new']);
  });
});

// Guards against adding a link to `links` each time the same duplicate is found again.
it('[C7] [U6] an existing link is not added again when its other end returns', () => {
  const link = {
    operation: 'LINK' as const,
    id: 'o',
    target: 'a',
    data: { to: 'b', relation: 'says the same as', strength: 1 },
    code: 'near_duplicate' as const,
    reason: 'why',
    metadata: {},
  };
  const [linked] = applyOperations([searchMessage('a', 'The tide.')], [link, { ...link, id: 'o2' }]);
  expect(linked?.links).toHaveLength(1);
});

describe('messages that share an id', () => {
  const own = userMessage('x', 'I live in a small town.');
  const other = searchMessage('x', 'Tide tables of the north.');
  const both = [
    [own, other],
    [other, own],
  ] as const;

  // Guards against applying an operation planned for the search result to the user message with the same id.
  it('[U3] [U4] [U8] keep the user message when a rule prunes the search result', () => {
    for (const messages of both)
      expect(userTexts(applyWithoutConsent([...messages, assistantMessage('n', 'Yes.')]))).toEqual([own.content]);
  });

  it('[C2] [U4] get unique ids when a run starts, so that none is lost', () => {
    for (const messages of both) {
      const begun = initialMessages(aChainInput({ messages }));
      expect(begun.slice(0, 2).map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
      expect(new Set(begun.map(({ id }) => id)).size).toBe(3);
    }
  });
});
