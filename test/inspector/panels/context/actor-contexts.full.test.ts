import { beforeAll, describe, expect, it } from 'vitest';
import { buildTestPage, openTestPage, pageTests } from '../../../support/inspector/test-page.ts';

const tests = await pageTests('the contexts of actors');

beforeAll(() => buildTestPage(tests));

/** The messages of a system of two actors: a context may be any JSON. */
const entryLines = [
  { type: 'keyframe', state: { door: { open: false, guests: ['<b>Ann</b>'] } } },
  { type: 'delivery', event: { type: 'knock' }, actor: 'door', sender: null },
  { type: 'state', changes: [{ path: ['door', 'open'], value: true }] },
  { type: 'state', changes: [{ path: ['messages'], value: { count: 3 } }] },
].map((fact, seq) => JSON.stringify({ ...fact, seq, atMs: seq }));

describe.skipIf(tests.areSkipped)('the context of a third-party system', () => {
  it('shows its actors as trees with differences by path, and accepts no events', async () => {
    const page = await openTestPage(tests, '/run/x/0?panel=context');
    await page.evaluate((lines) => {
      const known = { runId: 'x', kind: 'system', title: 'Doors', startedAt: '', status: 'running' } as const;
      window.listener.connection('open');
      window.listener.runs([{ ...known, live: true, fidelity: [], summary: null }], 'x', 0);
      window.listener.entries('x', 0, lines);
    }, entryLines);
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
    await page.getByRole('button', { name: 'Act', exact: true }).click();
    expect(await page.locator('#panel').innerText()).toContain('The inspector only observes this actor system');
  });
});
