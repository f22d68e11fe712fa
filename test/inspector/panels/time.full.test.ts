import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { groupOf } from '../../../inspector/fold/entries.ts';
import { excerpt } from '../../../inspector/fold/text.ts';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { filePage, fullRun } from '../../support/inspector/inspected-runs.ts';
import { axeViolations } from '../../support/inspector/page-checks.ts';
import { pageTests } from '../../support/inspector/test-page.ts';

const { areSkipped, folder, newPage } = await pageTests('the timeline and the events');
/** Has retries, delays, a failed phase, tools, a session, and a user event. */
const entries = await fullRun(9);
const runId = entries[0]?.type === 'run-start' ? entries[0].runId : '';
let address = '';

/** The stylesheet as built. */
beforeAll(() => {
  if (!areSkipped) address = filePage(entries, folder);
});

async function open(at: number | null = 0, viewport = { width: 1280, height: 720 }): Promise<Page> {
  const page = await newPage({ viewport });
  await page.goto(`${address}#/run/${runId}${at === null ? '' : `/${at}`}?panel=raw`);
  await page.locator('.event-row.at').waitFor();
  return page;
}

const LANES = ['Cycles', 'Phases', 'Model calls', 'Search', 'Tools'];
/** Below the top of the track, in pixels. */
const RULER_Y = 8;
const laneY = (lane: string): number => 18 + 17 * (LANES.indexOf(lane) + 0.5);
const card = (page: Page) => page.getByRole('tooltip');
const sums = (page: Page) => page.locator('.range-sums [role=status]').textContent();

async function boxOf(page: Page) {
  const box = await slider(page).boundingBox();
  if (box === null) throw new Error('no track');
  return box;
}

const slider = (page: Page) => page.getByRole('slider', { name: 'Time' });
const cursorOf = async (page: Page): Promise<number> => Number(await slider(page).getAttribute('aria-valuenow'));
const rowsOf = (page: Page) => page.getByRole('listbox', { name: 'Events' }).getByRole('option');
const atRow = (page: Page) => rowsOf(page).and(page.locator('[aria-selected=true]'));
const seqsOf = (type: string): readonly number[] =>
  entries.filter((entry) => entry.type === type).map(({ seq }) => seq);
/** Waits until the cursor reaches an entry. */
const standsAt = (page: Page, seq: number) => expect.poll(() => cursorOf(page)).toBe(seq);

declare global {
  interface Window {
    /** How often the cursor was animated. */
    glides?: number;
    /** What is written on each canvas, by its class. */
    texts: Map<string, { text: string; left: number; right: number; y: number; px: number }[]>;
  }
}

/** Records the texts on all canvases since they were last cleared. */
function noteTexts(): void {
  window.texts = new Map();
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    window.texts.set(this.canvas.className, []);
    clearRect.apply(this, area);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, left, y) {
    const px = Number(/(\d+)px/u.exec(this.font)?.[1]);
    window.texts.get(this.canvas.className)?.push({ text, left, right: left + this.measureText(text).width, y, px });
    fillText.call(this, text, left, y);
  };
}

