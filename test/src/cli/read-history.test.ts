import { describe, expect, it } from 'vitest';
import { readHistory } from '../../../src/cli/read-history.ts';
import { fileWith } from '../../support/journal-file.ts';

const turns = [
  { role: 'user', content: 'Hello.\nIs it so?' },
  { role: 'assistant', content: '' },
  { role: 'user', content: 'a\u2028b' },
] as const;
const lines = turns.map((turn) => JSON.stringify(turn)).join('\n');

describe('earlier turns read from a file', () => {
  it.each([
    ['a JSON array', JSON.stringify(turns)],
    ['an array over many lines, with a byte order mark', `\ufeff \n${JSON.stringify(turns, null, 2)}\n`],
    ['JSON lines', lines],
    ['JSON lines of Windows, with empty ones', `\r\n${lines.replaceAll('\n', '\r\n\r\n')}\r\n`],
    ['turns with more in them', JSON.stringify(turns.map((turn) => ({ ...turn, name: 'Ann', at: 7 })))],
  ])('are taken from %s', async (_, text) => {
    expect(await readHistory(fileWith(text))).toEqual(turns);
  });

  it.each(['', '\n', '[]'])('of a file with nothing in it (%j) are none', async (text) => {
    expect(await readHistory(fileWith(text))).toEqual([]);
  });

  it.each([
    ['Hello.', /: line 1: no JSON \(/],
    [`${lines}\n{"role": "user",\n`, /: line 4: no JSON \(/],
    ['[{"role": "user"', /run\.jsonl: no JSON \(/],
    [`${lines}\n{"role":"system","content":"x"}`, /: line 4: got "system"; wanted a role \(user or assistant\)/],
    [JSON.stringify([...turns, { role: 'user', content: ['x'] }]), /: turn 4: got the content a list of 1; wanted/],
    ['[{"role":"user"}]', /: turn 1: got the content undefined; wanted/],
    ['[null]', /: turn 1: got null; wanted/],
    ['7', /: line 1: got 7; wanted/],
    ['{"turns":[]}', /: line 1: got an object with turns; wanted/],
  ])('are refused in one line, with the place: %j', async (text, message) => {
    const path = fileWith(text);
    const error = await readHistory(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) });
    expect((error as Error).message).toMatch(/^[^\n]+$/);
    expect((error as Error).message.startsWith(path)).toBe(true);
  });

  it.each(['no-such-file.json', '.'])('are refused where "%s" cannot be read', async (path) => {
    await expect(readHistory(path)).rejects.toMatchObject({
      code: 'invalid_path',
      message: expect.stringContaining(`The history "${path}" cannot be read`),
    });
  });

  it('are refused where the bytes are no text', async () => {
    await expect(readHistory(fileWith(Buffer.from([0x5b, 0xff, 0x5d])))).rejects.toMatchObject({
      code: 'invalid_path',
    });
  });
});
