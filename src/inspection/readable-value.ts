import { createCodec, type Json } from '../durable/codec.ts';
import { plainJson } from '../internal/plain-json.ts';

const { decode } = createCodec();

/** Returns a stored value as JSON that people can read, or as it is stored if decoding it needs a codec of the program. */
export function readableValue(stored: Json): unknown {
  try {
    return plainJson(decode(stored));
  } catch {
    return stored;
  }
}
