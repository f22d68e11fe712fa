import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareRun } from '../../../src/cli/prepare-run.ts';
import { readAttachment } from '../../../src/cli/run-inputs.ts';

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

  it('takes the media type of an attached image from its bytes, and otherwise from its name', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'attach-')), 'photo.png');
    writeFileSync(path, Buffer.from('/9j/', 'base64'));
    expect(await readAttachment(path)).toMatchObject({ mediaType: 'image/jpeg', filename: 'photo.png' });
    writeFileSync(path, 'unknown');
    expect(await readAttachment(path)).toMatchObject({ mediaType: 'image/png' });
  });
});
