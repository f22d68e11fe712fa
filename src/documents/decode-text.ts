/** Bytes as text, and the encoding that they were read in. */
export interface DecodedText {
  readonly text: string;
  readonly encoding: string;
}

const BOMS: readonly (readonly [encoding: string, bom: readonly number[]])[] = [
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
const PROBE_BYTES = 8_192;
/** The detector reads the start; its result is checked on the whole text. */
const SAMPLE_BYTES = 65_536;
const DECLARED = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]+)|^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w-]+)/iu;

/**
 * Returns bytes as text; null if they are binary. The encoding is that of the byte order mark, or UTF-16 or UTF-8 if the bytes are valid in it;
 * otherwise the one that HTML or XML declares, and last the most plausible one that a detector finds.
 */
export async function decodeText(bytes: Uint8Array): Promise<DecodedText | null> {
  const [marked] = BOMS.find(([, bom]) => bom.every((byte, at) => bytes[at] === byte)) ?? [];
  if (marked !== undefined) return decoded(bytes, marked);
  if (bytes.subarray(0, PROBE_BYTES).includes(0)) return decoded(bytes, utf16Of(bytes) ?? '');
  const start = String.fromCharCode(...bytes.subarray(0, 1_024));
  const isIso2022 = ['\u001B$', '\u001B('].some((sequence) => start.includes(sequence));
  const plain = isIso2022 ? null : decoded(bytes, 'utf-8');
  if (plain !== null) return plain;
  const [, inHtml, inXml] = DECLARED.exec(start) ?? [];
  const declared = decoded(bytes, inHtml ?? inXml ?? '');
  return declared ?? (await detected(bytes));
}

/** In UTF-16, Latin letters and line breaks have a zero byte, nearly always on the same side. */
function utf16Of(bytes: Uint8Array): string | null {
  const zeros = [0, 0];
  for (const [at, byte] of bytes.subarray(0, PROBE_BYTES).entries())
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (bytes.length % 2 === 1 || Math.min(even, odd) * 4 > Math.max(even, odd)) return null;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Control characters and code points without a character: their presence means another encoding, or no text. */
const NO_TEXT = /(?![\s\u0085])[\p{Cc}\p{Cn}\p{Co}]/gu;
const MAX_NO_TEXT = 0.001;

function decoded(bytes: Uint8Array, encoding: string): DecodedText | null {
  try {
    const text = encoding.startsWith('utf-32') ? utf32(bytes, encoding === 'utf-32le') : western(bytes, encoding);
    const bad = encoding === 'utf-8' ? 0 : (text.match(NO_TEXT)?.length ?? 0);
    return bad > MAX_NO_TEXT * text.length ? null : { text, encoding: encoding.toLowerCase() };
  } catch {
    return null;
  }
}

function utf32(bytes: Uint8Array, littleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const characters: string[] = [];
  for (let at = 4; at + 3 < bytes.length; at += 4)
    characters.push(String.fromCodePoint(view.getUint32(at, littleEndian)));
  return characters.join('');
}

/** The characters of the bytes 0x80 to 0x9F in Windows-1252, which Node 20 decodes as control characters. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';

function western(bytes: Uint8Array, label: string): string {
  const decoder = new TextDecoder(label, { fatal: true });
  const text = decoder.decode(bytes);
  return decoder.encoding === 'windows-1252'
    ? text.replace(/\p{Cc}/gu, (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control)
    : text;
}

/** Letters of different scripts in a word, a sign between letters, or a capital after a small letter. */
const ODD =
  /\p{sc=Latin}(?=(?!\p{sc=Latin})\p{L})|(?!\p{sc=Latin})\p{L}(?=\p{sc=Latin})|\p{L}(?=[\u00A1-\u00BF×÷¤]\p{L})|\p{Ll}(?=\p{Lu})|[\uFF61-\uFF9F](?=\p{sc=Han})/gu;
/** An encoding that the detector does not know, and the most frequent one. */
const MORE = ['windows-874', 'windows-1252'];

/** Returns the text in the encoding with the highest confidence of the detector, less the share of words that no language has. */
async function detected(bytes: Uint8Array): Promise<DecodedText | null> {
  const { analyse } = await import('chardet');
  const found = analyse(bytes.subarray(0, SAMPLE_BYTES)).map(({ name, confidence }) => ({
    name: name as string,
    confidence,
  }));
  const candidates = [...found, ...MORE.map((name) => ({ name, confidence: 1 }))].flatMap(({ name, confidence }) => {
    const result = name === 'ASCII' ? null : decoded(bytes, name);
    if (result === null) return [];
    const sample = result.text.slice(0, SAMPLE_BYTES);
    const foreign = sample.match(/[^\p{ASCII}]/gu)?.length ?? 1;
    return [{ ...result, score: confidence / 100 - (sample.match(ODD)?.length ?? 0) / foreign }];
  });
  const [best] = candidates.sort((left, right) => right.score - left.score);
  // ISO 8859-15 has the euro sign where ISO 8859-1 has the generic currency sign.
  return best?.encoding === 'iso-8859-1' && best.text.includes('¤') ? decoded(bytes, 'iso-8859-15') : (best ?? null);
}
