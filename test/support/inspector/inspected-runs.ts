import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { chartsOfActors } from '../../../inspector/fold/actor-charts.ts';
import { RunFold } from '../../../inspector/fold/run-fold.ts';
import { RunLog } from '../../../inspector/wire/run-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { PassageSource } from '../../../machines/contracts/passage.ts';
import { originOf, runStartOf } from '../../../src/chain/journal/run-start.ts';
import { stateHistory } from '../../../src/chain/journal/state-at.ts';
import { storedEntry } from '../../../src/chain/journal/stored-entries.ts';
import type { ProfileOption } from '../../../src/chain/runtime/profile.ts';
import type { Run } from '../../../src/chain/runtime/run.ts';
import { loadDocuments } from '../../../src/documents/load-documents.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import type { JournalStore } from '../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { forkOf, frameWriter, runCharts } from '../../../src/inspection/source.ts';
import { actorStates } from '../../../src/inspection/systems/recorded-states.ts';
import type { ExportedRun, InspectedRun, RunCharts } from '../../../src/inspection/wire.ts';
import { WIRE_VERSION } from '../../../src/inspection/wire.ts';
import { extractiveModel } from '../../../src/models/extractive/extractive-model.ts';
import { replies } from '../../../src/testing/replies.ts';
import { LONG_HISTORY } from '../journal-files.ts';
import {
  fullChain,
  fullRunArbitrary,
  fullRunOptions,
  type RandomRun,
  randomChain,
  randomRunArbitrary,
  runUntilEnded,
} from '../random-runs.ts';
import {
  everyTask,
  type Plan,
  type ScriptedRun,
  scriptedChain,
  sendAnswer,
  startScripted,
  unsureAnswer,
  workCall,
} from '../run-chain.ts';
import { type PausableModel, pausableModel } from '../scripted-models.ts';

/** PostChain's charts as the inspection server sends them. */
export const ownCharts = runCharts();

/** A run as the inspection server sends it. */
export interface RecordedRun {
  readonly run: InspectedRun;
  readonly charts: RunCharts;
  readonly lines: readonly string[];
  readonly states: readonly string[];
}

/** The state frames of a run as the inspection server sends them. */
export const stateFrames = (entries: readonly JournalEntry[]): readonly string[] =>
  stateHistory(entries)
    .states.map(frameWriter())
    .map((frame) => JSON.stringify(frame));

function recordedRun(entries: readonly JournalEntry[], changes: Partial<RecordedRun> = {}): RecordedRun {
  const [start, end] = [entries[0], entries.at(-1)];
  if (start?.type !== 'start') throw new Error('the first entry must be start');
  const { runId, request: title } = start.input;
  const { startedAt } = start;
  const status = end?.type === 'end' ? end.summary.status : 'interrupted';
  return {
    run: {
      runId,
      kind: 'run',
      title,
      startedAt,
      ...forkOf(originOf(start)),
      status,
      live: false,
      fidelity: [],
      summary: null,
    },
    charts: ownCharts,
    lines: entries.map((entry) => JSON.stringify(entry)),
    states: stateFrames(entries),
    ...changes,
  };
}

/** A run, a fork of it that a lower threshold ends immediately, and a run with one invalid reply and a confident answer. */
async function threeRuns() {
  const journals = memoryJournals();
  let made = 0;
  const newId = () => `run-${made++}`;
  const limits = { maxCycles: 2, backoffBaseMs: 0 };
  const chainOf = (plan: Plan) => scriptedChain(plan, { journals, newId, limits }).chain;
  const unsure = chainOf({ yield: (call: number) => unsureAnswer(call) });
  const run = unsure.run({ request: 'Is it so?' });
  await run.answer;
  const at = run.entries.find(({ type }) => type === 'decision')?.seq ?? 0;
  const fork = await unsure.fork(run.id, { at, set: { 'thresholds.confidence': 0.1 } });
  await fork.answer;
  const sure = chainOf({
    intention: (call: number) =>
      call === 1
        ? { text: '{"goal": 3}' }
        : { goal: 'To know', alternatives: [], clarity: 0.9, unclearIntent: false, alignment: [] },
    yield: (call: number) => unsureAnswer(call, { confidence: 0.97 }),
  }).run({ request: 'Is it so?' });
  await sure.answer;
  return { run: run.entries, fork: fork.entries, sure: sure.entries } satisfies Record<string, readonly JournalEntry[]>;
}

