import { join } from 'node:path';
import { race } from '../race.mjs';
import { against, row } from '../row.mjs';
import { bundle } from './bundle.mjs';
import { bytesIn, install, packages } from './packages.mjs';

const module = new URL('import.mjs', import.meta.url);

/** Measures what a package costs before it does anything: its import in a new process, its size on disk, and its size in a browser. */
export async function measurePackages() {
  const installed = packages().map((one) => ({ ...one, folder: install(one) }));
  const own = installed[0];
  if (own === undefined) throw new Error('no packages');
  /** @type {Record<string, number[]>} */
  const times = await race(
    installed.map(({ name, folder, imports }) => ({ name, module, options: { folder, imports } })),
    { rounds: 9, warmUps: 1 },
  );
  const sizes = installed.map(({ name, folder }) => ({ name, bytes: bytesIn(join(folder, 'node_modules')) }));
  const bundles = [];
  for (const { name, folder, entry } of installed) bundles.push({ name, ...(await bundle(folder, entry)) });
  const structured = "export { createStructuredOutput } from 'postchain/structured-output';";
  bundles.push({ name: 'PostChain, only createStructuredOutput', ...(await bundle(own.folder, structured)) });
  const compared = (/** @type {import('../row.mjs').Row[]} */ rows) =>
    rows.map((one, at) => (at === 0 ? one : against(one, /** @type {import('../row.mjs').Row} */ (rows[0]))));
  return [
    ...compared(installed.map(({ name }) => row(`import, ${name}`, times[name] ?? []))),
    ...compared(sizes.map(({ name, bytes }) => row(`install, ${name}`, [bytes], 'bytes'))),
    ...compared(
      bundles.map(({ name, bytes, platform }) =>
        row(`bundle, ${name}${platform === 'node' ? ' (for Node)' : ''}`, [bytes], 'bytes'),
      ),
    ),
  ];
}
