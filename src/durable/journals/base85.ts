/** The alphabet of Z85 (ZeroMQ RFC 32): it contains neither quotes nor backslashes, so JSON strings hold it as it is. */
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

const CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));

/** The value of each digit by its character code. 85 marks a character that is not a digit. */
const VALUES = new Uint8Array(256).fill(85);
for (const [value, code] of CODES.entries()) VALUES[code] = value;

/** Four bytes become five characters; the last one to three bytes become one character more than they are, as in Ascii85. */
export function encodeBase85(bytes: Uint8Array): string {
  const whole = Math.floor(bytes.length / 4);
  const rest = bytes.length % 4;
  const out = Buffer.allocUnsafe(whole * 5 + (rest === 0 ? 0 : rest + 1));
  for (let at = 0, to = 0; at < bytes.length; at += 4, to += 5) {
    const count = Math.min(4, bytes.length - at) + 1;
    let group = 0;
    for (let place = 0; place < 4; place += 1) group = group * 256 + (bytes[at + place] ?? 0);
    for (let place = 4; place >= 0; place -= 1) {
      if (place < count) out[to + place] = CODES[group % 85] as number;
      group = Math.floor(group / 85);
    }
  }
  return out.toString('latin1');
}

/** Returns null for a text that `encodeBase85` does not return. */
export function decodeBase85(text: string): Uint8Array | null {
  const rest = text.length % 5;
  if (rest === 1) return null;
  const bytes = Buffer.allocUnsafe(Math.floor(text.length / 5) * 4 + (rest === 0 ? 0 : rest - 1));
  for (let at = 0, to = 0; at < text.length; at += 5, to += 4) {
    let group = 0;
    for (let place = 0; place < 5; place += 1) {
      const value = at + place < text.length ? (VALUES[text.charCodeAt(at + place)] ?? 85) : 84;
      if (value === 85) return null;
      group = group * 85 + value;
    }
    if (group >= 2 ** 32) return null;
    for (let place = 3; place >= 0; place -= 1) {
      if (to + place < bytes.length) bytes[to + place] = group % 256;
      group = Math.floor(group / 256);
    }
  }
  return bytes;
}
