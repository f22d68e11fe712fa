import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../../src/cli/read-request.ts';
import { fileWith } from '../../support/journal-files.ts';

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

  it('is not a second file after --attach', async () => {
    const path = fileWith('');
    await expect(readRequest(path, { attach: ['a.png'] })).rejects.toMatchObject({
      code: 'invalid_request',
      message: `Expected a request; received the file ${JSON.stringify(path)}. --attach takes one file; repeat it for more: --attach a.png --attach ${path}`,
    });
  });
});
