import { contradictoryContents } from './contents.ts';
import { directivesOf } from './directive-text.ts';
import { contradictoryLengths } from './lengths.ts';
import { contradictoryManners } from './manners.ts';

/**
 * What a request both wants and does not want, in words, each once: a thing asked for and excluded, lengths that
 * exclude each other, opposite manners [C6]. Precise rather than complete: what only mentions opposites, asks about
 * them, quotes them, or sets them for two parts or two cases is no conflict. English. Reads the first 20,000 UTF-16
 * units; linear.
 */
export function conflictsIn(request: string): readonly string[] {
  const text = directivesOf(request);
  return [...new Set([...contradictoryContents(text), ...contradictoryLengths(text), ...contradictoryManners(text)])];
}
