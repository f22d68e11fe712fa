import { parse } from 'jsonriver';
import { chunks, measureReading } from './text.mjs';

/**
 * Measures microseconds of the incremental parser alone, with its values read and nothing validated.
 *
 * @param {{ chars: number }} options
 */
export const measure = ({ chars }) =>
  measureReading(chars, async (text, reader) => {
    let value;
    for await (value of parse(chunks(text))) reader.read(value);
    return value;
  });
