import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandLine, jsString, shellWord } from '../../../machines/text/quoting.ts';
import { hostileText, NAUGHTY_STRINGS } from '../../support/hostile-input.ts';

const texts = [
  ...Object.values(NAUGHTY_STRINGS).flat(),
  `'; throw 1; '`,
  '\\',
  "\\'",
  '$(touch x)',
  '`x`',
  '-x',
  '~',
  '',
];

describe('foreign text in code', () => {
  it('is one JavaScript string with the same value, also inside a script element', () => {
    const check = (text: string): void => {
      const literal = jsString(text);
      expect(new Function(`return ${literal}`)()).toBe(text);
      expect(literal).not.toMatch(/<[!/]|[\p{C}\p{Zl}\p{Zp}]/u);
    };
    texts.forEach(check);
    fc.assert(fc.property(hostileText, check));
  });

  it('is one word of a shell', () => {
    const words = [...texts, ...fc.sample(hostileText, 200)].filter((text) => !/[\0\p{Cs}]/u.test(text));
    const printed = execFileSync('sh', ['-c', String.raw`printf '%s\0' ${words.map(shellWord).join(' ')}`]);
    expect(printed.toString().split('\0').slice(0, -1)).toEqual(words);
  });

  it.each([
    ['run-1', 'show run-1 --all'],
    ['--trust', 'show --all -- --trust'],
    ['a; rm b', "show 'a; rm b' --all"],
  ])('is an argument of a command, never an option: %s', (id, line) => {
    expect(commandLine('show', id, '--all')).toBe(line);
  });
});