describe.skipIf(areSkipped)('the timeline', () => {
  it('steps by entry, transition, phase, and cycle to both ends, and shows the position', async () => {
    const page = await open();
    const press = async (key: string, seq: number): Promise<void> => {
      await page.keyboard.press(key);
      await standsAt(page, seq);
    };
    const [first = 0, second = 0, third = 0] = seqsOf('phase-start');
    await press(']', first);
    await press(']', second);
    await press('ArrowRight', second + 1);
    await press('[', second);
    await press('[', first);
    const moves = entries.filter((entry) => entry.type === 'transition').filter((entry) => !isInternal(entry));
    const after = moves.find(({ seq }) => seq > first)?.seq ?? 0;
    await press('Shift+ArrowRight', after);
    await press('ArrowLeft', after - 1);
    await press('Home', 0);
    await press('}', first);
    await press('End', entries.length - 1);
    await press('{', first);
    await slider(page).focus();
    await press('PageDown', entries.length - 1);
    await press('PageUp', first);
    await page.keyboard.press('ArrowDown');
    await press('PageDown', second);
    await press('PageUp', first);
    await page.keyboard.press(']');
    await press(']', third);
    const start = entries[third];
    if (start?.type !== 'phase-start') throw new Error('no phase');
    expect(await slider(page).getAttribute('aria-valuetext')).toContain(`entry ${third} of ${entries.length - 1}, `);
    expect(await slider(page).getAttribute('aria-valuetext')).toMatch(
      new RegExp(`${start.phase}, cycle ${start.cycle}$`),
    );
    expect(await page.locator('.position').textContent()).toMatch(
      new RegExp(`^entry ${third} / ${entries.length - 1} · .* · cycle ${start.cycle} · ${start.phase}$`),
    );
  });

  it('moves the cursor when its ruler is dragged, to any entry', async () => {
    const page = await open();
    const box = await boxOf(page);
    await page.mouse.move(box.x + box.width * 0.3, box.y + RULER_Y);
    await page.mouse.down();
    await expect.poll(() => cursorOf(page)).toBeGreaterThan(0);
    await page.mouse.move(box.x + box.width + 40, box.y + RULER_Y, { steps: 4 });
    await standsAt(page, entries.length - 1);
    await page.mouse.move(box.x - 40, box.y + RULER_Y, { steps: 4 });
    await page.mouse.up();
    const [time] = entries.filter(({ atMs }) => atMs > (entries[0]?.atMs ?? 0));
    await standsAt(page, (time?.seq ?? 0) - 1);
  });

  it('shows a card next to the pointer, which moves nothing, and for the bar at the cursor if it has the focus', async () => {
    const page = await open();
    const box = await boxOf(page);
    const places = () =>
      page
        .locator('.timeline, .timeline-bar > *, .lanes > :not(.hover-card)')
        .evaluateAll((all) => all.map((element) => JSON.stringify(element.getBoundingClientRect())));
    const before = await places();
    const pointer = { x: box.x + box.width * 0.3, y: box.y + laneY('Phases') };
    await page.mouse.move(pointer.x, pointer.y);
    await expect.poll(() => card(page).textContent()).toMatch(/^ExperienceCycle 1.*Failed: /u);
    const shown = await card(page).boundingBox();
    if (shown === null) throw new Error('no card');
    expect(Math.abs(shown.x - pointer.x)).toBeLessThan(40);
    expect(Math.abs(shown.y + shown.height - pointer.y)).toBeLessThan(60);
    expect(await places()).toEqual(before);
    expect(await cursorOf(page)).toBe(0);
    await page.mouse.move(10, 10);
    expect(await card(page).count()).toBe(0);

    const [phase] = seqsOf('phase-start');
    await page.keyboard.press(']');
    await standsAt(page, phase ?? -1);
    await slider(page).focus();
    expect(await card(page).textContent()).toMatch(/^Cycle 1.*\d model calls.*\d tokens in, \d+ out/u);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => card(page).textContent()).toMatch(/^ActionCycle 1/u);
    expect(await slider(page).getAttribute('aria-describedby')).toBe(await card(page).getAttribute('id'));
    expect(await axeViolations(page, '.timeline-area')).toEqual([]);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const end = entries.find(({ type, seq }) => type === 'phase-end' && seq > (phase ?? 0));
    await standsAt(page, end?.seq ?? -1);
  });

  it('selects the step whose bar is clicked, and sums up a range and a cycle', async () => {
    const page = await open();
    const box = await boxOf(page);
    await page.mouse.click(box.x + box.width * 0.3, box.y + laneY('Phases'));
    const starts = entries.filter((entry) => entry.type === 'phase-start');
    const experience = starts.find(({ phase }) => phase === 'experience')?.seq ?? 0;
    const end = entries.find(({ type, seq }) => type === 'phase-end' && seq > experience);
    await standsAt(page, end?.seq ?? -1);

    await page.mouse.move(box.x + 2, box.y + laneY('Phases'));
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + laneY('Phases'), { steps: 3 });
    await page.mouse.up();
    const attempts = seqsOf('attempt-start').length;
    const failed = entries.filter((entry) => entry.type === 'attempt-end' && entry.failure !== null).length;
    await expect
      .poll(() => sums(page))
      .toMatch(new RegExp(`^Range: .* · ${attempts} model calls, ${failed} failed, .* tokens in, `));
    expect(await cursorOf(page)).toBe(end?.seq);
    expect(await axeViolations(page, '.timeline-area')).toEqual([]);
    await page.getByRole('button', { name: 'Clear the range' }).click();
    expect(await sums(page)).toBe('');

    await page.keyboard.press('Home');
    await slider(page).focus();
    await page.keyboard.press('r');
    await page.keyboard.press('End');
    await page.keyboard.press('r');
    await page.keyboard.press('Home');
    await expect.poll(() => sums(page)).toContain(`${attempts} model calls, ${failed} failed`);
    await page.keyboard.press('Escape');
    await expect.poll(() => sums(page)).toBe('');
    await page.mouse.click(box.x + box.width * 0.3, box.y + laneY('Cycles'));
    await expect.poll(() => sums(page)).toMatch(/^Range: .* · \d+ model calls/u);
  });

  it('writes names whole or not at all, nothing over another, and the length of a shortened gap as idle time', async () => {
    const page = await newPage();
    await page.addInitScript(noteTexts);
    await page.goto(`${address}#/run/${runId}/0?panel=raw`);
    await page.locator('.event-row.at').waitFor();
    for (const width of [1440, 1280, 700]) {
      await page.setViewportSize({ width, height: 720 });
      await expect.poll(() => slider(page).evaluate(({ clientWidth }) => clientWidth < innerWidth)).toBe(true);
      const texts = await page.evaluate(() =>
        [...window.texts].flatMap(([canvas, all]) => all.map((one) => ({ canvas, ...one }))),
      );
      const ruler = texts.filter(({ canvas }) => canvas === 'ruler').map(({ text }) => text);
      expect(ruler).toContain('0 s');
      expect(ruler.join('\n')).toMatch(/^… 6 min 50 s idle$/mu);
      expect(ruler.filter((text) => !/^(?:\d+ min)?(?: ?\d+ s)?$|idle$/u.test(text))).toEqual([]);
      expect(texts.filter(({ px }) => px < 11)).toEqual([]);
      const bars = texts.filter(({ canvas }) => canvas === 'bars');
      expect(bars.length).toBeGreaterThan(3);
      expect(bars.filter(({ text }) => text.endsWith('…'))).toEqual([]);
      const over = texts.filter((one) =>
        texts.some(
          (other) =>
            one !== other &&
            one.canvas === other.canvas &&
            Math.abs(one.y - other.y) < 8 &&
            one.left <= other.left &&
            other.left < one.right,
        ),
      );
      expect(over).toEqual([]);
    }
  });

  it('redraws its bars when zoomed, not when only the cursor moves', async () => {
    const page = await open();
    const drawn = () => page.locator('.track .bars').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const whole = await drawn();
    await page.keyboard.press(']');
    await expect.poll(() => cursorOf(page)).toBeGreaterThan(0);
    expect(await drawn()).toBe(whole);
    await page.getByRole('button', { name: 'Zoom the timeline in' }).click();
    await expect.poll(drawn).not.toBe(whole);
    await page.getByRole('button', { name: 'whole run' }).click();
    await expect.poll(drawn).toBe(whole);
    await page.getByRole('button', { name: 'by entry' }).click();
    await expect.poll(drawn).not.toBe(whole);
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
    const lanes = await page.getByRole('list', { name: 'Lanes' }).getByRole('listitem').allTextContents();
    expect(lanes.slice(0, 5)).toEqual(LANES);
    expect(lanes).toContain('Session');
  });

  it.each([
    { reducedMotion: 'no-preference', glides: 1 },
    { reducedMotion: 'reduce', glides: 0 },
  ] as const)('lets the cursor glide to another entry unless motion is unwanted: $reducedMotion', async (motion) => {
    const page = await newPage({ reducedMotion: motion.reducedMotion });
    await page.addInitScript(() => {
      const { animate } = Element.prototype;
      Element.prototype.animate = function (...given) {
        if (this.classList.contains('cursor')) window.glides = (window.glides ?? 0) + 1;
        return animate.apply(this, given);
      };
    });
    await page.goto(`${address}#/run/${runId}/0?panel=raw`);
    await page.locator('.event-row.at').waitFor();
    await page.keyboard.press('End');
    await standsAt(page, entries.length - 1);
    expect((await page.evaluate(() => window.glides)) ?? 0).toBe(motion.glides);
  });

  it('plays to the end and stops when paused', async () => {
    const page = await open(entries.length - 4);
    await page.getByRole('button', { name: 'by entry' }).click();
    await page.getByRole('button', { name: 'by entry' }).blur();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    expect(await cursorOf(page)).toBe(entries.length - 1);
    await page.getByRole('button', { name: 'Play', exact: true }).press(' ');
    await page.getByRole('button', { name: 'Pause' }).press(' ');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    // The chart may still be moving to the active state.
    const framesAskedFor = () =>
      page.evaluate(async () => {
        const real = window.requestAnimationFrame;
        let asked = 0;
        window.requestAnimationFrame = (act) => {
          asked += 1;
          return real(act);
        };
        for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => real(done));
        window.requestAnimationFrame = real;
        return asked;
      });
    await expect.poll(framesAskedFor).toBe(0);
  });
});

