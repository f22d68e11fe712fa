import { withNumbers } from './docx-numbers.ts';
import { child, elements, mapElements, propertiesOf, value } from './docx-xml.ts';
import { contentOf, type ZipEntry, zipOf } from './zip.ts';

const DOCUMENT = 'word/document.xml';

/**
 * Returns the DOCX file in a form that the package `mammoth` reads as Word shows it: with the numbers of paragraphs, without hidden text,
 * with double strikes as single ones, and with cells in the place of those that a row leaves out. Null if nothing is changed.
 */
export function readableDocx(entries: readonly ZipEntry[]): Buffer | null {
  const xml = (path: string): string => {
    const entry = entries.find((one) => one.path === path);
    return entry === undefined ? '' : contentOf(entry).toString('utf8');
  };
  const [document, numbering, styles] = [xml(DOCUMENT), xml('word/numbering.xml'), xml('word/styles.xml')];
  const visible = withFirstCells(withoutHiddenText(document.replaceAll('<w:dstrike', '<w:strike'), styles));
  const readable = withNumbers(visible, numbering, styles);
  return readable === document ? null : zipOf(entries, DOCUMENT, Buffer.from(readable));
}

const isHidden = (properties: string): boolean =>
  /<w:vanish(?: w:val="(?:1|true|on)")? ?\/>/.test(properties.split('<w:rPrChange')[0] ?? '');

function withoutHiddenText(document: string, styles: string): string {
  const hidden = new Set(
    elements(styles, 'style')
      .filter(isHidden)
      .map((style) => value(style, 'styleId')),
  );
  if (hidden.size === 0 && !document.includes('<w:vanish')) return document;
  return mapElements(document, 'p', (paragraph) => {
    const isAllHidden = hidden.has(child(propertiesOf(paragraph, 'pPr'), 'pStyle'));
    return mapElements(paragraph, 'r', (run) => {
      const properties = propertiesOf(run, 'rPr');
      const isGone = isAllHidden || isHidden(properties) || hidden.has(child(properties, 'rStyle'));
      return isGone ? run.replace(/<w:t(?: [^<>]*)?>[^<]*<\/w:t>/g, '') : run;
    });
  });
}

/** A row may begin in a later column. */
const withFirstCells = (document: string): string =>
  mapElements(document, 'tr', (row) => {
    const properties = propertiesOf(row, 'trPr');
    const columns = child(properties, 'gridBefore');
    if (columns === null) return row;
    const at = properties.length + '</w:trPr>'.length;
    const cell = `<w:tc><w:tcPr><w:gridSpan w:val="${Number(columns)}"/></w:tcPr><w:p/></w:tc>`;
    return row.slice(0, at) + cell + row.slice(at);
  });
