/**
 * The most that a DOCX file may unpack to, in bytes. The package `mammoth` holds XML in memory as a tree of many times its size. Pictures
 * are not read, so the whole file may be larger.
 */
const MAX_XML_BYTES = 20_000_000;
const MAX_BYTES = 50_000_000;

const STORED = 0;
const DEFLATED = 8;

/** A file in a ZIP archive: its path, its size when unpacked as the archive declares it, and its packed content. */
export interface ZipEntry {
  readonly path: string;
  readonly size: number;
  readonly method: number;
  readonly packed: Buffer;
}

/**
 * Returns why a DOCX file must not be unpacked, or null. First checks the sizes that it declares, then that none of its parts is larger
 * than declared. Throws if it is damaged. Requires Node.
 */
export function unpackProblem(entries: readonly ZipEntry[]): string | null {
  const sum = (some: readonly ZipEntry[]): number => some.reduce((total, { size }) => total + size, 0);
  const limits = [
    { bytes: MAX_XML_BYTES, declared: sum(entries.filter(({ path }) => !path.startsWith('word/media/'))) },
    { bytes: MAX_BYTES, declared: sum(entries) },
  ];
  const exceeded = limits.find(({ bytes, declared }) => declared > bytes);
  if (exceeded !== undefined) return `it unpacks to more than ${exceeded.bytes / 1e6} MB`;
  for (const entry of entries) contentOf(entry);
  return null;
}

/** Returns the content of an entry. Throws if it is larger than declared. */
export function contentOf({ path, size, method, packed }: ZipEntry): Buffer {
  const { inflateRawSync } = process.getBuiltinModule('node:zlib');
  if (method === DEFLATED) return inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  if (method !== STORED || packed.length > size) throw new Error(`${path} is not ${size} bytes`);
  return packed;
}

/** Returns a ZIP archive with the entries, one of which has other content. It has no checksums. */
export function zipOf(entries: readonly ZipEntry[], changed: string, content: Buffer): Buffer {
  const [files, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const entry of entries) {
    const isChanged = entry.path === changed;
    const [data, size] = isChanged ? [content, content.length] : [entry.packed, entry.size];
    const name = Buffer.from(entry.path);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(isChanged ? STORED : entry.method, 4);
    header.writeUInt32LE(data.length, 14);
    header.writeUInt32LE(size, 18);
    header.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    files.push(Buffer.from('PK\x03\x04', 'latin1'), header, name, data);
    directory.push(Buffer.from('PK\x01\x02\0\0', 'latin1'), header, place, name);
    offset += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, ...directory, end]);
}

/** Reads the central directory, which is at the end of the archive. Throws if there is none. ZIP64 archives are rejected: they are for more than 4 GB. */
export function* zipEntries(file: Buffer): Generator<ZipEntry> {
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
