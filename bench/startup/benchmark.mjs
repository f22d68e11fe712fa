import { fileURLToPath } from 'node:url';
import { race } from '../race.mjs';
import { against, row } from '../row.mjs';
import { versions } from '../versions.mjs';

const module = new URL('process.mjs', import.meta.url);
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

const imported = new URL('../packages/import.mjs', import.meta.url);
const folder = fileURLToPath(new URL('../..', import.meta.url));

/** Measures the start time of the command line, compared with Node itself, and that of an import, compared with what it requires. */
export async function measureStartup() {
  /** @type {Record<string, number[]>} */
  const measured = await race(
    [
      { name: 'node -e 0', module, options: { args: ['-e', '0'], prints: '' } },
      { name: 'postchain --version', module, options: { args: [cli, '--version'], prints: versions()['postchain'] } },
      { name: 'import xstate and zod', module: imported, options: { folder, imports: ['xstate', 'zod'] } },
      { name: 'import postchain', module: imported, options: { folder, imports: ['postchain'] } },
    ],
    { rounds: 21, warmUps: 3 },
  );
  const rowOf = (/** @type {string} */ name) => row(name, measured[name] ?? []);
  const compared = (/** @type {string} */ name, /** @type {string} */ other, /** @type {number} */ limit) => [
    against(rowOf(other), rowOf(other)),
    against(rowOf(name), rowOf(other), { limit }),
  ];
  return {
    title: 'wall time of a process, and of an import in a new process',
    rows: [
      ...compared('postchain --version', 'node -e 0', 3),
      ...compared('import postchain', 'import xstate and zod', 1.3),
    ],
    facts: {},
  };
}
