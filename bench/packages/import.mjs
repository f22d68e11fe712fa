import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';

/**
 * Measures microseconds to import modules in a new process, after Node has started.
 *
 * @param {{ folder: string, imports: readonly string[] }} options
 */
export async function measure({ folder, imports }) {
  const code = `const startedAt = performance.now();
${imports.map((name) => `await import('${name}');`).join('\n')}
process.stdout.write(String((performance.now() - startedAt) * 1000), () => process.exit());`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return Number(stdout);
}
