import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../src/journal/memory-journals.ts';
import { type Plan, scriptedChain, unsureAnswer } from '../../support/run-chain.ts';
import { heldRun } from './held-run.ts';

/** A run, a fork of it that its threshold ends at once, and one whose model failed once and was sure in the end. */
async function threeRuns() {
  const journals = memoryJournals();
  let made = 0;
  const newId = () => `run-${made++}`;
  const limits = { maxCycles: 2, backoffBaseMs: 0 };
  const chainOf = (plan: Plan) => scriptedChain(plan, { journals, newId, limits }).chain;
  const unsure = chainOf({ yield: (call: number) => unsureAnswer(call) });
  const run = unsure.run({ request: 'Is it so?' });
  await run.answer;
  const at = run.journal.find(({ type }) => type === 'decision')?.seq ?? 0;
  const fork = await unsure.fork(run.runId, { at, set: { 'thresholds.confidence': 0.1 } });
  await fork.answer;
  const sure = chainOf({
    intention: (call: number) =>
      call === 1
        ? { text: '{"goal": 3}' }
        : { goal: 'To know', alternatives: [], clarity: 0.9, unclearIntent: false, alignment: [] },
    yield: (call: number) => unsureAnswer(call, { confidence: 0.97 }),
  }).run({ request: 'Is it so?' });
  await sure.answer;
  return { run: run.journal, fork: fork.journal, sure: sure.journal } satisfies Record<string, readonly JournalEntry[]>;
}

export async function threeHeldRuns() {
  const { run, fork, sure } = await threeRuns();
  return [heldRun(run), heldRun(fork), heldRun(sure, { test: { text: '', problem: 'It cannot be replayed.' } })];
}
