import type { Readable } from 'node:stream';

const MAX_CHARS = 2_000;

/** Reads a stream to its end, so that its writer never waits, and keeps its last lines. */
export function lastLines(stream: Readable): () => string {
  let kept = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    kept = (kept + piece.slice(-MAX_CHARS)).slice(-MAX_CHARS);
  });
  stream.on('error', () => {});
  return () => kept.trim().split('\n').slice(-5).join(' | ');
}
