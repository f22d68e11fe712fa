import { describeValue } from './describe-value.ts';

/**
 * Returns why the options of a function cannot be used: one is unknown, or they are not an object. Null if they can. `known` lists the
 * names, separated by spaces. Of misspelt options, JavaScript reports nothing.
 */
export function unknownOption(name: string, options: unknown, known: string): string | null {
  const names = known.split(' ');
  if (typeof options !== 'object' || options === null)
    return `options of ${name}: expected an object with ${names.join(', ')}; received ${describeValue(options)}.`;
  const unknown = Object.keys(options).find((key) => !names.includes(key));
  return unknown === undefined ? null : `options of ${name}: expected only ${names.join(', ')}; received ${unknown}.`;
}
