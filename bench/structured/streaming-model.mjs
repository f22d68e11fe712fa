import { chunks } from '../stream/text.mjs';

/**
 * Returns a model that answers with the text immediately, in chunks of four characters.
 *
 * @param {string} text
 * @param {(chunk: number) => void} [onChunk] Called before each chunk, counted from 1.
 */
export function streamingModel(text, onChunk) {
  return {
    id: 'streaming',
    contextWindowTokens: 1_000_000,
    async *stream() {
      let chunk = 0;
      for await (const delta of chunks(text)) {
        chunk += 1;
        onChunk?.(chunk);
        yield { type: 'text-delta', text: delta };
      }
      yield { type: 'finish', reason: 'stop', usage: null };
    },
  };
}
