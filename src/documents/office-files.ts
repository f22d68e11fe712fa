import type { Worker } from 'node:worker_threads';
import { isNode } from '../internal/is-node.ts';
import { importByName, loadOptional } from '../internal/optional-package.ts';
import type { PdfItem } from './pdf-columns.ts';
import { pageText } from './pdf-text.ts';

/** What parsing a file may take. A file of a few kB can be nested so deeply that its parser would work on it for hours, or unpack to gigabytes. */
interface Limits {
  readonly timeMs: number;
  readonly memoryMb: number;
}

const LIMITS: Limits = { timeMs: 60_000, memoryMb: 1_000 };

/** What a file contains; or the reason why it is not read; or null if it is damaged, encrypted or of another format. */
type Outcome<Content> = Content | string | null;

/** Returns the text of a PDF, page by page. See `parseInWorker`. */
export async function pdfPages(bytes: Uint8Array, what: string, limits?: Limits): Promise<Outcome<readonly string[]>> {
  const pages = await parseInWorker({ type: 'pdf', name: 'unpdf', bytes }, what, parsePdf, limits);
  return Array.isArray(pages) ? pages.map(pageText) : (pages as string | null);
}

/** Returns a DOCX file as one text of HTML, without pictures: a small file can show a large one many times. See `parseInWorker`. */
export function docxHtml(bytes: Uint8Array, what: string, limits?: Limits): Promise<Outcome<readonly string[]>> {
  return parseInWorker({ type: 'docx', name: 'mammoth', bytes }, what, parseDocx, limits);
}

type Parse<Library, Content> = (library: Library, bytes: Uint8Array<ArrayBuffer>) => Promise<Content>;
type Pages = readonly (readonly PdfItem[])[];

// The worker gets the text of both functions, which must therefore use nothing but their parameters.
const parsePdf: Parse<typeof import('unpdf'), Pages> = async ({ extractTextItems, getDocumentProxy }, bytes) => {
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  const { items } = await extractTextItems(pdf);
  await pdf.destroy();
  return items;
};

const parseDocx: Parse<typeof import('mammoth'), readonly string[]> = async ({ convertToHtml, images }, bytes) => {
  const convertImage = images.imgElement(async () => ({ src: '' }));
  return [(await convertToHtml({ buffer: Buffer.from(bytes.buffer) }, { convertImage })).value];
};

const CODE = `
const { parentPort } = require('node:worker_threads');
const parsers = { pdf: ${parsePdf}, docx: ${parseDocx} };
const parse = async ({ type, library, bytes }) => parsers[type](require(library), bytes);
const send = (texts) => parentPort.postMessage(texts);
parentPort.on('message', (file) => parse(file).then(send, () => send(null)));
`;

interface OfficeFile {
  readonly type: 'pdf' | 'docx';
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Parses a file. In Node, this is in a worker thread, one file at a time, because no timer fires while the packages parse. `what` names the
 * document in errors.
 *
 * @throws PostChainError `package_missing`
 */
async function parseInWorker<Library, Content>(
  { type, name, bytes }: OfficeFile,
  what: string,
  parse: Parse<Library, Content>,
  limits: Limits = LIMITS,
): Promise<Outcome<Content>> {
  const loaded = await loadOptional(name, what, () => importByName<Library>(name));
  const library = isNode() ? libraryPath(name) : null;
  // A copy, because the worker or PDF.js takes ownership of the memory.
  const copy = new Uint8Array(bytes);
  if (library === null) return parse(loaded, copy).catch(() => null);
  const outcome = queue.then(() => inWorker<Content>({ type, library, bytes: copy }, limits));
  // A worker that cannot start must not fail the files after it.
  queue = outcome.catch(() => {});
  return outcome;
}

/** Returns null in a CommonJS bundle, which does not know its own path. */
function libraryPath(name: string): string | null {
  const { createRequire } = process.getBuiltinModule('node:module');
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}

let queue: Promise<unknown> = Promise.resolve();

/** How often the memory is measured. PDF.js unpacks less than 1 MB per millisecond. */
const MEASURE_MS = 20;

/**
 * Returns the bytes of memory of the process outside of this thread's heap and buffers. The worker cannot report its own while it parses,
 * and V8 limits only its heap, not the buffers that PDF.js unpacks to.
 */
function bytesOutside(): number {
  const { rss, heapTotal, external } = process.memoryUsage();
  return rss - heapTotal - external;
}

/** Kept for the next file, because starting a worker takes longer than parsing most files. It does not keep the process alive. */
let idle: Worker | null = null;

function forget(worker: Worker): void {
  if (idle === worker) idle = null;
}

interface Task {
  readonly type: OfficeFile['type'];
  readonly library: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function inWorker<Content>(task: Task, limits: Limits): Promise<Outcome<Content>> {
  const { timeMs, memoryMb } = limits;
  const isDefault = limits === LIMITS;
  const worker = (isDefault ? idle : null) ?? startWorker(memoryMb);
  forget(worker);
  worker.ref();
  return new Promise((resolve) => {
    const settle = (outcome: Outcome<Content>, next: Worker | null): void => {
      clearTimeout(timer);
      clearInterval(meter);
      worker.removeAllListeners('message').removeAllListeners('error');
      // An error after its last file must not end the process.
      worker.on('error', () => forget(worker)).unref();
      if (next !== null) idle = next;
      // The next file starts when the memory of a terminated worker is free.
      void (next === null ? worker.terminate() : Promise.resolve()).then(() => resolve(outcome));
    };
    const tooMuchMemory = `reading it takes more than ${memoryMb} MB of memory`;
    const before = bytesOutside();
    const meter = setInterval(() => {
      if (bytesOutside() - before > memoryMb * 1e6) settle(tooMuchMemory, null);
    }, MEASURE_MS);
    const timer = setTimeout(() => settle(`reading it takes more than ${timeMs / 1_000} s`, null), timeMs);
    worker.once('message', (content: Content | null) => settle(content, isDefault ? worker : null));
    worker.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory : null, null),
    );
    worker.postMessage(task, [task.bytes.buffer]);
  });
}

function startWorker(memoryMb: number): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  return new Worker(CODE, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
}
