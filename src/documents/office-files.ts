import type { Worker } from 'node:worker_threads';
import { isNode } from '../internal/is-node.ts';
import { importByName, loadOptional } from '../internal/optional-package.ts';

/** A piece of text in a PDF, as the package `unpdf` finds it. */
interface PdfItem {
  readonly str: string;
  readonly x: number;
  readonly width: number;
  readonly fontSize: number;
  readonly hasEOL: boolean;
}

/** Returns the text of a page in reading order, with hyphenated words joined. */
export function pageText(items: readonly PdfItem[]): string {
  const lines: string[] = [];
  let line: PdfItem[] = [];
  for (const [at, item] of items.entries()) {
    line.push(item);
    if (!item.hasEOL && at < items.length - 1) continue;
    lines.push(lineText(line));
    line = [];
  }
  return withoutHyphenation(lines.join('\n'));
}

const RTL = /[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}\p{scx=Thaana}]/u;
/** Numbers are left to right, too, but do not make their line left to right. */
const LTR = /(?!\p{scx=Hebrew}|\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Thaana})[\p{L}\p{N}]/u;
const LATIN = /(?!\p{scx=Hebrew}|\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Thaana})\p{L}/u;
/** Arabic letters in the form of their place in the word. Their order in a PDF is that on the page, from left to right. */
const SHAPED = /[\uFB50-\uFDFF\uFE70-\uFEFC]/u;
/** The share of the font size that is certainly narrower than a space. */
const NO_SPACE = 0.15;

/** Text from right to left consists of pieces that are in the order of the page. */
function lineText(items: readonly PdfItem[]): string {
  const text = withHyphens(items).join('');
  if (!RTL.test(text) || !isLeftToRight(items)) return text;
  // A mark may come before or after its letter, and with a space that has no width.
  const pieces = items
    .filter(({ str, width, fontSize }) => str.trim() !== '' || width >= NO_SPACE * fontSize)
    .sort((one, other) => one.x - other.x)
    .map(({ str }) => logical(str));
  if (isSentenceLeftToRight(text))
    return ordered(pieces, { first: RTL, last: RTL, outer: LTR }, (piece, isInRun) =>
      isInRun ? fromRight(piece, text) : piece,
    );
  return ordered(pieces.reverse(), { first: LTR, last: LATIN, outer: RTL }, (piece, isInRun) =>
    isInRun ? piece : fromRight(piece, text),
  );
}

/** A hyphen may be a piece of its own that begins with a space, which the page does not show. */
function withHyphens(items: readonly PdfItem[]): string[] {
  return items.map(({ str, x, fontSize }, at) => {
    const before = items[at - 1];
    const isHyphen = /^ [-\u2010]$/.test(str) && before !== undefined;
    return isHyphen && x - before.x - before.width < NO_SPACE * fontSize ? str.trim() : logical(str);
  });
}

/** Marks are not in order, because they are placed over their letter. */
function isLeftToRight(items: readonly PdfItem[]): boolean {
  const places = items.filter(({ str }) => /\p{L}/u.test(str)).map(({ x }) => x);
  const steps = places.slice(1).map((x, at) => Math.sign(x - (places[at] ?? x)));
  return steps.reduce((sum, step) => sum + step, 0) >= 0;
}

/** Whether a line is read from left to right: it has Latin letters at both ends, or at one end and in the majority. */
function isSentenceLeftToRight(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => !RTL.test(letter)).length;
  const [first = '', last = ''] = [letters[0], letters.at(-1)];
  const ends = Number(RTL.test(first)) + Number(RTL.test(last));
  return ends === 0 || (ends === 1 && latin > letters.length - latin);
}

interface Run {
  readonly first: RegExp;
  readonly last: RegExp;
  /** Ends the run. */
  readonly outer: RegExp;
}

/** Reverses the order of the pieces of each run, from one that matches `first` to the last one that matches `last`. */
function ordered(
  pieces: readonly string[],
  { first, last, outer }: Run,
  shown: (piece: string, isInRun: boolean) => string,
): string {
  const result: string[] = [];
  for (let from = 0; from < pieces.length; ) {
    let [stop, end] = [from + 1, -1];
    if (first.test(pieces[from] ?? ''))
      for (stop = from; stop < pieces.length && !outer.test(pieces[stop] ?? ''); stop += 1)
        if (last.test(pieces[stop] ?? '')) end = stop;
    // Without an end, no run begins before `stop`.
    const run = end === -1 ? pieces.slice(from, Math.max(stop, from + 1)) : pieces.slice(from, end + 1).reverse();
    for (const piece of run) result.push(shown(piece, end !== -1));
    from += run.length;
  }
  return result.join('');
}

const MIRRORED = new Map(
  [...'()[]{}<>«»‹›'].map((sign, at, all) => [sign, all[at % 2 === 0 ? at + 1 : at - 1] ?? sign]),
);
const mirrored = (text: string): string => text.replace(/[()[\]{}<>«»‹›]/g, (sign) => MIRRORED.get(sign) ?? sign);

