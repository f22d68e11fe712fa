import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeBase85, encodeBase85 } from '../../../../src/durable/journals/base85.ts';

it('encodes the example of ZeroMQ RFC 32', () => {
  const bytes = Uint8Array.from([0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b]);
  expect(encodeBase85(bytes)).toBe('HelloWorld');
});

it('decodes what it encodes, which JSON does not escape', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = encodeBase85(bytes);
      expect(text).toHaveLength(Math.ceil((bytes.length * 5) / 4));
      expect(JSON.stringify(text)).toBe(`"${text}"`);
      expect(Uint8Array.from(decodeBase85(text) ?? [])).toEqual(bytes);
    }),
  );
});

it.each(['0', '000000', '####"', 'ab cd', '00000\u0100', '#####'])('rejects %j', (text) => {
  expect(decodeBase85(text)).toBeNull();
});
