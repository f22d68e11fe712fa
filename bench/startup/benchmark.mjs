import { fileURLToPath } from 'node:url';
import { race } from '../race.mjs';
import { against, row } from '../row.mjs';
import { versions } from '../versions.mjs';

const module = new URL('process.mjs', import.meta.url);
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Measures the start time of the command line, compared with Node itself. */
export async function measureStartup() {
  /** @type {Record<string, number[]>} */
  const measured = await race(
    [
      { name: 'node -e 0', module, options: { args: ['-e', '0'], prints: '' } },
      { name: 'postchain --version', module, options: { args: [cli, '--version'], prints: versions()['postchain'] } },
    ],
    { rounds: 21, warmUps: 3 },
  );
  const node = row('node -e 0', measured['node -e 0'] ?? []);
  const postchain = row('postchain --version', measured['postchain --version'] ?? []);
  return {
    title: 'wall time of a process',
    rows: [against(node, node), against(postchain, node, { limit: 3 })],
    facts: {},
  };
}
