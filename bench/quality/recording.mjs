import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The recording of a contender: a file of JSON lines, first a description of the recording, then one line per question.
 *
 * @typedef {object} About
 * @property {string} contender
 * @property {string} model
 * @property {string} server
 * @property {number} concurrency
 * @property {string} startedAt
 * @property {Readonly<Record<string, string>>} versions
 *
 * @typedef {import('./corpora.mjs').Question & import('./contenders.mjs').Reply} Row
 * @typedef {{ id: string, failure: string }} Failed The model could not be reached. The question is asked again when the recording continues.
 * @typedef {{ about: About, rows: readonly Row[], failed: readonly Failed[] }} Recording
 */

const ORDER = ['plain', 'loop', 'langgraph', 'lean', 'balanced', 'thorough'];
/** What must not change within a recording. */
const FIXED = /** @type {const} */ (['contender', 'model', 'server', 'concurrency']);

/**
 * Opens the recording of a contender, and continues an earlier one. `add` appends a line. Throws if the earlier one was made with another
 * model, server or concurrency.
 *
 * @param {string} folder
 * @param {About} about
 */
export function openRecording(folder, about) {
  const path = join(folder, `${about.contender}.jsonl`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(about)}\n`);
  const recorded = readRecording(path);
  const changed = FIXED.find((name) => recorded.about[name] !== about[name]);
  if (changed !== undefined) {
    const [before, now] = [recorded.about[changed], about[changed]];
    throw new TypeError(`${path} was recorded with ${changed} ${before}, not ${now}; pass another --recordings`);
  }
  return {
    ...recorded,
    add: (/** @type {Row | Failed} */ row) => appendFileSync(path, `${JSON.stringify(row)}\n`),
  };
}

/**
 * Returns the recordings in a folder.
 *
 * @param {string} folder
 */
export function readRecordings(folder) {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
  if (files.length === 0) throw new TypeError(`no recordings (*.jsonl) in ${folder}`);
  const order = (/** @type {Recording} */ { about }) => ORDER.indexOf(about.contender);
  return files.map((name) => readRecording(join(folder, name))).sort((a, b) => order(a) - order(b));
}

/**
 * Returns a recording. A line that an interruption cut off is removed; of several lines for a question, the last one counts.
 *
 * @param {string} path
 * @returns {Recording}
 */
function readRecording(path) {
  const text = readFileSync(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) truncateSync(path, Buffer.byteLength(whole));
  const [about, ...lines] = whole
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  if (about === undefined) throw new TypeError(`${path} is empty; delete it`);
  const latest = [...new Map(lines.map((line) => [line.id, line])).values()];
  return {
    about,
    rows: latest.filter(({ failure }) => failure === undefined),
    failed: latest.filter(({ failure }) => failure !== undefined),
  };
}
