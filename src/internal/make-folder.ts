/**
 * Makes a folder, and those above it that are missing, for nobody but its owner. Throws where it cannot be made. One by one: Node's own
 * way never comes back from a place where nothing can be made, /proc say.
 */
export function makeFolder(path: string): void {
  const { existsSync, mkdirSync } = process.getBuiltinModule('node:fs');
  const { dirname } = process.getBuiltinModule('node:path');
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
