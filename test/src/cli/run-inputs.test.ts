import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { prepareRun } from '../../../src/cli/prepare-run.ts';
import { readRequest } from '../../../src/cli/read-request.ts';
import { readAttachment, readHistory } from '../../../src/cli/run-inputs.ts';
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

const input = (text: string, isTTY = false) => Object.assign(Readable.from([text]), { isTTY }) as never;

describe('the request of postchain run', () => {
  it.each([
    ['a terminal', input('', true)],
    ['an empty input', input(' \n')],
  ])('may be missing at %s if files are attached', async (_, given) => {
    expect(await readRequest(undefined, { attach: ['a.png'] }, given)).toEqual({ request: '', docs: undefined });
    await expect(readRequest(undefined, {}, input('', true))).rejects.toThrow(/^Missing request; type it after "run"/);
  });

  it('is read from the input if files are attached, too', async () => {
    const read = await readRequest(undefined, { attach: ['a.png'] }, input('Which bridge is it?\n'));
    expect(read.request).toBe('Which bridge is it?');
  });

  it('is quoted for the shell in the suggested command', async () => {
    const message = /put it first: postchain run '`x`' --docs 'a b'$/u;
    await expect(readRequest(undefined, { docs: ['a b', '`x`'] }, input(''))).rejects.toThrow(message);
  });

  it('is not a second file after --attach', async () => {
    const path = fileWith('');
    await expect(readRequest(path, { attach: ['a.png'] })).rejects.toMatchObject({
      code: 'invalid_request',
      message: `Expected a request; received the file ${JSON.stringify(path)}. --attach takes one file; repeat it for more: --attach a.png --attach ${path}`,
    });
  });
});

describe('the start of postchain run', () => {
  it('lists the flags that the extractive model ignores', async () => {
    const flags = {
      model: 'offline',
      journal: false,
      api: 'chat',
      reasoningEffort: 'low',
      serviceTier: 'flex',
    } as const;
    const { notes, close } = await prepareRun(flags);
    await close();
    expect(notes).toContain('The extractive model ignores --api, --reasoning-effort, --service-tier');
  });

  it('says nothing about flags that were not given', async () => {
    const { notes, close } = await prepareRun({ model: 'offline', journal: false });
    await close();
    expect(notes).toHaveLength(1);
  });

  it('takes the media type of an attached image from its bytes, whatever its name', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'attach-')), 'photo.png');
    writeFileSync(path, Buffer.from('/9j/', 'base64'));
    expect(await readAttachment(path)).toMatchObject({ mediaType: 'image/jpeg', filename: 'photo.png' });
    writeFileSync(path, 'unknown');
    await expect(readAttachment(path)).rejects.toThrow('expected a PNG, JPEG, GIF, WebP or PDF file; received');
  });
});
