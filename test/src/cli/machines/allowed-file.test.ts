import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allowedFile, requireRoot } from '../../../../src/cli/machines/allowed-file.ts';

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'allowed-'));
const root = join(folder, 'project');
mkdirSync(join(root, 'src'), { recursive: true });
for (const path of ['secret.mjs', 'project/src/door.mjs', 'project/a#b.mjs', 'project-2.mjs'])
  writeFileSync(join(folder, path), '');
symlinkSync(join(folder, 'secret.mjs'), join(root, 'link.mjs'));
symlinkSync(folder, join(root, 'up'));
symlinkSync(join(root, 'src', 'door.mjs'), join(root, 'inner.mjs'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a file that a client names', () => {
  it.each([
    ['src/door.mjs', 'src/door.mjs'],
    ['./src/../src/door.mjs', 'src/door.mjs'],
    [join(root, 'src/door.mjs'), 'src/door.mjs'],
    ['src/door.mjs#door', 'src/door.mjs#door'],
    ['a#b.mjs', 'a#b.mjs'],
    ['inner.mjs', 'src/door.mjs'],
  ])('is allowed within the root: %s', (given, expected) => {
    expect(allowedFile(given, root)).toBe(join(root, expected));
  });

  it.each(['../secret.mjs', join(folder, 'secret.mjs'), '../project-2.mjs', 'up/secret.mjs', 'link.mjs', 'link.mjs#x'])(
    'is refused outside of it, also through links: %s',
    (given) => {
      expect(() => allowedFile(given, root)).toThrow(
        expect.objectContaining({ code: 'invalid_path', message: expect.stringContaining(`is outside of ${root}`) }),
      );
    },
  );

  it.each(['none.mjs', 'src', '.', 'src/door.mjs/x'])('must exist and be a file: %s', (given) => {
    expect(() => allowedFile(given, root)).toThrow(expect.objectContaining({ code: 'invalid_path' }));
  });

  it('is within a root that is a directory', () => {
    expect(requireRoot(root)).toBe(root);
    expect(() => requireRoot(join(root, 'src/door.mjs'))).toThrow('is not a directory');
    expect(() => requireRoot(join(root, 'none'))).toThrow('no such file or directory');
  });
});
