import type { EvidenceText } from '../../contracts/evidence-text.ts';
import { type Reading, readingOf, startOf } from './reading.ts';

/** What is read of each gathered text, in characters from its beginning. */
const TEXT_CHARS = 50_000;

/** A gathered text never changes, so it is read once. */
const readings = new WeakMap<EvidenceText, Reading>();

/** The readings of what was gathered, but for what is empty: the first 50,000 characters of each, read once for each object. */
export function readGathered(gathered: readonly EvidenceText[]): readonly Reading[] {
  return gathered.map(readingOfText).filter(({ words }) => words.length > 0);
}

function readingOfText(text: EvidenceText): Reading {
  const known = readings.get(text);
  if (known !== undefined) return known;
  const reading = readingOf(startOf(text.content, TEXT_CHARS));
  readings.set(text, reading);
  return reading;
}
