/**
 * Creates a directory and its missing parents, readable by their owner only. Throws if that fails.
 *
 * It creates one directory at a time because Node's recursive `mkdir` never returns in places like /proc.
 */
export function makeDirectory(path: string): void {
  const { existsSync, mkdirSync } = process.getBuiltinModule('node:fs');
  const { dirname } = process.getBuiltinModule('node:path');
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
