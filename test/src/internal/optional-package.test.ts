import { describe, expect, it } from 'vitest';
import { loadOptional } from '../../../src/internal/optional-package.ts';

const missing = Object.assign(new Error("Cannot find package 'libsql'"), { code: 'ERR_MODULE_NOT_FOUND' });

describe('loading an optional package', () => {
  it('returns the module', async () => {
    expect(await loadOptional('libsql', 'sqliteJournals()', async () => 'module')).toBe('module');
  });

  it.each([
    ['Node', missing],
    ['a test runner or bundler', new Error('failed to load', { cause: missing })],
  ])('names the package and the install command if it is missing, as reported by %s', async (_, error) => {
    await expect(loadOptional('libsql', 'sqliteJournals()', () => Promise.reject(error))).rejects.toMatchObject({
      code: 'package_missing',
      message: 'sqliteJournals() requires the package "libsql", which is not installed; run: npm install libsql',
    });
  });

  it('rethrows any other error', async () => {
    const broken = new SyntaxError('Unexpected token');
    await expect(loadOptional('libsql', 'sqliteJournals()', () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