export async function threeRecordedRuns() {
  const { run, fork, sure } = await threeRuns();
  return [recordedRun(run), recordedRun(fork), recordedRun(sure)];
}

/** Writes an exported page with this run and returns its URL. Needs a built `dist`. */
export function filePage(entries: readonly JournalEntry[], folder: string): string {
  const { run, charts, lines, states } = recordedRun(entries);
  const exported: ExportedRun = { version: WIRE_VERSION, run, charts, lines, states };
  const template = readFileSync('dist/inspector-file/index.html', 'utf8');
  const data = JSON.stringify(exported).replaceAll('<', '\\u003c');
  const checksum = createHash('sha256').update(data).digest('hex');
  const path = join(folder, `${run.runId}.html`);
  writeFileSync(
    path,
    template.replace(
      /(<script type="application\/json" id="recording">)(?=<)/u,
      () => `<script type="application/json" id="recording" data-sha256="${checksum}">${data}`,
    ),
  );
  return pathToFileURL(path).href;
}

/** A slow reply arrives in many pieces, which are recorded one by one. */
export function inSmallPieces(recorded: readonly JournalEntry[]): readonly JournalEntry[] {
  return recorded
    .flatMap((entry): readonly JournalEntry[] =>
      entry.type === 'text-delta'
        ? (entry.text.match(/.{1,18}/gsu) ?? ['']).map((text) => ({ ...entry, text }))
        : [entry],
    )
    .map((entry, seq): JournalEntry => ({ ...entry, seq }));
}

/** Processes journal entries as the inspector's page does. */
export function folded(entries: readonly JournalEntry[]): { readonly log: RunLog; readonly fold: RunFold } {
  const log = new RunLog();
  const fold = new RunFold();
  log.add(
    entries.map((entry) => JSON.stringify(entry)),
    fold.take,
  );
  fold.states.add(0, stateFrames(entries));
  return { log, fold };
}

/** Processes the entries and state frames of a system, each as JSON, as the inspector's page does. */
export function foldedSystem(lines: readonly string[], frames: readonly string[] = [], order = 'entries first') {
  const log = new RunLog();
  const fold = new RunFold();
  if (order === 'states first') fold.takeStates(0, frames);
  log.add(lines, fold.takeOfActor as never, fold.readOfActor);
  if (order === 'entries first') fold.takeStates(0, frames);
  return { log, fold };
}

/** Processes the entries of a durable actor, with the charts and states of a replay, as the inspector's page does. */
export function foldedActor(entries: readonly DurableEntry[], machine: unknown) {
  const frames: string[] = [];
  let charts: RunCharts = { charts: [], invoked: {} };
  for (const more of actorStates(entries, machine as never, (all) => {
    charts = all;
  }))
    frames.push(...more.map((frame) => JSON.stringify(frame)));
  const lines = entries.map((entry) => JSON.stringify(entry));
  const { log, fold } = foldedSystem(lines, frames);
  return { log, fold, charts: chartsOfActors(charts, fold.charts) };
}

type UserEvents = RandomRun['words'];
type StartOptions = Parameters<ReturnType<typeof scriptedChain>['chain']['run']>[0];

/** Runs a scripted chain to its end on a simulated clock. */
export async function runToAnswer(
  plan: Plan,
  options: Parameters<typeof scriptedChain>[1] = {},
  start: Partial<StartOptions> = {},
  userEvents: UserEvents = [],
  onStart: (run: ScriptedRun['run']) => void = () => {},
): Promise<ScriptedRun['run']> {
  const { chain, clock } = scriptedChain(plan, { journals: memoryJournals(), ...options });
  const run = chain.run({ request: 'Is it so?', ...start });
  onStart(run);
  await runUntilEnded(run, clock, userEvents);
  await run.answer;
  return run;
}

/** The run's journal after a round trip through JSON. */
export const recordedEntries = (run: ScriptedRun['run']): readonly JournalEntry[] =>
  JSON.parse(JSON.stringify(run.entries));

const invalidReply = { text: 'Let me see. {"answer": 3, "confidence": "high", "taskComplete": false}' };
const serverError = { failure: { code: 'server_error', status: 503, retryAfterMs: 2_000 } };

