/** A namespace that models write before the name of a tool. */
const NAMESPACE = /^(?:(?:functions?|tools?|default_api|api)\s*[.:/]\s*)+/iu;

/** No tool has a longer name. */
const MAX_NAME_CHARS = 200;

const withoutSigns = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s._:/-]+/gu, '');

/**
 * Returns the name of the tool that a model means: the same name, or else the only one that differs in case, spaces, dashes, underscores
 * or a namespace; otherwise the name as it was written.
 */
export function toolNamed(written: string, names: readonly string[]): string {
  if (names.includes(written) || written.length > MAX_NAME_CHARS) return written;
  const bare = written.replace(/^[\s"'`]+|[\s"'`()]+$/gu, '');
  const keys = new Set([bare, bare.replace(NAMESPACE, '')].map(withoutSigns));
  const alike = names.filter((name) => keys.has(withoutSigns(name)));
  return alike.length === 1 ? (alike[0] ?? written) : written;
}