describe.skipIf(areSkipped)('the Events panel', () => {
  it('lists all events, marks those after the cursor, and moves it by click and Enter', async () => {
    const page = await open(20);
    const list = page.getByRole('listbox', { name: 'Events' });
    expect(await atRow(page).getAttribute('aria-posinset')).toBe('21');
    expect(await atRow(page).getAttribute('aria-setsize')).toBe(String(entries.length));
    const later = await list.locator('.event-row.later .seq').allTextContents();
    expect(later.map(Number)).toEqual(Array.from({ length: later.length }, (_, index) => 21 + index));
    expect(later.length).toBeGreaterThan(3);
    await page.locator('#event-22').click();
    await standsAt(page, 22);
    await list.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await list.getAttribute('aria-activedescendant')).toBe('event-24');
    expect(await cursorOf(page)).toBe(22);
    await page.keyboard.press('Enter');
    await standsAt(page, 24);
  });

  it('keeps the row of the cursor in view and renders only visible rows', async () => {
    const page = await open();
    const list = page.getByRole('listbox', { name: 'Events' });
    for (const key of ['End', ']', 'Home', ']', ']', '}']) {
      await page.keyboard.press(key);
      await page.locator(`.event-row.at[id="event-${await cursorOf(page)}"]`).waitFor();
      const [row, box] = [await atRow(page).boundingBox(), await list.boundingBox()];
      if (row === null || box === null) throw new Error('nothing is seen');
      expect(row.y).toBeGreaterThanOrEqual(box.y - 1);
      expect(row.y + row.height).toBeLessThanOrEqual(box.y + box.height + 1);
      expect(await list.getByRole('option').count()).toBeLessThan(40);
    }
  });

  it('filters by type and searches: matches are counted, stepped through, and listed alone', async () => {
    const page = await open();
    const wanted = seqsOf('attempt-retry');
    await page.keyboard.press('/');
    expect(await page.getByRole('searchbox').evaluate((box) => box === document.activeElement)).toBe(true);
    await page.keyboard.type('type:attempt-retry');
    const matches = page.locator('.event-hits');
    await expect.poll(() => matches.textContent()).toBe(`${wanted.length} found`);
    await page.keyboard.press('Enter');
    await standsAt(page, wanted[0] ?? -1);
    await page.keyboard.press('Enter');
    await standsAt(page, wanted[1] ?? -1);
    expect(await matches.textContent()).toBe(`2 of ${wanted.length} found`);
    await page.keyboard.press('Shift+Enter');
    await standsAt(page, wanted[0] ?? -1);
    await page.getByRole('checkbox', { name: 'only matches' }).check();
    expect(await rowsOf(page).locator('.seq').allTextContents()).toEqual(wanted.map(String));
    await page.getByRole('button', { name: /^attempts/ }).click();
    await expect.poll(() => matches.textContent()).toBe('0 found');
    await page.getByRole('searchbox').press('Escape');
    const left = entries.filter(({ type }) => groupOf(type) !== 'attempts');
    await expect.poll(() => rowsOf(page).first().getAttribute('aria-setsize')).toBe(String(left.length));
    await page.getByRole('button', { name: 'all', exact: true }).click();
    await expect.poll(() => rowsOf(page).first().getAttribute('aria-setsize')).toBe(String(entries.length));
  });

  it('shows the entry at the cursor in full, with long texts truncated until expanded', async () => {
    const page = await open(0);
    const detail = page.getByRole('region', { name: 'Entry at the cursor' });
    const start = entries[0] as Extract<JournalEntry, { type: 'run-start' }>;
    const names = await detail.locator('.json > ul > li > .name, .json > ul > li > .branch > .name').allTextContents();
    expect(names).toEqual(Object.keys(start));
    await detail.getByRole('button', { name: /^limits/ }).click();
    expect(await detail.textContent()).toContain(`maxCycles: ${start.limits.maxCycles}`);
    await detail.getByRole('button', { name: /entry 0/ }).click();
    expect(await detail.locator('.json').count()).toBe(0);
    expect(excerpt(start.type, 24)).toBe('run-start');
  });
});
