import { chunks, measureReading } from './text.mjs';

/**
 * Measures microseconds to read the chunks and parse once at the end, with no partial values: the lower bound for any stream.
 *
 * @param {{ chars: number }} options
 */
export const measure = ({ chars }) =>
  measureReading(chars, async (text, reader) => {
    let accumulated = '';
    for await (const chunk of chunks(text)) accumulated += chunk;
    const value = JSON.parse(accumulated);
    reader.read(value);
    return value;
  });
