import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder that is removed when the process exits, and returns its path. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