/** A run with transport retries, corrections, a failed phase, capabilities and three cycles. */
export const failingRun = () =>
  runToAnswer(
    {
      action: (call: number) => (call === 1 ? serverError : { ...replies.action, calls: [workCall] }),
      observation: { text: '{"insights": ["It is so", 3], "undigested": "no"}' },
      yield: (call: number) =>
        call === 2 ? invalidReply : call < 4 ? unsureAnswer(call, { proposedPhase: 'action' }) : replies.yield,
    },
    { ...everyTask.options, limits: { maxCycles: 4, maxTransportRetries: 1, maxPhaseRetries: 1 } },
    { messages: everyTask.run.messages },
    [
      { afterSteps: 4, word: 'nonsense' },
      { afterSteps: 6, word: 'consent' },
    ],
  );

/** A manual run: the user gives consent and directions, sends unexpected events, and finishes the run. */
export const manualRun = () =>
  runToAnswer(
    { yield: (call: number) => unsureAnswer(call) },
    { limits: { maxCycles: 9 } },
    { mode: 'manual', history: LONG_HISTORY },
    [
      { afterSteps: 2, word: 'consent' },
      { afterSteps: 60, word: 'nonsense' },
      { afterSteps: 70, word: 'direct' },
      { afterSteps: 74, word: 'overrule' },
      { afterSteps: 78, word: 'undo' },
      { afterSteps: 90, word: 'finish' },
      { afterSteps: 92, word: 'direct' },
    ],
    (run) => {
      run.send({ type: 'run.adjusted', thresholds: { confidence: 0.8 } });
      sendAnswer(run, { type: 'consent.given', choice: 'remove' });
    },
  );

/** A manual run that waits for its user. */
export const waitingRun = () =>
  startScripted(
    { yield: (call: number) => unsureAnswer(call) },
    { newId: () => 'waiting' },
    { request: 'Which way?', mode: 'manual', history: LONG_HISTORY },
  ).run;

/** A run that ends with a confident answer in its first cycle. */
export const plainRun = () => runToAnswer({});

/** A run on the real charts with retries, failures, tools, a session and user events. */
export async function fullRun(seed: number): Promise<readonly JournalEntry[]> {
  const [full] = fc.sample(fullRunArbitrary, { seed, numRuns: 1 });
  if (full === undefined) throw new Error('no run');
  const { chain, clock } = fullChain(full, { journals: memoryJournals() });
  const run = chain.run(fullRunOptions(full));
  await runUntilEnded(run, clock, full.random.words);
  return run.entries;
}

async function recordRandomRun(random: RandomRun): Promise<readonly JournalEntry[]> {
  const { chain, clock } = randomChain(random, { journals: memoryJournals() });
  const run = chain.run({ request: 'Is it so?', startAt: random.startAt, mode: random.mode });
  await runUntilEnded(run, clock, random.words);
  return JSON.parse(JSON.stringify(run.entries));
}

/** Records random runs; the same seed gives the same runs. */
export async function randomRuns(numRuns: number, seed: number): Promise<readonly (readonly JournalEntry[])[]> {
  const runs: (readonly JournalEntry[])[] = [];
  for (const random of fc.sample(randomRunArbitrary, { numRuns, seed })) runs.push(await recordRandomRun(random));
  return runs;
}

const PASSAGE_TEXT = 'It is so, and it was so in winter.';
const passageIndex = createPassageIndex([
  {
    path: 'a.md',
    blocks: [{ text: PASSAGE_TEXT, heading: ['A'], startLine: 1, endLine: 1, kind: 'prose', lines: [1] }],
  },
]);

const LONG_MESSAGE = `The boat was late again. ${'It comes when the sea is calm, or so they say. '.repeat(40)}`.trim();
const HOSTILE_REPLY = '<img src=x onerror="window.hacked = true">\u202Egnp.exe and more';

