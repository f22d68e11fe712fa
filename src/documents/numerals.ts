/** The HTML attribute in which `read-docx.ts` stores the marker of a list item. */
export const MARKER = 'data-marker';

const ROMAN = { m: 1000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50, xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 };
const MAX_NUMBER = 3_999;

/** Returns a number as a list of this type (as in HTML) shows it: in digits (`01` for two), letters (a, b, …, aa) or Roman numerals. */
export function numeral(number: number, type = '1'): string {
  if (type === '01') return String(number).padStart(2, '0');
  const isRoman = /i/i.test(type);
  if (number < 1 || number > MAX_NUMBER || !/^[ai]$/i.test(type)) return String(number);
  let written = '';
  let left = number;
  if (isRoman)
    for (const [digits, value] of Object.entries(ROMAN)) for (; left >= value; left -= value) written += digits;
  else
    for (; left > 0; left = Math.floor((left - 1) / 26))
      written = String.fromCharCode(97 + ((left - 1) % 26)) + written;
  return type === type.toUpperCase() ? written.toUpperCase() : written;
}
