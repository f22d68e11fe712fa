/**
 * The most that a DOCX file may unpack to, in bytes. The package `mammoth` holds XML in memory as a tree of many times its size. Pictures
 * are not read, so the whole file may be larger.
 */
const MAX_XML_BYTES = 20_000_000;
const MAX_BYTES = 50_000_000;

const STORED = 0;
const DEFLATED = 8;

/** A file in a ZIP archive: its path, its size when unpacked as the archive declares it, and its packed content. */
interface ZipEntry {
  readonly path: string;
  readonly size: number;
  readonly method: number;
  readonly packed: Buffer;
}

/**
 * Returns why a DOCX file must not be unpacked, or null. First checks the sizes that it declares, then that none of its parts is larger
 * than declared. Throws if it is not a ZIP archive or is damaged. Requires Node.
 */
export function unpackProblem(file: Buffer): string | null {
  const entries = [...entriesOf(file)];
  const sum = (some: readonly ZipEntry[]): number => some.reduce((total, { size }) => total + size, 0);
  const limits = [
    { bytes: MAX_XML_BYTES, declared: sum(entries.filter(({ path }) => !path.startsWith('word/media/'))) },
    { bytes: MAX_BYTES, declared: sum(entries) },
  ];
  const exceeded = limits.find(({ bytes, declared }) => declared > bytes);
  if (exceeded !== undefined) return `it unpacks to more than ${exceeded.bytes / 1e6} MB`;
  for (const entry of entries) requireDeclaredSize(entry);
  return null;
}

function requireDeclaredSize({ path, size, method, packed }: ZipEntry): void {
  const { inflateRawSync } = process.getBuiltinModule('node:zlib');
  if (method === DEFLATED) inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  else if (method !== STORED || packed.length > size) throw new Error(`${path} is not ${size} bytes`);
}

/** Reads the central directory, which is at the end of the archive. ZIP64 archives are rejected: they are for more than 4 GB. */
function* entriesOf(file: Buffer): Generator<ZipEntry> {
  const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const [size, offset] = [file.readUInt32LE(end + 12), file.readUInt32LE(end + 16)];
  // Bytes before the archive shift all offsets.
  const start = end - size - offset;
  if (end < 0 || start < 0 || file.readUInt16LE(end + 8) === 0xffff) throw new Error('not a ZIP archive');
  for (let at = start + offset; file.toString('latin1', at, at + 4) === 'PK\x01\x02'; ) {
    const [name, extra, comment] = [28, 30, 32].map((field) => file.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const local = start + file.readUInt32LE(at + 42);
    const from = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    yield {
      path: file.toString('utf8', at + 46, at + 46 + name),
      size: file.readUInt32LE(at + 24),
      method: file.readUInt16LE(at + 10),
      packed: file.subarray(from, from + file.readUInt32LE(at + 20)),
    };
    at += 46 + name + extra + comment;
  }
}
