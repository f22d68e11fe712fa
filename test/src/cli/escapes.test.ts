import { expect, it } from 'vitest';
import { cli } from '../../support/cli.ts';

const ESCAPE = '\u001b[2J';

it.each([
  ['an option', ['run', 'x', '--format', ESCAPE]],
  ['a command', [`no${ESCAPE}`]],
  ['a number', ['run', 'x', '--max-cycles', ESCAPE]],
  ['a directory, with its stack', ['--stack', 'run', 'x', '--session', 's', '--session-file', `no/${ESCAPE}`]],
])('an error about %s prints no control characters', async (_, args) => {
  const { code, stdout, stderr } = await cli(...args);
  expect(code).not.toBe(0);
  expect(`${stdout}${stderr}`).not.toContain('\u001b');
});
