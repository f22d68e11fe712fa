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

describe('a sign that belongs to a word or number', () => {
  it.each([
    ['The C# course costs 20 euros.', 'The C++ course costs 10 euros.', 'What does the C# course cost?'],
    ['The C course costs 5 euros.', 'The C++ course costs 10 euros.', 'What does the C course cost?'],
    ['The F# course costs 10 euros.', 'The F course costs 5 euros.', 'What does the F# course cost?'],
    ['Grade A costs 5 euros.', 'Grade A+ costs 9 euros.', 'What does grade A cost?'],
    ['Blood group A− needs 5 units.', 'Blood group A+ needs 9 units.', 'How many units does blood group A- need?'],
    ['At −5 °C the heater starts.', 'At 5 °C the pump stops.', 'What happens at -5 °C?'],
    ['At 5 °C the pump stops.', 'At -5 °C the heater starts.', 'What happens at 5 °C?'],
    ['At –5 °C the heater starts.', 'At 5 °C the pump stops.', 'What happens at minus 5 °C?'],
    ['The .NET course costs 10 euros.', 'The NET course costs 20 euros.', 'What does the .NET course cost?'],
    ['The NET course costs 20 euros.', 'The .NET course costs 10 euros.', 'What does the NET course cost?'],
    ['Use @HOME for the host.', 'Use $HOME for the folder.', 'What is @HOME used for?'],
    ['The option --v prints all.', 'The option -v prints the version.', 'What does the option --v do?'],
    ['A parcel <5 kg costs 4 euros.', 'A parcel >5 kg costs 9 euros.', 'What does a parcel < 5 kg cost?'],
    ['The R&D office opens at 9.', 'The R+D office opens at 7.', 'When does the R & D office open?'],
    ['Version 1.5 costs 10 euros.', 'Version 15 costs 20 euros.', 'What does version 1.5 cost?'],
    ['Part AB-12 costs 10 euros.', 'Part AB/12 costs 20 euros.', 'What does part AB-12 cost?'],
    ['Model X-100 costs 10 euros.', 'Model X/100 costs 20 euros.', 'What does model X-100 cost?'],
    ['The 24/7 tariff costs 10 euros.', 'The 7/24 tariff costs 20 euros.', 'What does the 24/7 tariff cost?'],
    [
      'The voucher of €5 has a red cover.',
      'The voucher of $5 has a blue cover.',
      'Which cover has the voucher of 5 euros?',
    ],
    ['A discount of 5 % needs a card.', 'A discount of 5 € needs a coupon.', 'What does a discount of 5 percent need?'],
    ['A room of 10 m² costs 40 euros.', 'A room of 10 m³ costs 70 euros.', 'What does a room of 10 m2 cost?'],
    ['The limit of 10² files is soft.', 'The limit of 102 files is hard.', 'How strict is the limit of 10^2 files?'],
    ['A bag of 5kg costs 10 euros.', 'A bag of 5 g costs 1 euro.', 'What does a bag of 5 kg cost?'],
  ])('chooses %j over %j', async (right, wrong, asked) => {
    for (const [first, second] of [
      [right, wrong],
      [wrong, right],
    ])
      expect((await answerFrom('a.md', `# Info\n\n${first}\n\n${second}`, asked)).answerText).toBe(right);
    const { confidence } = await answerFrom('a.md', `# Info\n\n${wrong}`, asked);
    expect(confidence).toBeLessThan(0.5);
  });
});

describe('a row of a table', () => {
  const rows = Array.from({ length: 60 }, (_, at) => [`Town${at}`, `${at + 100}`]);
  const table = (delimiter: string): string =>
    [['town', 'fee'], ...rows].map((row) => row.join(delimiter)).join('\r\n');

  it.each([
    ['a.csv', table(',')],
    ['a.tsv', table('\t')],
    ['a.csv', `\uFEFF${table(';')}`],
    ['a.psv', table('|')],
    ['a.txt', table('\t')],
  ])('in %s is quoted with its header', async (path, text) => {
    const { answerText, status } = await answerFrom(path, text, 'What is the fee of Town50?');
    expect([answerText, status]).toEqual(['| town | fee |\n| --- | --- |\n| Town50 | 150 |', 'completed']);
  });

  it.each([
    'What does standard shipping to Switzerland cost?',
    'How much is standard shipping to Switzerland?',
    'What is the price of standard shipping to Switzerland?',
  ])('answers %j, or the notes name the word that is missing', async (asked) => {
    for (const unit of ['', ' (euros)']) {
      const text = `# Shipping\n\n| destination | standard${unit} |\n| --- | --- |\n| Germany | 4.90 |\n| Switzerland | 18.50 |\n`;
      const { answerText, status, notes } = await answerFrom('a.md', text, asked);
      expect(answerText).toContain('Switzerland | 18.50');
      if (status !== 'completed') expect(notes).toMatch(/Not quoted: "price"/u);
    }
  });

  it('without the kind of information that is asked for is degraded, and the notes say so', async () => {
    const text = 'destination,standard\nGermany,fast\nSwitzerland,slow\n';
    const { status, notes } = await answerFrom('a.csv', text, 'What does standard delivery to Switzerland cost?');
    expect([status, notes]).toEqual(['degraded', expect.stringContaining('"cost"')]);
  });
});
