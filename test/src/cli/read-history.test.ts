import { describe, expect, it } from 'vitest';
import { readHistory } from '../../../src/cli/run-inputs.ts';
import { fileWith } from '../../support/journal-files.ts';

const turns = [
  { role: 'user', content: 'Hello.\nIs it so?' },
  { role: 'assistant', content: '' },
  { role: 'user', content: 'a\u2028b' },
] as const;
const lines = turns.map((turn) => JSON.stringify(turn)).join('\n');

describe('readHistory', () => {
  it.each([
    ['a JSON array', JSON.stringify(turns)],
    ['an array over many lines, with a byte order mark', `\ufeff \n${JSON.stringify(turns, null, 2)}\n`],
    ['JSON lines', lines],
    ['JSON lines with CRLF and empty lines', `\r\n${lines.replaceAll('\n', '\r\n\r\n')}\r\n`],
    ['turns with additional fields', JSON.stringify(turns.map((turn) => ({ ...turn, name: 'Ann', at: 7 })))],
  ])('reads %s', async (_, text) => {
    expect(await readHistory(fileWith(text))).toEqual(turns);
  });

  it.each(['', '\n', '[]'])('returns no turns from an empty file: %j', async (text) => {
    expect(await readHistory(fileWith(text))).toEqual([]);
  });

  it.each([
    ['Hello.', /, line 1: invalid JSON \(/],
    [`${lines}\n{"role": "user",\n`, /, line 4: invalid JSON \(/],
    ['[{"role": "user"', /run\.jsonl: invalid JSON \(/],
    [`${lines}\n{"role":"system","content":"x"}`, /, line 4: "role" must be "user" or "assistant"; received "system"/],
    [
      JSON.stringify([...turns, { role: 'user', content: ['x'] }]),
      /, turn 4: "content" must be a string; received \S+/,
    ],
    ['[{"role":"user"}]', /, turn 1: "content" must be a string; received undefined/],
    ['[null]', /, turn 1: "role" must be .*; received null/],
    ['7', /, line 1: "role" must be .*; received 7/],
    ['{"turns":[]}', /, line 1: "role" must be .*; received .*turns/],
  ])('rejects with one line and the position: %j', async (text, message) => {
    const path = fileWith(text);
    const error = await readHistory(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) });
    expect((error as Error).message).toMatch(/^[^\n]+$/);
    expect((error as Error).message.startsWith(path)).toBe(true);
  });

  it.each(['no-such-file.json', '.'])('rejects an unreadable path: %s', async (path) => {
    await expect(readHistory(path)).rejects.toMatchObject({
      code: 'invalid_path',
      message: expect.stringContaining(`Cannot read the history "${path}": `),
    });
  });

  it('rejects bytes that are not UTF-8', async () => {
    await expect(readHistory(fileWith(Buffer.from([0x5b, 0xff, 0x5d])))).rejects.toMatchObject({
      code: 'invalid_path',
    });
  });
});
