import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the build puts what browsers are given: seen from `dist`, from the chunks in it, and from the sources. */
export function builtFolder(name: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const dist = { chunks: join(here, '..'), pages: join(here, '..', '..', 'dist') }[basename(here)] ?? here;
  return join(dist, name);
}
