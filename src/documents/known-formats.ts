/** Files that are not read, by extension: their format, and what to do. */
const UNREAD: Readonly<Record<string, string>> = {
  ...named('an Excel workbook', 'export its sheets as CSV', 'xlsx xlsm xls'),
  ...named('an OpenDocument spreadsheet', 'export its sheets as CSV', 'ods'),
  ...named('a Word document in the old format', 'save it as DOCX', 'doc dot'),
  ...named('a presentation', 'export it as PDF', 'pptx ppt odp'),
  ...named('an OpenDocument text', 'save it as DOCX', 'odt'),
  ...named('an RTF file', 'save it as DOCX', 'rtf'),
  ...named('an e-book', 'convert it to HTML', 'epub'),
  ...named('an email', 'save its text as TXT or HTML', 'eml msg mbox'),
  ...named('an image', 'attach it to the request, or read its text with OCR', 'png jpg gif webp tiff'),
  ...named('an archive', 'unpack it', 'zip gz bz2 xz 7z rar tar'),
};

function named(format: string, advice: string, extensions: string): Readonly<Record<string, string>> {
  const reason = `it is ${format}, which is not supported; ${advice}`;
  return Object.fromEntries(extensions.split(' ').map((extension) => [extension, reason]));
}

/** Office and mail files, which people expect to be read. */
export const UNREAD_EXTENSIONS = 'xlsx xlsm xls ods doc pptx ppt odp odt rtf epub eml msg mbox'.split(' ');

/** How files of a format begin. */
const STARTS: readonly (readonly [extension: string, start: RegExp])[] = [
  ['pdf', /^\s*%PDF-\d/],
  ['rtf', /^\{\\rtf/],
  ['png', /^\u0089PNG/],
  ['jpg', /^\u00FF\u00D8\u00FF/],
  ['gif', /^GIF8[79]a/],
  ['webp', /^RIFF.{4}WEBP/su],
  ['tiff', /^(?:II\*\p{Cc}|MM\p{Cc}\*)/u],
  ['gz', /^\p{Cc}\u008B\p{Cc}/u],
  ['bz2', /^BZh\d/],
  ['xz', /^\u00FD7zXZ/],
  ['7z', /^7z\u00BC\u00AF/],
  ['rar', /^Rar!/],
  ['tar', /^.{257}ustar/su],
  [
    'eml',
    /^(?:From [^\n]+\n)?(?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?:Received|MIME-Version|Message-ID|Return-Path):/i,
  ],
];
/** Paths in a ZIP archive, and streams in an OLE file, by format. */
const PARTS: readonly (readonly [extension: string, part: string])[] = [
  ['docx', 'word/document'],
  ['xlsx', 'xl/workbook'],
  ['pptx', 'ppt/presentation'],
  ['odt', 'application/vnd.oasis.opendocument.text'],
  ['ods', 'application/vnd.oasis.opendocument.spreadsheet'],
  ['odp', 'application/vnd.oasis.opendocument.presentation'],
  ['epub', 'application/epub+zip'],
  ['doc', 'W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t'],
  ['xls', 'W\0o\0r\0k\0b\0o\0o\0k'],
  ['ppt', 'P\0o\0w\0e\0r\0P\0o\0i\0n\0t'],
  ['msg', '_\0_\0s\0u\0b\0s\0t\0g'],
];

const START_BYTES = 2_048;

/** Returns the extension of the format that a file's bytes or text have, whatever its name; null if it may be text. */
function formatOf(content: Uint8Array | string): string | null {
  const start = typeof content === 'string' ? content.slice(0, START_BYTES) : latin1(content.subarray(0, START_BYTES));
  const [isZip, isOle] = [start.startsWith('PK\u0003\u0004'), start.startsWith('\u00D0\u00CF\u0011\u00E0')];
  if (!isZip && !isOle) return STARTS.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
  const whole = typeof content === 'string' ? content : latin1(content);
  return PARTS.find(([, part]) => whole.includes(part))?.[0] ?? (isZip ? 'zip' : 'doc');
}

const CHUNK_BYTES = 8_192;

function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
    text += String.fromCharCode(...bytes.subarray(from, from + CHUNK_BYTES));
  return text;
}

/** Returns how a document is to be read, by its content whatever its name says; or why it is not read. */
export function typeOfContent<Type extends string>(
  extension: string,
  type: Type | null,
  content: Uint8Array | string,
): { readonly type: Type | 'pdf' | 'docx' | 'text' } | string {
  const format = formatOf(content);
  if (format === 'pdf' || format === 'docx')
    return { type: typeof content === 'string' && type !== null ? type : format };
  return UNREAD[format ?? ''] ?? (type === null ? UNREAD[extension] : undefined) ?? { type: type ?? 'text' };
}
