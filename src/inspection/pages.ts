import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostChainError } from '../../machines/contracts/error.ts';

/** Returns the single-file inspector, with an empty data element for a recording. */
export async function inspectorFile(): Promise<string> {
  return readFile(join(builtFolder('inspector-file'), 'index.html'), 'utf8').catch((cause) => {
    throw new PostChainError('invalid_path', 'The page of the inspector is not built; run: npm run build', { cause });
  });
}

/** Returns the path of a folder that the build makes, whether this module runs from `dist` or from the sources. */
export function builtFolder(name: string): string {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  return join(root, 'dist', name);
}
