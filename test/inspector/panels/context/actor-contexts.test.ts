import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from '../../../support/browser.ts';
import type {} from '../../rig/live-page/main.ts';
import { buildLivePage } from '../../rig/live-page.ts';

const browser = await startBrowser();
const folder = await mkdtemp(join(tmpdir(), 'postchain-actors-'));

beforeAll(async () => {
  if (typeof browser !== 'string') await buildLivePage(folder);
}, 60_000);

afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await rm(folder, { recursive: true });
});

/** What a system of two actors tells: any JSON is a context. */
const told = [
  { type: 'keyframe', state: { door: { open: false, guests: ['<b>Ann</b>'] } } },
  { type: 'delivery', event: { type: 'knock' }, actor: 'door', sender: null },
  { type: 'state', changes: [{ path: ['door', 'open'], value: true }] },
  { type: 'state', changes: [{ path: ['messages'], value: { count: 3 } }] },
].map((fact, seq) => JSON.stringify({ ...fact, seq, atMs: seq }));

describe.skipIf(typeof browser === 'string')('the context of a foreign system', () => {
  it('is that of its actors as trees, compared by paths; nothing can be told to it', async () => {
    if (typeof browser === 'string') return;
    const page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(`${pathToFileURL(join(folder, 'index.html')).href}#run=x&at=0&panel=context`);
    await page.evaluate((lines) => {
      const known = { runId: 'x', kind: 'system', title: 'Doors', startedAt: '', status: 'running' } as const;
      window.ear.connection('open');
      window.ear.runs([{ ...known, live: true, fidelity: [] }], 'x');
      window.ear.entries('x', 0, lines);
    }, told);
    const door = page.getByRole('region', { name: 'Context of door' });
    await door.waitFor();
    expect(await door.innerText()).toContain('open: false');
    expect(await door.innerText()).toContain('"<b>Ann</b>"');
    await page.keyboard.press('m');
    await page.evaluate(() => window.inspector.moveTo(3));
    await page.getByRole('button', { name: 'Difference from entry 0' }).click();
    const fields = page.locator('.fields');
    expect((await fields.innerText()).split(/\s+/u).join(' ')).toContain('door.open: false true');
    expect(await fields.innerText()).toContain('{"count": 3}');
    await page.getByRole('tab', { name: 'Act' }).click();
    expect(await page.getByRole('tabpanel').innerText()).toContain('This is a system of another program');
    await page.close();
  });
});
