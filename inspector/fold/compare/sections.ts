import type { Row } from './rows.ts';

/** What a comparison shows one below the other: rows from a place on and up to another. */
export interface Section {
  readonly equal: boolean;
  readonly from: number;
  readonly to: number;
}

/** Rows that are equal and follow each other are one section, and so are those that are not. */
export function sectionsOf(rows: readonly Row[]): readonly Section[] {
  const sections: Section[] = [];
  let from = 0;
  for (let at = 1; at <= rows.length; at += 1) {
    const equal = rows[from]?.equal ?? false;
    if (at < rows.length && rows[at]?.equal === equal) continue;
    sections.push({ equal, from, to: at });
    from = at;
  }
  return sections;
}
