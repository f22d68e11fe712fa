/** The names of the months in several languages, the English one first: it replaces the others. */
const MONTHS: readonly (readonly string[])[] = [
  'January Jan Januar janvier enero gennaio janeiro',
  'February Feb Februar février febrero febbraio fevereiro',
  'March Mar März mars marzo março',
  'April Apr avril abril aprile',
  'May Mai mayo maggio maio',
  'June Jun Juni juin junio giugno junho',
  'July Jul Juli juillet julio luglio julho',
  'August Aug août agosto',
  'September Sep Sept septembre septiembre settembre setembro',
  'October Oct Oktober Okt octobre octubre ottobre outubro',
  'November Nov novembre noviembre novembro',
  'December Dec Dezember Dez décembre diciembre dicembre dezembro',
].map((names) => names.split(' '));

const ENGLISH = new Map(
  MONTHS.flatMap(([english = '', ...others]) => others.map((name) => [name.toLowerCase(), english])),
);
const NAME = MONTHS.flat().join('|');
const DAY = String.raw`(?<![\p{L}\p{N}.,:-])(\d{1,2})`;
const YEAR = String.raw`(\d{4})(?![\p{L}\p{N}])`;
/** "3 May 2024", "3. Mai 2024", "3rd of May, 2024", "3 de mayo de 2024", "1er mai 2024". */
const DAY_FIRST = new RegExp(
  String.raw`${DAY}(?:st|nd|rd|th|er|º|\.)?[ -](?:of |de )?(${NAME})\b\.?(?:,? (?:de )?|-)${YEAR}`,
  'giu',
);
/** "May 3, 2024". */
const MONTH_FIRST = new RegExp(String.raw`(?<!\p{L})(${NAME})\.? (\d{1,2})(?:st|nd|rd|th)?,? ${YEAR}`, 'giu');
/** "2024-05-03", also before a time, and "2024/5/3". */
const YEAR_FIRST = /(?<![\p{L}\p{N}.,:/-])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:T(?=\d\d:)|(?![\p{L}\p{N}/-]))/gu;
/** "03.05.2024"; with slashes, either number may be the day. */
const NUMERIC = new RegExp(String.raw`${DAY}([./]) ?(\d{1,2})\2 ?${YEAR}`, 'gu');

/**
 * Writes the dates of a text that have a day, a month and a year in one form: "3 May 2024". Dates with slashes in which both numbers may
 * be the month, as in "03/05/2024", stay unchanged. Linear in the text.
 */
export function withPlainDates(text: string): string {
  if (!/\d{4}/.test(text)) return text;
  return text
    .replace(YEAR_FIRST, (date, year, _, month, day) => plainDate(day, MONTHS[month - 1]?.[0], year, date))
    .replace(NUMERIC, (date, one, separator, other, year) => {
      const [day, month] = separator === '/' && Number(other) > 12 ? [other, one] : [one, other];
      const isAmbiguous = separator === '/' && Number(day) <= 12 && day !== month;
      return isAmbiguous ? date : plainDate(day, MONTHS[month - 1]?.[0], year, date);
    })
    .replace(DAY_FIRST, (date, day, month, year) => plainDate(day, englishOf(month), year, date))
    .replace(MONTH_FIRST, (date, month, day, year) => plainDate(day, englishOf(month), year, date));
}

const PLAIN = new RegExp(
  ` (\\d{1,2}) (${MONTHS.map(([english = '']) => english.toLowerCase()).join('|')}) (?=\\d{4} )`,
  'g',
);

/** Returns the day and the month, in lower case, of each date in plain form, in words with one space before and after each. */
export const datesIn = (words: string): readonly (readonly string[])[] =>
  Array.from(words.matchAll(PLAIN), ([, day = '', month = '']) => [day, month]);

const ENGLISH_MONTHS: ReadonlySet<string> = new Set(MONTHS.map(([english = '']) => english.toLowerCase()));

/**
 * Returns the months, in lower case, that each day in a text is beside: "3 June" or "June 3"; an empty string if none is. The text is
 * words in lower case with one space between them.
 */
export function monthsOfDays(words: string): ReadonlyMap<string, ReadonlySet<string>> {
  const months = new Map<string, Set<string>>();
  const all = words.split(' ');
  for (const [at, day] of all.entries()) {
    if (!/^\d{1,2}$/.test(day)) continue;
    const month = [all[at + 1], all[at - 1]].find((word = '') => ENGLISH_MONTHS.has(word)) ?? '';
    months.set(day, (months.get(day) ?? new Set()).add(month));
  }
  return months;
}

const englishOf = (month: string): string => ENGLISH.get(month.toLowerCase()) ?? month;

/** Returns the date in its plain form, or the text unchanged if it is not a date. A space follows if a time does. */
function plainDate(day: string, month: string | undefined, year: string, date: string): string {
  const number = Number(day);
  return month === undefined || number < 1 || number > 31
    ? date
    : `${number} ${month} ${year}${date.endsWith('T') ? ' ' : ''}`;
}

/** A year, alone or at the start of a date: "2024", "2024-05", "2024-05-03". */
const YEAR_OR_DATE = /(?<!\d)((?:19|20)\d{2})(?:[-_./](0[1-9]|1[0-2])(?:[-_./](0[1-9]|[12]\d|3[01]))?)?(?!\d)/gu;

/** Returns the latest year or date of a text as `YYYYMMDD`, with zeros for what it does not state; null without one. */
export function newestDateIn(text: string): number | null {
  const dates = Array.from(text.matchAll(YEAR_OR_DATE), ([, year, month = '00', day = '00']) =>
    Number(`${year}${month}${day}`),
  );
  return dates.length === 0 ? null : Math.max(...dates);
}
