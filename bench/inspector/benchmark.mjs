import { strict as assert } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { against, median, row } from '../row.mjs';
import { measureLive } from './live.mjs';
import { startChromium } from './page.mjs';
import { freePort } from './plain-page.mjs';
import { measureOpening, measureRecording, recordLongRun } from './recording.mjs';

const ENTRIES = 100_000;
const ROUNDS = 3;
const PANELS = ['Why', 'Output', 'Context', 'Events', 'Overlay'];

/** What people wait for in the inspector, in a real Chromium, beside the limits that were set for it. */
export async function measureInspector() {
  // Chromium is unpacked into the project's folder, and the README's run is of its documents.
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const port = await freePort();
  const browser = await startChromium(port);
  const recording = await recordLongRun(ENTRIES);
  try {
    const live = [];
    const opened = [];
    const recorded = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      live.push(await measureLive(browser));
      opened.push(await measureOpening(port, recording));
      recorded.push(await measureRecording(browser, recording, PANELS));
    }
    for (const { faults } of [...live, ...recorded]) assert.deepEqual(faults, []);
    for (const { answered } of live) assert.match(answered ?? '', /^answered/u);
    const lags = live.flatMap((one) => one.lags);
    const frames = PANELS.flatMap((panel) => {
      const all = recorded.flatMap((one) => one.frames[panel] ?? []);
      return [
        within(`a frame of scrubbing, ${panel}`, [median(all)], 20),
        within(`the 95th percentile, ${panel}`, [percentile(all, 0.95)], 50),
      ];
    });
    return {
      title: `the README's run live, and a recording of ${recording.count} entries`,
      rows: [
        within(
          'opening to chart',
          live.map(({ chartMs }) => chartMs),
          1_500,
        ),
        within(
          'an entry written to shown, the slowest of a run',
          live.map((one) => Math.max(...one.lags)),
          100,
        ),
        row('the same, the median', [median(lags) * 1_000]),
        within('a long recording opened', opened, 3_000),
        ...frames,
        bytesWithin(
          'the heap, at its most',
          recorded.map(({ heapBytes }) => heapBytes),
          400_000_000,
        ),
        row(
          'the heap, without garbage',
          recorded.map(({ keptBytes }) => keptBytes),
          'bytes',
        ),
      ],
      facts: { 'work of an idle live page, ms in 3 s': live.map(({ idleMs }) => Math.round(idleMs * 10) / 10) },
    };
  } finally {
    recording.remove();
    await browser.close();
  }
}

/** @param {string} what @param {readonly number[]} ms @param {number} limitMs */
function within(what, ms, limitMs) {
  const us = ms.map((one) => one * 1_000);
  return against(
    row(what, us),
    row(
      `${limitMs} ms`,
      us.map(() => limitMs * 1_000),
    ),
    { limit: 1 },
  );
}

/** @param {string} what @param {readonly number[]} bytes @param {number} limit */
function bytesWithin(what, bytes, limit) {
  return against(
    row(what, bytes, 'bytes'),
    row(
      `${limit / 1e6} MB`,
      bytes.map(() => limit),
      'bytes',
    ),
    { limit: 1 },
  );
}

/** @param {readonly number[]} samples @param {number} share */
function percentile(samples, share) {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
