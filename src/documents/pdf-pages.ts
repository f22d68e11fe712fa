import type { Worker } from 'node:worker_threads';
import { isNode } from '../internal/is-node.ts';
import { importByName, loadOptional } from '../internal/optional-package.ts';

/** What reading a PDF may take. A small file can nest so deeply that PDF.js would work on one page for hours. */
interface Limits {
  readonly timeMs: number;
  readonly memoryMb: number;
}

const LIMITS: Limits = { timeMs: 60_000, memoryMb: 1_000 };

/** The text of each page; or the reason why a PDF is not read; or null if it is damaged, encrypted or not a PDF. */
type Outcome = readonly string[] | string | null;

/**
 * Returns the text of a PDF, page by page; or the reason if it takes too long or too much memory; or null if it is damaged, encrypted or
 * not a PDF. Uses the package `unpdf`. In Node, it runs in a worker thread, one PDF at a time, because no timer fires while PDF.js parses a
 * page. `what` names the document in errors.
 *
 * @throws PostChainError `package_missing`
 */
export async function pdfPages(bytes: Uint8Array, what: string, limits = LIMITS): Promise<Outcome> {
  const { extractText } = await loadOptional('unpdf', what, () => importByName<typeof import('unpdf')>('unpdf'));
  const library = isNode() ? libraryPath() : null;
  // A copy, because the library takes ownership of the memory and rejects a Node Buffer.
  const copy = new Uint8Array(bytes);
  if (library === null) {
    const extracted = await extractText(copy, { mergePages: false }).catch(() => null);
    return extracted?.text ?? null;
  }
  const outcome = queue.then(() => inWorker(library, copy, limits));
  queue = outcome;
  return outcome;
}

/** Returns null in a CommonJS bundle, which does not know its own path. */
function libraryPath(): string | null {
  const { createRequire } = process.getBuiltinModule('node:module');
  try {
    return createRequire(import.meta.url).resolve('unpdf');
  } catch {
    return null;
  }
}

const CODE = `
const { parentPort, workerData } = require('node:worker_threads');
const { extractText, getDocumentProxy } = require(workerData.library);
async function pagesOf(bytes) {
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  const { text } = await extractText(pdf, { mergePages: false });
  await pdf.destroy();
  return text;
}
const send = (pages) => parentPort.postMessage(pages);
parentPort.on('message', (bytes) => pagesOf(bytes).then(send, () => send(null)));
`;

let queue: Promise<unknown> = Promise.resolve();

/** Kept for the next document, because starting a worker takes longer than reading most documents. It does not keep the process alive. */
let idle: Worker | null = null;

function inWorker(library: string, bytes: Uint8Array<ArrayBuffer>, limits: Limits): Promise<Outcome> {
  const { timeMs, memoryMb } = limits;
  const worker = idle ?? startWorker(library, memoryMb);
  idle = null;
  worker.ref();
  return new Promise((resolve) => {
    const settle = (outcome: Outcome, next: Worker | null): void => {
      clearTimeout(timer);
      worker.removeAllListeners('message').removeAllListeners('error');
      // An error after its last document must not end the process.
      worker.on('error', () => {}).unref();
      if (next === null) void worker.terminate();
      idle = next;
      resolve(outcome);
    };
    const timer = setTimeout(() => settle(`reading it takes more than ${timeMs / 1_000} s`, null), timeMs);
    worker.once('message', (pages: readonly string[] | null) => settle(pages, limits === LIMITS ? worker : null));
    worker.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === 'ERR_WORKER_OUT_OF_MEMORY' ? `reading it takes more than ${memoryMb} MB of memory` : null, null),
    );
    worker.postMessage(bytes, [bytes.buffer]);
  });
}

function startWorker(library: string, memoryMb: number): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb };
  return new Worker(CODE, { eval: true, execArgv: [], workerData: { library }, resourceLimits });
}