/** Returns a piece of right-to-left text. If it has no letters, brackets are mirrored and the order of several numbers is reversed. */
function fromRight(piece: string, line: string): string {
  if (/\p{L}/u.test(piece)) return piece;
  const numbers = /\p{scx=Arabic}/u.test(line)
    ? /\p{N}+(?:[.,:/]\p{N}+)*|\P{N}/gu
    : /\p{N}+(?:[.,:/+-]\p{N}+)*%?|\P{N}/gu;
  const parts = piece.match(numbers) ?? [];
  const isSeveral = parts.filter((part) => /\p{N}/u.test(part)).length > 1;
  return mirrored(isSeveral ? parts.reverse().join('') : piece);
}

/** Letters in the form for the start of a word, which joins them to the next letter. */
const INITIAL = 'ﺋﺑﺗﺛﺟﺣﺧﺳﺷﺻﺿﻃﻇﻋﻏﻓﻗﻛﻟﻣﻧﻫﻳ';
const JOINED = '[\\uFE80-\\uFEFC]';
const count = (text: string, pattern: string): number => (text.match(new RegExp(pattern, 'gu')) ?? []).length;

/** A left-to-right run of words and numbers, which is reversed together with the text around it. */
const REVERSED_RUN =
  /[\p{Script=Latin}\p{N}](?:[^\p{scx=Arabic}\p{scx=Hebrew}\uFB50-\uFEFC]{0,200}\p{Script=Latin}|(?:[.,:/]?\p{N})*)/gu;

/** Vowel marks may be shaped as if over a space. */
const SPACED_MARK = / (?=\p{M})/gu;

/** Returns shaped Arabic as plain letters in the order of reading; other text as it is. */
function logical(given: string): string {
  const text = given.replace(/[^\P{Cc}\t]/gu, '').replace(SPACED_MARK, '');
  if (!SHAPED.test(text)) return text;
  const isLogical = count(text, `[${INITIAL}]${JOINED}`) > count(text, `${JOINED}[${INITIAL}]`);
  const reverse = (run: string): string => mirrored([...run].reverse().join(''));
  const inOrder = isLogical ? text : reverse(text).replace(REVERSED_RUN, reverse);
  return inOrder.normalize('NFKC').replace(SPACED_MARK, '');
}

/** A hyphen at the end of a line, and what continues the word; "pre- and postwar" is not divided. */
const DIVIDED =
  /(?<![\p{L}\p{M}])(\p{L}[\p{L}\p{M}]*)[-\u2010\u00AD\u00AC][ \t]*\n[ \t]*(?!(?:and|or|to|versus|vs|und|oder|bis|bzw|sowie|als|et|ou|y|o|e|en|of|og|och)\b)(\p{L}[\p{L}\p{M}]*)/gu;

/**
 * Puts divided words together. The hyphen stays before a capital, in words that the page has with it elsewhere or that have others
 * ("state-of-the-art"), and in addresses.
 */
function withoutHyphenation(text: string): string {
  const hyphenated = new Set(text.match(/(?<!\p{L})\p{L}+-\p{L}+/gu));
  const join = (divided: string, before: string, after: string, at: number, page: string): string => {
    const [left, right] = [
      page.slice(Math.max(0, at - 1), at),
      page.slice(at + divided.length, at + divided.length + 2),
    ];
    const isPart = /[-/@._]/.test(left) || /^(?:[-.]\p{L}|[/@_])/u.test(right) || /^(?:self|well)$/i.test(before);
    const isCompound = isPart || /^\p{Lu}/u.test(after) || hyphenated.has(`${before}-${after}`);
    return `${before}${isCompound ? '-' : ''}${after}`;
  };
  return text.replace(DIVIDED, join).replace(DIVIDED, join);
}

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

const parsePdf: Parse<typeof import('unpdf'), Pages> = async ({ extractTextItems }, bytes) =>
  (await extractTextItems(bytes)).items;

const parseDocx: Parse<{ default: typeof import('mammoth') }, readonly string[]> = async (
  { default: mammoth },
  bytes,
) => {
  const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
  return [(await mammoth.convertToHtml({ buffer: Buffer.from(bytes.buffer) }, { convertImage })).value];
};

/** What the worker does: the same as `parsePdf` and `parseDocx`. */
const CODE = `
const { parentPort } = require('node:worker_threads');
const parsers = {
  async pdf({ extractTextItems, getDocumentProxy }, bytes) {
    const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
    const { items } = await extractTextItems(pdf);
    await pdf.destroy();
    return items.map((page) => page.map(({ str, x, width, fontSize, hasEOL }) => ({ str, x, width, fontSize, hasEOL })));
  },
  async docx(mammoth, bytes) {
    const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
    return [(await mammoth.convertToHtml({ buffer: Buffer.from(bytes.buffer) }, { convertImage })).value];
  },
};
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
