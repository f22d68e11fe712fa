/** Taken when it is needed: the rest of PostChain runs where there is none, in a browser say. */
const fs = () => process.getBuiltinModule('node:fs');

const LINE_FEED = 0x0a;
const PIECE = 65_536;

/** The lines of a file, without one that no line feed ends. Only `\n` ends a line: JSON leaves every other line end as it is. */
export async function* linesOfFile(path: string): AsyncGenerator<string> {
  let begun: string[] = [];
  for await (const chunk of fs().createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n');
    begun.push(first);
    for (const other of others) {
      const line = begun.join('');
      begun = [other];
      // A line end of Windows, and empty lines, come of editors.
      const bare = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (bare !== '') yield bare;
    }
  }
}

/** Cuts off what stands behind the last line feed. */
export function dropTornLine(path: string): void {
  const { end, size } = inspect(path, (file, bytes) => ({ end: lineEndBefore(file, bytes), size: bytes }));
  if (end !== size) fs().truncateSync(path, end);
}

/** The first and the last whole line of a file; both empty where there is none. */
export function edgesOf(path: string): { readonly first: string; readonly last: string } {
  return inspect(path, (file, size) => {
    const end = lineEndBefore(file, size);
    if (end === 0) return { first: '', last: '' };
    const start = lineEndBefore(file, end - 1);
    return { first: firstLine(file, end), last: textOf(file, start, end - 1) };
  });
}

function inspect<Value>(path: string, look: (file: number, size: number) => Value): Value {
  const file = fs().openSync(path, 'r');
  try {
    return look(file, fs().fstatSync(file).size);
  } finally {
    fs().closeSync(file);
  }
}

/** Where the newest line ends that ends before this place: just behind its line feed; 0 where none does. */
function lineEndBefore(file: number, before: number): number {
  for (let end = before; end > 0; end -= PIECE) {
    const start = Math.max(0, end - PIECE);
    const at = bytesOf(file, start, end).lastIndexOf(LINE_FEED);
    if (at >= 0) return start + at + 1;
  }
  return 0;
}

function firstLine(file: number, end: number): string {
  const pieces: Buffer[] = [];
  for (let start = 0; start < end; start += PIECE) {
    const piece = bytesOf(file, start, Math.min(end, start + PIECE));
    const at = piece.indexOf(LINE_FEED);
    pieces.push(at < 0 ? piece : piece.subarray(0, at));
    if (at >= 0) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

const textOf = (file: number, start: number, end: number): string => bytesOf(file, start, end).toString('utf8');

function bytesOf(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(end - start);
  fs().readSync(file, bytes, 0, bytes.length, start);
  return bytes;
}
