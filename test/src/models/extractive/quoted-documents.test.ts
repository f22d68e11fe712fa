import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/chain/create-post-chain.ts';
import { createPassageIndex } from '../../../../src/documents/passage-index.ts';
import { documentsFrom } from '../../../../src/documents/read-document.ts';

async function answerFrom(path: string, text: string, request: string) {
  const { documents } = await documentsFrom([{ path, text }]);
  return createPostChain({ documents: createPassageIndex(documents) }).run({ request }).answer;
}

describe('the first paragraph of a document', () => {
  const [OPENS, ASKED] = ['The library opens at nine', 'When does the library open?'];

  it.each([
    ['without a full stop', 'a.txt', `${OPENS}\n\nParking is free`],
    ['with an exclamation mark', 'a.md', `${OPENS}!\n\nParking is free.`],
    ['with a question mark', 'a.txt', 'Did you know that the library opens at nine?\n\nParking is free.'],
    ['with an ellipsis', 'a.txt', `${OPENS}…\n\nParking is free.`],
    ['with a bracket', 'a.md', `${OPENS} (on weekdays)\n\nParking is free`],
    ['with a greater-than sign', 'a.txt', `${OPENS} > the cafe opens at ten\n\nParking is free`],
    ['hard-wrapped', 'a.txt', `${OPENS} in the morning\nand closes at five\n\nParking is free.`],
    ['in HTML', 'a.html', `<p>${OPENS}</p><p>Parking is free</p>`],
    ['in JSON', 'a.json', `["${OPENS}","Parking is free"]`],
    ['that is a question', 'a.txt', `${ASKED}\n\nAt nine.\n\nWhat does parking cost?\n\nIt is free.`],
  ])('%s can be quoted', async (_, path, text) => {
    expect((await answerFrom(path, text, ASKED)).answerText).toMatch(/nine/);
  });

  it.each([
    ['ห้องสมุดเปิดเก้าโมงเช้า', 'ที่จอดรถฟรี', 'ห้องสมุดเปิดกี่โมง'],
    ['पुस्तकालय नौ बजे खुलता है।', 'पार्किंग मुफ़्त है।', 'पुस्तकालय कब खुलता है?'],
    ['تفتح المكتبة في التاسعة', 'موقف السيارات مجاني', 'متى تفتح المكتبة؟'],
    ['图书馆九点开门', '停车免费', '图书馆几点开门？'],
  ])('can be quoted in any language: %s', async (first, second, asked) => {
    expect((await answerFrom('a.txt', `${first}\n\n${second}`, asked)).answerText).toBe(first);
  });

  it('that ends in a question is quoted with the paragraph that answers it, and no other', async () => {
    const faq = `${ASKED}\n\nAt nine.\n\nWhat does parking cost?\n\nIt is free.`;
    expect((await answerFrom('a.txt', faq, 'What does parking cost?')).answerText).toBe(
      'What does parking cost?\n\nIt is free.',
    );
  });
});
