/** Returns the XML of the elements of a name, each up to the next one. */
export const elements = (xml: string, name: string): readonly string[] =>
  xml.split(new RegExp(`<w:${name}(?=[ >])`)).slice(1);

/** Changes the text before the first element of a name, and each such element together with the text up to the next one. */
export const mapElements = (xml: string, name: string, change: (element: string) => string): string =>
  xml
    .split(new RegExp(`(?=<w:${name}[ >])`))
    .map(change)
    .join('');

/** Returns the value of an attribute of an element without its `<w:name`. */
export const value = (element: string, name: string): string | null =>
  new RegExp(`^[^<>]*\\bw:${name}="([^"]*)"`).exec(element)?.[1] ?? null;

/** Returns the value of the first element of a name. */
export const child = (xml: string, name: string): string | null =>
  new RegExp(`<w:${name} [^<>]*?w:val="([^"]*)"`).exec(xml)?.[1] ?? null;

/** Returns the properties at the start of a paragraph, run or row, without their end; empty if there are none. */
export function propertiesOf(xml: string, name: string): string {
  const isFirst = new RegExp(`^<w:[a-zA-Z]+(?: [^<>]*)?>\\s*<w:${name}>`).test(xml);
  return isFirst ? xml.slice(0, Math.max(0, xml.indexOf(`</w:${name}>`))) : '';
}
