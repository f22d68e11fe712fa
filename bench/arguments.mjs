import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * @typedef {object} Arguments
 * @property {boolean} json Print one JSON object to stdout instead of the table.
 * @property {boolean} check Exit with code 1 if a limit is exceeded.
 * @property {string} data The absolute path of the data directory, which may not exist.
 * @property {readonly string[]} only The benchmarks to run.
 */

/**
 * Parses the command line. Throws a TypeError with a one-line message for invalid arguments.
 *
 * @param {readonly string[]} args
 * @param {readonly string[]} names All benchmarks.
 * @returns {Arguments}
 */
export function readArguments(args, names) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean' }, check: { type: 'boolean' }, data: { type: 'string' } },
  });
  const [word, ...wanted] = positionals;
  if (word !== undefined && word !== 'only')
    throw new TypeError(`expected only NAME, --json, --check or --data DIR; received "${word}"`);
  if (word === 'only' && wanted.length === 0)
    throw new TypeError(`"only" needs a name: expected one of ${names.join(', ')}`);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown benchmark "${unknown}"; expected one of ${names.join(', ')}`);
  return {
    json: values.json ?? false,
    check: values.check ?? false,
    data: resolve(values.data ?? new URL('../../shared/data', import.meta.url).pathname),
    only: wanted.length === 0 ? names : names.filter((name) => wanted.includes(name)),
  };
}
