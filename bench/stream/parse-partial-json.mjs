import { parsePartialJson } from 'ai';
import { chunks, measureReading } from './text.mjs';

/**
 * Measures microseconds of AI SDK's parser, called with the text so far at each chunk, as its object stream does. Nothing is validated.
 *
 * @param {{ chars: number }} options
 */
export const measure = ({ chars }) =>
  measureReading(chars, async (text, reader) => {
    let accumulated = '';
    let value;
    for await (const chunk of chunks(text)) {
      accumulated += chunk;
      ({ value } = await parsePartialJson(accumulated));
      reader.read(value);
    }
    return value;
  });
