import { describeValue } from './describe-value.ts';

/** Options for other parts of this package, which errors do not list. */
const INTERNAL: readonly string[] = ['onEntry', 'mayPark', 'properties'];

/**
 * Returns why the options of a function cannot be used: one is unknown, or they are not an object. Null if they can. `known` lists the
 * names, separated by spaces. JavaScript does not report misspelled options.
 */
export function unknownOption(name: string, options: unknown, known: string): string | null {
  const names = known.split(' ');
  const listed = names.filter((option) => !INTERNAL.includes(option)).join(', ');
  if (typeof options !== 'object' || options === null)
    return `options of ${name}: expected an object with ${listed}; received ${describeValue(options)}.`;
  const unknown = Object.keys(options).find((key) => !names.includes(key));
  return unknown === undefined ? null : `options of ${name}: expected only ${listed}; received ${unknown}.`;
}
