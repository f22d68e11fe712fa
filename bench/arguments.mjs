import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * @typedef {object} Arguments
 * @property {boolean} json One JSON object on stdout in place of the table.
 * @property {boolean} check Exit code 1 where a limit does not hold.
 * @property {string} data The folder of measuring data, absolute; it need not be there.
 * @property {readonly string[]} only The benchmarks to run.
 */

/**
 * Reads the command line; throws a TypeError with one line for what makes no sense.
 *
 * @param {readonly string[]} args
 * @param {readonly string[]} names The benchmarks there are.
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
    throw new TypeError(`got "${word}"; wanted only NAME, --json, --check or --data DIR`);
  if (word === 'only' && wanted.length === 0) throw new TypeError(`only which? one of ${names.join(', ')}`);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no benchmark "${unknown}": one of ${names.join(', ')}`);
  return {
    json: values.json ?? false,
    check: values.check ?? false,
    data: resolve(values.data ?? new URL('../../shared/data', import.meta.url).pathname),
    only: wanted.length === 0 ? names : names.filter((name) => wanted.includes(name)),
  };
}
