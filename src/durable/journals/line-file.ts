/** Loaded on use, because durable machines also run in browsers, which have no file system. */
export const fs = () => process.getBuiltinModule('node:fs');
export const paths = () => process.getBuiltinModule('node:path');

/** A digest for names, in hexadecimal digits. */
export const nameDigest = (text: string): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(JSON.stringify(text)).digest('hex').slice(0, 32);

const LINE_FEED = 0x0a;
/** Most lines are short, and a directory may have many files: longer chunks follow shorter ones. */
const FIRST_CHUNK_BYTES = 4_096;
const MAX_CHUNK_BYTES = 65_536;

/** Yields the complete lines of a file after the first `from`. Only `\n` ends a line: JSON text may contain other line separators unescaped. */
export async function* linesOfFile(path: string, from = 0): AsyncGenerator<string> {
  let pending: string[] = [];
  let count = 0;
  for await (const chunk of fs().createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n');
    pending.push(first);
    for (const other of others) {
      const line = pending.join('');
      pending = [other];
      // Editors may add Windows line endings and empty lines.
      const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (trimmed === '') continue;
      count += 1;
      if (count > from) yield trimmed;
    }
  }
}

/** Yields the complete lines of a file, the last one first. */
export function* linesOfFileBackward(path: string): Generator<string> {
  const file = fs().openSync(path, 'r');
  try {
    for (let end = lastLineEnd(file, fs().fstatSync(file).size), start = end; end > 0; end = start) {
      start = lastLineEnd(file, end - 1);
      const line = readBytes(file, start, end - 1)
        .toString('utf8')
        .trimEnd();
      if (line !== '') yield line;
    }
  } finally {
    fs().closeSync(file);
  }
}

/** Truncates a file after its last line feed. Calls `check` once the file is open: a process that then takes over replaces the file. */
export function dropTornLine(path: string, check: () => void): void {
  const truncate = (file: number, size: number): void => {
    check();
    const end = lastLineEnd(file, size);
    if (end !== size) fs().ftruncateSync(file, end);
  };
  withFile(path, truncate, 'r+');
}

/** Returns the first and the last complete line of a file; both are empty if there is none. */
export function firstAndLastLine(path: string): { readonly first: string; readonly last: string } {
  return withFile(path, (file, size) => {
    const end = lastLineEnd(file, size);
    if (end === 0) return { first: '', last: '' };
    const start = lastLineEnd(file, end - 1);
    return { first: firstLine(file, end), last: readBytes(file, start, end - 1).toString('utf8') };
  });
}

function withFile<Value>(path: string, use: (file: number, size: number) => Value, flags = 'r'): Value {
  const file = fs().openSync(path, flags);
  try {
    return use(file, fs().fstatSync(file).size);
  } finally {
    fs().closeSync(file);
  }
}

/** Returns the offset after the last line feed before `before`, or 0 if there is none. */
function lastLineEnd(file: number, before: number): number {
  let chunkBytes = FIRST_CHUNK_BYTES;
  for (let end = before; end > 0; end -= chunkBytes, chunkBytes = longer(chunkBytes)) {
    const start = Math.max(0, end - chunkBytes);
    const at = readBytes(file, start, end).lastIndexOf(LINE_FEED);
    if (at >= 0) return start + at + 1;
  }
  return 0;
}

function firstLine(file: number, end: number): string {
  const chunks: Buffer[] = [];
  let chunkBytes = FIRST_CHUNK_BYTES;
  for (let start = 0; start < end; start += chunkBytes, chunkBytes = longer(chunkBytes)) {
    const chunk = readBytes(file, start, Math.min(end, start + chunkBytes));
    const at = chunk.indexOf(LINE_FEED);
    chunks.push(at < 0 ? chunk : chunk.subarray(0, at));
    if (at >= 0) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

const longer = (bytes: number): number => Math.min(MAX_CHUNK_BYTES, bytes * 4);

function readBytes(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(end - start);
  return bytes.subarray(0, fs().readSync(file, bytes, 0, bytes.length, start));
}