/** A run whose context is extended, linked, rated, pruned and summarized with consent, in several cycles with a direction. */
export async function contextRun(): Promise<readonly JournalEntry[]> {
  const { run } = startScripted(
    {
      action: (call: number) => ({
        ...replies.action,
        response: `${HOSTILE_REPLY} ${call}. ${'It may be so, they say. '.repeat(12)}`,
      }),
      yield: (call: number) =>
        call < 3 ? { ...replies.yield, confidence: 0.3, answer: `So it is, ${'or not '.repeat(call)}` } : replies.yield,
    },
    {
      documents: passageIndex,
      thresholds: { prune: 0.45, summarize: 0.9, change: 0 },
    },
    { history: [{ role: 'user', content: LONG_MESSAGE }], mode: 'manual' },
  );
  for await (const event of run.events) {
    if (event.type === 'consent-asked') sendAnswer(run, { type: 'consent.given', choice: 'summarize' });
    if (event.type === 'direction-asked')
      sendAnswer(run, event.cycle < 3 ? { type: 'run.directed', phase: 'action' } : { type: 'run.finished' });
  }
  return run.entries;
}

/** How much each counter of an entry grows per repetition. */
interface Increments {
  readonly seq: number;
  readonly atMs: number;
  readonly calls: number;
  readonly cycles: number;
  readonly steps: number;
}

/** Makes a journal with `count` entries by repeating those of a real run with increasing numbers and times. */
export function longRun(entries: readonly JournalEntry[], count: number): readonly JournalEntry[] {
  const [start, ...rest] = entries;
  if (start === undefined) throw new Error('no entries');
  const body = rest.filter(({ type }) => type !== 'end' && type !== 'answer');
  const countOf = (read: (entry: JournalEntry) => number): number => Math.max(...body.map(read)) + 1;
  const increments: Increments = {
    seq: body.length,
    atMs: 3 * body.length,
    calls: countOf((entry) => ('activity' in entry ? (entry.activity ?? -1) : -1)),
    cycles: countOf((entry) => ('cycle' in entry ? entry.cycle : 0)) - 1,
    steps: countOf((entry) => ('step' in entry ? entry.step : 0)) - 1,
  };
  const made: JournalEntry[] = [start];
  for (let repetition = 0; made.length < count - 1; repetition += 1)
    body.forEach((entry, index) => {
      if (made.length < count - 1) made.push(repeatEntry(entry, repetition, index, increments));
    });
  const end = entries.at(-1);
  if (end !== undefined) made.push({ ...end, seq: made.length, atMs: (made.at(-1)?.atMs ?? 0) + 1 });
  return made;
}

function repeatEntry(entry: JournalEntry, repetition: number, index: number, increments: Increments): JournalEntry {
  return {
    ...entry,
    seq: 1 + repetition * increments.seq + index,
    atMs: 1 + repetition * increments.atMs + index * 3,
    ...('activity' in entry && { activity: (entry.activity ?? 0) + repetition * increments.calls }),
    ...('cycle' in entry && { cycle: entry.cycle + repetition * increments.cycles }),
    ...('step' in entry && { step: entry.step + repetition * increments.steps }),
    ...('attemptId' in entry && { attemptId: `${repetition}.${entry.attemptId}` }),
  } as JournalEntry;
}

let docsIndex: Promise<PassageSource> | undefined;

/** Searches the documentation, which is loaded on the first search. */
const documentation: PassageSource = {
  async search(query, options) {
    docsIndex ??= loadDocuments(['docs']).then(({ documents }) => createPassageIndex(documents));
    return (await docsIndex).search(query, options);
  },
};

/** Starts the README's run with the extractive model; the model pauses in the calls with these numbers until the test resumes it. */
export function readmeRun(
  pausedCalls: readonly number[] = [],
  runId = 'readme',
  // Paused calls need a run with several of them.
  profile: ProfileOption = pausedCalls.length > 0 ? 'thorough' : 'balanced',
): { readonly run: Run; readonly model: PausableModel } {
  const model = pausableModel(extractiveModel(), pausedCalls);
  const chain = createPostChain({
    model,
    documents: documentation,
    journals: memoryJournals(),
    newId: () => runId,
    profile,
  });
  return { run: chain.run({ request: 'What does the Yield phase decide, and in which order?' }), model };
}

/** A journal store with these runs. */
export function storeOf(runs: readonly (readonly JournalEntry[])[]): JournalStore {
  const journals = memoryJournals();
  for (const entries of runs) {
    const writer = journals.create(runStartOf(entries).input.runId);
    writer.write(entries.map(storedEntry));
    void writer.close();
  }
  return journals;
}
