import { strict as assert } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { median, row, withinLimit } from '../row.mjs';
import { measureLive } from './live.mjs';
import { startChromium } from './page.mjs';
import { freePort } from './plain-page.mjs';
import { measureOpening, measureRecording, recordLongRun } from './recording.mjs';

const ENTRIES = 100_000;
const ROUNDS = 3;

/** Measures the inspector in a real Chromium against its limits. */
export async function measureInspector() {
  // Chromium is unpacked into the project directory, and the README's run reads its documents.
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
      recorded.push(await measureRecording(browser, recording));
    }
    for (const { faults } of [...live, ...recorded]) assert.deepEqual(faults, []);
    for (const { verdict } of live) assert.match(verdict ?? '', /^Completed/u);
    const lags = live.flatMap((one) => one.lags);
    const frames = Object.keys(recorded[0]?.frames ?? {}).flatMap((view) => {
      const all = recorded.flatMap((one) => one.frames[view] ?? []);
      return [
        within(`${view}, time per frame`, [median(all)], 20),
        within(`${view}, 95th percentile`, [percentile(all, 0.95)], 50),
      ];
    });
    return {
      title: `the README's run, live, and a recording of ${recording.count} entries`,
      rows: [
        within(
          'time to the first row of the trace',
          live.map(({ traceMs }) => traceMs),
          1_500,
        ),
        within(
          'delay from writing an entry to showing it, worst per run',
          live.map((one) => Math.max(...one.lags)),
          100,
        ),
        row('the same, median', [median(lags) * 1_000]),
        within('opening a long recording', opened, 3_000),
        ...frames,
        bytesWithin(
          'peak heap',
          recorded.map(({ heapBytes }) => heapBytes),
          400_000_000,
        ),
        row(
          'heap after garbage collection',
          recorded.map(({ keptBytes }) => keptBytes),
          'bytes',
        ),
      ],
      facts: { 'CPU time of an idle live page, ms in 3 s': live.map(({ idleMs }) => Math.round(idleMs * 10) / 10) },
    };
  } finally {
    recording.remove();
    await browser.close();
  }
}

/** @param {string} what @param {readonly number[]} ms @param {number} limitMs */
function within(what, ms, limitMs) {
  const us = ms.map((one) => one * 1_000);
  return withinLimit(row(what, us), `${limitMs} ms`, limitMs * 1_000);
}

/** @param {string} what @param {readonly number[]} bytes @param {number} limit */
function bytesWithin(what, bytes, limit) {
  return withinLimit(row(what, bytes, 'bytes'), `${limit / 1e6} MB`, limit);
}

/** @param {readonly number[]} samples @param {number} share */
function percentile(samples, share) {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
