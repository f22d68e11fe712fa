import { describe, expect, it } from 'vitest';
import { loadOptional } from '../../../src/internal/optional-package.ts';

const missing = Object.assign(new Error("Cannot find package 'mathjs'"), { code: 'ERR_MODULE_NOT_FOUND' });

describe('loading an optional package', () => {
  it('returns the module', async () => {
    expect(await loadOptional('mathjs', 'calculator()', async () => 'module')).toBe('module');
  });

  it.each([
    ['Node', missing],
    ['a test runner or bundler', new Error('failed to load', { cause: missing })],
  ])('names the package and the install command if it is missing, as reported by %s', async (_, error) => {
    await expect(loadOptional('mathjs', 'calculator()', () => Promise.reject(error))).rejects.toMatchObject({
      code: 'package_missing',
      message: 'calculator() requires the package "mathjs", which is not installed; run: npm install mathjs',
    });
  });

  it('rethrows any other error', async () => {
    const broken = new SyntaxError('Unexpected token');
    await expect(loadOptional('mathjs', 'calculator()', () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
