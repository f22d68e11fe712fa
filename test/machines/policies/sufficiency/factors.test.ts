import { describe, expect, it } from 'vitest';
import { sufficiencyOf } from '../../../../machines/heuristics/sufficiency.ts';

const factors = (request: string, ...contents: readonly string[]) =>
  sufficiencyOf(
    request,
    contents.map((content, at) => ({ id: `m${at}`, content })),
  ).factors;

describe('sufficiency factors', () => {
  describe('the alone factor', () => {
    const alone = (request: string, ...contents: readonly string[]) => factors(request, ...contents)['alone'];

    it('[Y3] is the square of the share covered by the best sentence', () => {
      expect(alone('old ferry of Kvikne, blue', 'An old ferry sails. Kvikne is far.')).toBe(0.25);
      expect(alone('old ferry of Kvikne, blue', 'An old ferry', 'The old ferry of Kvikne')).toBe(0.75 ** 2);
    });

    it('[Y3] counts the title with each sentence', () => {
      expect(alone('old ferry of Kvikne', 'Kvikne\nSheep graze. The old ferry sails.')).toBe(1);
    });

    it('[Y3] weights general words less than specific ones', () => {
      const without = alone('old ferry handled', 'An old ferry') ?? 0;
      expect(without).toBeGreaterThan((2 / 3) ** 2);
      expect(without).toBeLessThan(1);
    });
  });

  describe('the names factor', () => {
    const names = (request: string, ...contents: readonly string[]) => factors(request, ...contents)['names'];

    it.each([
      ['that is the title', 'Anna Lie\nShe sails.', 1],
      ['in the title', 'Songs of Anna Lie\nThey rhyme.', 0.9],
      ['in the first sentence after it', 'Boats\nAnna Lie sails. It rains.', 0.7],
      ['in the first sentence without a title', 'Anna Lie sails. It rains.', 0.7],
      ['further down in the text', 'Boats\nIt rains. Anna Lie sails.', 0.5],
      ['in pieces within one sentence', 'Boats\nIt rains. Anna, born Lie, sails.', 0.4],
      ['in pieces across two sentences', 'Boats\nAnna sails. Lie is a town.', 0],
    ])('[Y3] finds a name %s', (_, content, placed) => {
      expect(names('Where does Anna Lie sail?', content)).toBe(placed);
    });

    it('[Y3] equals the score of the least covered name', () => {
      expect(names('Did Anna Lie sail to Bergen?', 'Anna Lie\nShe sails.', 'Bergen is a port.')).toBe(0.7);
      expect(names('Did Anna Lie sail to Bergen?', 'Anna Lie\nShe sails.')).toBe(0);
    });

    it('[Y3] treats quoted text as a name in any case', () => {
      expect(names('Who sang "the old boats"?', 'They sang. Boats rot. An old song.')).toBe(0);
      expect(names('Who sang "the old boats"?', 'The Old Boats\nA song.')).toBe(1);
    });

    it('[Y3] ignores a word that is capitalized only because it opens the request', () => {
      expect(names('Besides Bergen, where does it sail?', 'Bergen\nA port.')).toBe(1);
      expect(names('Explain Bergen', 'Bergen\nA port.')).toBe(1);
    });

    it('[Y3] equals the share of covered words when the request contains no name', () => {
      expect(names('old ferry handled', 'An old boat', 'The ferry is handled')).toBe(1);
      expect(names('old ferry', 'An old boat')).toBe(0.5);
    });
  });

  describe('the link, complement, and together factors', () => {
    const request = 'Who built the ship that Anna Lie sails?';
    const sails = 'Anna Lie\nShe sails the Aurora Borealis.';

    it('[Y3] rise with a linked text that covers more words of the request', () => {
      const idle = factors(request, sails, 'Aurora Borealis\nIt is blue.');
      const further = factors(request, sails, 'Aurora Borealis\nIt was built in a yard.');
      expect(idle).toMatchObject({ link: 0.5, complement: 0 });
      expect(further).toMatchObject({ link: 1, complement: 0.4 });
      expect(further['together']).toBeGreaterThan(idle['together'] ?? 1);
    });

    it('stay 0 without a link [Y3]', () => {
      expect(factors(request, sails, 'A ship was built in a yard.')).toMatchObject({
        link: 0,
        complement: 0,
        together: 0,
      });
    });

    it('[Y3] count words only in the linked sentence', () => {
      const near = factors(request, sails, 'It rains. A yard built the ship Aurora Borealis.');
      const far = factors(request, sails, 'A yard built a ship. It rains on the Aurora Borealis.');
      expect(near['together']).toBeGreaterThan(far['together'] ?? 1);
      expect(near['complement']).toBe(far['complement']);
    });

    it('[Y3] count the best sentence of a text about the linking name', () => {
      const best = factors(request, sails, 'Aurora Borealis\nIt is blue. It rains. A yard built it as a ship.');
      expect(best['together']).toBe(1);
    });

    it('[Y3] are weaker for a title that several texts mention', () => {
      const boat = 'Aurora Borealis\nA yard built it.';
      const one = factors(request, sails, boat)['link'] ?? 0;
      const two = factors(request, sails, boat, 'Some sailors left the Aurora Borealis.')['link'] ?? 0;
      expect(two).toBeGreaterThan(0);
      expect(two).toBeLessThan(one);
    });

    it('[Y3] treat a word as a mention of a title only if it is used as a name', () => {
      expect(factors(request, 'Anna Lie\nShe sails at dawn.', 'Dawn\nA yard built it.')['link']).toBe(0);
      expect(factors(request, 'Anna Lie\nShe sails the Dawn.', 'Dawn\nA yard built it.')['link']).toBe(1);
    });
  });

  describe('the steps factor', () => {
    const request = 'Who built the ship that Anna Lie sails?';

    it('[Y3] is the share of linked texts among the steps that the request requires', () => {
      const sails = 'Anna Lie\nShe sails the Aurora Borealis.';
      expect(factors(request, sails)['steps']).toBe(0.5);
      expect(factors(request, sails, 'Yards\nThey built a ship.')['steps']).toBe(0.5);
      expect(factors(request, sails, 'Aurora Borealis\nA yard built it.')['steps']).toBe(1);
      expect(factors(request, sails, 'Aurora Borealis\nThe Sund Yard built it.', 'Sund Yard\nA yard.')['steps']).toBe(
        1,
      );
    });

    it('[Y3] is half for a single text, however little the request describes', () => {
      expect(factors('Where does Anna Lie sail?', 'Anna Lie\nShe sails the Aurora Borealis.')['steps']).toBe(0.5);
    });

    it('[Y3] does not treat quoted text as a description', () => {
      const texts = ['Anna Lie\nShe knew Henrik Vold.', 'Henrik Vold\nHe wrote songs.'];
      expect(factors('Did "the boats of the king of the town" move Anna Lie?', ...texts)['steps']).toBe(1);
      expect(factors('Did the boats of the king of the town move Anna Lie?', ...texts)['steps']).toBe(0.5);
    });

    it('[Y3] ignores texts without any name of the request', () => {
      expect(factors(request, 'Aurora Borealis\nIt was built by Sund Yard.', 'Sund Yard\nA yard.')['steps']).toBe(0);
    });
  });
});
