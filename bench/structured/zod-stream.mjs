import { strict as assert } from 'node:assert';
import { z } from 'zod/v3';
import ZodStream from 'zod-stream';
import { replySchemaOf } from '../stream/reply-schema.mjs';
import { chunks, measureReading } from '../stream/text.mjs';

/** zod-stream 3 reads the internals of zod 3 schemas. */
const schema = replySchemaOf(/** @type {any} */ (z));

/** @param {string} text */
async function* bytes(text) {
  const encoder = new TextEncoder();
  for await (const chunk of chunks(text)) yield encoder.encode(chunk);
}

/**
 * Measures microseconds of zod-stream over the same text as bytes. It validates each partial value.
 *
 * @param {{ chars: number }} options
 */
export const measure = ({ chars }) =>
  measureReading(chars, async (text, reader) => {
    const values = await new ZodStream().create({
      completionPromise: async () => ReadableStream.from(bytes(text)),
      response_model: { schema: /** @type {any} */ (schema), name: 'report' },
    });
    let last = /** @type {any} */ (null);
    for await (last of values) reader.read(last);
    const { _meta, ...value } = last;
    assert.equal(_meta._isValid, true);
    return value;
  });
