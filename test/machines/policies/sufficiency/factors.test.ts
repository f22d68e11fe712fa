import { describe, expect, it } from 'vitest';
import { sufficiencyOf } from '../../../../machines/heuristics/sufficiency.ts';

const factors = (request: string, ...contents: readonly string[]) =>
  sufficiencyOf(
    request,
    contents.map((content, at) => ({ id: `m${at}`, content })),
  ).factors;

describe('the factors of sufficiency', () => {
  describe('alone', () => {
    const alone = (request: string, ...contents: readonly string[]) => factors(request, ...contents)['alone'];

    it('is the square of the share that the best sentence has [Y3]', () => {
      expect(alone('old ferry of Kvikne, blue', 'An old ferry sails. Kvikne is far.')).toBe(0.25);
      expect(alone('old ferry of Kvikne, blue', 'An old ferry', 'The old ferry of Kvikne')).toBe(0.75 ** 2);
    });

    it('counts the title with each sentence [Y3]', () => {
      expect(alone('old ferry of Kvikne', 'Kvikne\nSheep graze. The old ferry sails.')).toBe(1);
    });

    it('counts general words less than those that tell [Y3]', () => {
      const without = alone('old ferry handled', 'An old ferry') ?? 0;
      expect(without).toBeGreaterThan((2 / 3) ** 2);
      expect(without).toBeLessThan(1);
    });
  });

  describe('names', () => {
    const names = (request: string, ...contents: readonly string[]) => factors(request, ...contents)['names'];

    it.each([
      ['as the title', 'Anna Lie\nShe sails.', 1],
      ['in the title', 'Songs of Anna Lie\nThey rhyme.', 0.9],
      ['in the first sentence after it', 'Boats\nAnna Lie sails. It rains.', 0.7],
      ['in the first sentence without a title', 'Anna Lie sails. It rains.', 0.7],
      ['further down', 'Boats\nIt rains. Anna Lie sails.', 0.5],
      ['in pieces within a sentence', 'Boats\nIt rains. Anna, born Lie, sails.', 0.4],
      ['in pieces of two sentences', 'Boats\nAnna sails. Lie is a town.', 0],
    ])('finds a name %s [Y3]', (_, content, placed) => {
      expect(names('Where does Anna Lie sail?', content)).toBe(placed);
    });

    it('is that of the name which is found worst [Y3]', () => {
      expect(names('Did Anna Lie sail to Bergen?', 'Anna Lie\nShe sails.', 'Bergen is a port.')).toBe(0.7);
      expect(names('Did Anna Lie sail to Bergen?', 'Anna Lie\nShe sails.')).toBe(0);
    });

    it('takes what is quoted for a name, whatever its letters [Y3]', () => {
      expect(names('Who sang "the old boats"?', 'They sang. Boats rot. An old song.')).toBe(0);
      expect(names('Who sang "the old boats"?', 'The Old Boats\nA song.')).toBe(1);
    });

    it('takes a word that only opens the request for none [Y3]', () => {
      expect(names('Besides Bergen, where does it sail?', 'Bergen\nA port.')).toBe(1);
      expect(names('Explain Bergen', 'Bergen\nA port.')).toBe(1);
    });

    it('is the share of the words that anything has where the request names nothing [Y3]', () => {
      expect(names('old ferry handled', 'An old boat', 'The ferry is handled')).toBe(1);
      expect(names('old ferry', 'An old boat')).toBe(0.5);
    });
  });

  describe('link, complement, together', () => {
    const request = 'Who built the ship that Anna Lie sails?';
    const sails = 'Anna Lie\nShe sails the Aurora Borealis.';

    it('rise with a linked text that has further words of the request [Y3]', () => {
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

    it('count what stands where the link is, and not what stands elsewhere [Y3]', () => {
      const near = factors(request, sails, 'It rains. A yard built the ship Aurora Borealis.');
      const far = factors(request, sails, 'A yard built a ship. It rains on the Aurora Borealis.');
      expect(near['together']).toBeGreaterThan(far['together'] ?? 1);
      expect(near['complement']).toBe(far['complement']);
    });

    it('count the best sentence of a text that is about what links [Y3]', () => {
      const best = factors(request, sails, 'Aurora Borealis\nIt is blue. It rains. A yard built it as a ship.');
      expect(best['together']).toBe(1);
    });

    it('are weaker through a title that several texts mention [Y3]', () => {
      const boat = 'Aurora Borealis\nA yard built it.';
      const one = factors(request, sails, boat)['link'] ?? 0;
      const two = factors(request, sails, boat, 'Some sailors left the Aurora Borealis.')['link'] ?? 0;
      expect(two).toBeGreaterThan(0);
      expect(two).toBeLessThan(one);
    });

    it('take a word for a mention of a title only where it stands as a name [Y3]', () => {
      expect(factors(request, 'Anna Lie\nShe sails at dawn.', 'Dawn\nA yard built it.')['link']).toBe(0);
      expect(factors(request, 'Anna Lie\nShe sails the Dawn.', 'Dawn\nA yard built it.')['link']).toBe(1);
    });
  });

  describe('steps', () => {
    const request = 'Who built the ship that Anna Lie sails?';

    it('is the share of linked texts in those that the request seems to take [Y3]', () => {
      const sails = 'Anna Lie\nShe sails the Aurora Borealis.';
      expect(factors(request, sails)['steps']).toBe(0.5);
      expect(factors(request, sails, 'Yards\nThey built a ship.')['steps']).toBe(0.5);
      expect(factors(request, sails, 'Aurora Borealis\nA yard built it.')['steps']).toBe(1);
      expect(factors(request, sails, 'Aurora Borealis\nThe Sund Yard built it.', 'Sund Yard\nA yard.')['steps']).toBe(
        1,
      );
    });

    it('is half with a single text, which is no chain, however little the request describes [Y3]', () => {
      expect(factors('Where does Anna Lie sail?', 'Anna Lie\nShe sails the Aurora Borealis.')['steps']).toBe(0.5);
    });

    it('takes nothing within quotes for a description [Y3]', () => {
      const texts = ['Anna Lie\nShe knew Henrik Vold.', 'Henrik Vold\nHe wrote songs.'];
      expect(factors('Did "the boats of the king of the town" move Anna Lie?', ...texts)['steps']).toBe(1);
      expect(factors('Did the boats of the king of the town move Anna Lie?', ...texts)['steps']).toBe(0.5);
    });

    it('counts no texts that have nothing of what the request names [Y3]', () => {
      expect(factors(request, 'Aurora Borealis\nIt was built by Sund Yard.', 'Sund Yard\nA yard.')['steps']).toBe(0);
    });
  });
});
