import { firstChars } from './clip.ts';
import { sentencesOf } from './sentences.ts';
import { requestTerms, stemsOf } from './terms.ts';

/**
 * Returns the beginning of a text in at most `maxChars` characters: complete sentences if the first one fits, or else
 * complete words and an ellipsis. Never splits a surrogate pair.
 */
export function summarize(text: string, maxChars: number): string {
  const flat = text.replace(/\s+/gu, ' ').trim();
  if (flat.length <= maxChars) return flat;
  const head = flat.slice(0, maxChars);
  const sentenceEnd = Math.max(head.lastIndexOf('. '), head.lastIndexOf('! '), head.lastIndexOf('? '));
  if (sentenceEnd > maxChars / 3) return head.slice(0, sentenceEnd + 1);
  const start = firstChars(flat, maxChars - 1);
  const wordEnd = start.lastIndexOf(' ');
  return `${wordEnd > maxChars / 3 ? start.slice(0, wordEnd) : start}…`;
}

/** Returns the first characters of a text on one line. */
export function preview(text: string, chars = 50): string {
  const flat = firstChars(text, 4 * chars + 64)
    .replace(/\s+/gu, ' ')
    .trim();
  return flat.length <= chars ? flat : `${firstChars(flat, chars)}…`;
}

/** Only the beginning of a longer text is read. */
const MAX_CHARS = 20_000;
/** Weight of a word of the request, relative to the most frequent word of the text. */
const TOPIC_SHARE = 2;
/** Bonus for the first sentence: texts open with their topic. */
const FIRST_SHARE = 0.5;

interface Candidate {
  readonly text: string;
  readonly score: number;
  readonly at: number;
}

/**
 * Returns the most informative sentences of a text, verbatim and in order, in at most `maxChars` characters: those with
 * the text's most frequent words (H. P. Luhn, 1958), with words of the topic, and the first. If no sentence fits, the
 * beginning of the best one.
 */
export function extractSummary(text: string, maxChars: number, topic: string): string {
  const head = firstChars(text, MAX_CHARS);
  if (head.trim().length <= maxChars) return summarize(text, maxChars);
  const candidates = scored(head, topic).sort((a, b) => b.score - a.score || a.at - b.at);
  const chosen: Candidate[] = [];
  let left = maxChars;
  for (const one of candidates) {
    const { length } = one.text;
    const needed = chosen.length === 0 ? length : length + 1;
    if (needed > left || one.score === 0) continue;
    chosen.push(one);
    left -= needed;
  }
  if (chosen.length === 0) return summarize(candidates[0]?.text ?? text, maxChars);
  return chosen
    .sort((a, b) => a.at - b.at)
    .map((one) => one.text)
    .join(' ');
}

function scored(text: string, topic: string): Candidate[] {
  const sentences = sentencesOf(text).map((sentence) => ({ text: sentence.text, stems: stemsOf(sentence.text) }));
  const counts = new Map<string, number>();
  for (const { stems } of sentences) for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const most = Math.max(1, ...counts.values());
  const asked = new Set(requestTerms(topic).map(({ stem }) => stem));
  return sentences.map((sentence, at) => {
    const distinct = new Set(sentence.stems);
    let sum = 0;
    for (const stem of distinct) sum += (counts.get(stem) ?? 0) / most + (asked.has(stem) ? TOPIC_SHARE : 0);
    const mean = distinct.size === 0 ? 0 : sum / (distinct.size + 3);
    return { text: sentence.text, score: at === 0 && mean > 0 ? mean + FIRST_SHARE : mean, at };
  });
}
