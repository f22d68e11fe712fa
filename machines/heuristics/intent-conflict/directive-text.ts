import { sentencesOf } from '../../text/sentences.ts';

const REQUEST_CHARS = 20_000;
/** A request longer than this holds a text to work on: what is wanted stands in its first or its last paragraph. */
const LONG_REQUEST_CHARS = 2_000;
const PARAGRAPH_CHARS = 1_000;

const APOSTROPHES = /[’‘`´]/g;
const CODE = /```[\s\S]{0,20000}?```|`[^`\n]{1,200}`/g;
const QUOTED = /"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![\p{L}\p{N}])/gu;
const QUOTED_LINE = /^[ \t]{0,8}>[^\n]*$/gm;

const QUESTION = /\?\W{0,8}$/;
const POLITE_QUESTION = /^(?:(?:hi|hello|hey|please|ok|okay|and|so)[ ,]+)*(?:can|could|would|will) you\b/i;

/**
 * The part of a request that tells what to do, in lower case, a line a sentence: no questions but "could you …?", no code,
 * a quotation as one word with `_` for what is no letter, and of a long request its first and last paragraph. Linear.
 */
export function directivesOf(request: string): string {
  return sentencesOf(said(instructions(request.slice(0, REQUEST_CHARS))))
    .filter(({ text }) => !QUESTION.test(text) || POLITE_QUESTION.test(text))
    .map(({ text }) => text.toLowerCase())
    .join('\n');
}

function instructions(request: string): string {
  if (request.length <= LONG_REQUEST_CHARS) return request;
  const paragraphs = request.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== '');
  const last = paragraphs.length > 1 ? paragraphs.at(-1) : undefined;
  return [paragraphs[0], last].map((paragraph) => paragraph?.slice(0, PARAGRAPH_CHARS) ?? '').join('\n\n');
}

function said(text: string): string {
  return text.replace(CODE, ' ').replace(QUOTED_LINE, ' ').replace(APOSTROPHES, "'").replace(QUOTED, asOneWord);
}

/** A quotation is a thing by itself: it stays as one word, so that nothing in it is read as a directive. */
function asOneWord(quotation: string): string {
  return quotation.replace(/[^\p{L}\p{N}]+/gu, '_');
}
