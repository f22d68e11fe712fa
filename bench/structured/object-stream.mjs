import { Output, streamText } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { replySchema } from '../stream/reply-schema.mjs';
import { chunks, measureReading } from '../stream/text.mjs';

/** @param {string} text */
async function* parts(text) {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 'text' };
  for await (const delta of chunks(text)) yield { type: 'text-delta', id: 'text', delta };
  yield { type: 'text-end', id: 'text' };
  yield {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: {}, outputTokens: {} },
  };
}

/**
 * Reads one reply with `streamText` and `Output.object`: all partial outputs, then the validated output.
 *
 * @param {string} text
 * @param {ReturnType<typeof import('../stream/text.mjs').createReader>} reader
 */
export async function read(text, reader) {
  const model = new MockLanguageModelV3({ doStream: async () => ({ stream: ReadableStream.from(parts(text)) }) });
  const result = streamText({ model, output: Output.object({ schema: replySchema }), prompt: 'Report.' });
  for await (const partial of result.partialOutputStream) reader.read(partial);
  return await result.output;
}

/**
 * Measures microseconds of AI SDK's own object stream.
 *
 * @param {{ chars: number }} options
 */
export const measure = ({ chars }) => measureReading(chars, read);
