import { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';

/**
 * Loads an optional peer dependency.
 *
 * @throws PostChainError with `code` (default `package_missing`) if the package is not installed.
 */
export async function loadOptional<Module>(
  name: string,
  feature: string,
  load: () => Promise<Module>,
  code: ErrorCode = 'package_missing',
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if (!isModuleMissing(cause)) throw cause;
    const message = `${feature} requires the package "${name}", which is not installed; run: npm install ${name}`;
    throw new PostChainError(code, message, { cause });
  }
}

/**
 * Imports a package that bundlers must not resolve, because it may be missing or needs Node. It is resolved when the program runs,
 * so a bundle finds it in the `node_modules` beside it.
 */
export const importByName = <Module>(name: string): Promise<Module> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ name);

/** Whether an import failed because a package is not installed. Test runners and bundlers wrap Node's error. */
export function isModuleMissing(thrown: unknown): boolean {
  const { code, cause } = (thrown ?? {}) as { code?: unknown; cause?: unknown };
  return code === 'ERR_MODULE_NOT_FOUND' || (cause !== undefined && isModuleMissing(cause));
}
