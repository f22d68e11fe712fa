import { strict as assert } from 'node:assert';
import { z } from 'zod/v3';
import ZodStream from 'zod-stream';
import { replySchemaOf } from '../stream/reply-schema.mjs';
import { chunks, createReader, longReply } from '../stream/text.mjs';

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
export async function measure({ chars }) {
  const text = longReply(chars);
  const reader = createReader();
  const startedAt = performance.now();
  const values = await new ZodStream().create({
    completionPromise: async () => ReadableStream.from(bytes(text)),
    response_model: { schema: /** @type {any} */ (schema), name: 'report' },
  });
  let last = /** @type {any} */ (null);
  for await (last of values) reader.read(last);
  const microseconds = (performance.now() - startedAt) * 1000;
  const { _meta, ...value } = last;
  assert.deepEqual({ value, isValid: _meta._isValid }, { value: JSON.parse(text), isValid: true });
  return { microseconds, share: reader.partials / Math.ceil(text.length / 4) };
}
