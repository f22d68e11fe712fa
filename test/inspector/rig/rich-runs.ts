import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../src/journal/memory-journals.ts';
import { replies } from '../../../src/testing/replies.ts';
import { LONG_HISTORY } from '../../support/journal-files.ts';
import { type RandomRun, runUntilEnded } from '../../support/random-runs.ts';
import {
  everyTask,
  type Plan,
  type ScriptedRun,
  scriptedChain,
  unsureAnswer,
  workCall,
} from '../../support/run-chain.ts';

type Words = RandomRun['words'];
type Asked = Parameters<ReturnType<typeof scriptedChain>['chain']['run']>[0];

/** Plays a run to its end on its simulated clock. */
export async function play(
  plan: Plan,
  options: Parameters<typeof scriptedChain>[1] = {},
  asked: Partial<Asked> = {},
  words: Words = [],
  onStart: (run: ScriptedRun['run']) => void = () => {},
): Promise<ScriptedRun['run']> {
  const { chain, clock } = scriptedChain(plan, { journals: memoryJournals(), ...options });
  const run = chain.run({ request: 'Is it so?', ...asked });
  onStart(run);
  await runUntilEnded(run, clock, words);
  await run.answer;
  return run;
}

/** What a file or a server would give of it. */
export const recorded = (run: ScriptedRun['run']): readonly JournalEntry[] => JSON.parse(JSON.stringify(run.journal));

const misfit = { text: 'Let me see. {"answer": 3, "confidence": "high", "taskComplete": false}' };
const busy = { failure: { code: 'server_error', status: 503, retryAfterMs: 2_000 } };

/** Retries by transport and by corrections, a phase that fails, capabilities, and three cycles. */
export const stumbling = () =>
  play(
    {
      action: (call: number) => (call === 1 ? busy : { ...replies.action, call: workCall }),
      observation: { text: '{"insights": ["It is so", 3], "undigested": "no"}' },
      yield: (call: number) =>
        call === 2 ? misfit : call < 4 ? unsureAnswer(call, { proposedPhase: 'action' }) : replies.yield,
    },
    { ...everyTask.options, limits: { maxCycles: 4, maxTransportRetries: 1, maxPhaseRetries: 1 } },
    { messages: everyTask.run.messages },
    [
      { afterSteps: 4, word: 'nonsense' },
      { afterSteps: 6, word: 'consent' },
    ],
  );

/** The user is asked for consent and for directions, says what is not asked, and stops the run. */
export const manual = () =>
  play(
    { yield: (call: number) => unsureAnswer(call) },
    { limits: { maxCycles: 9 } },
    { mode: 'manual', history: LONG_HISTORY },
    [
      { afterSteps: 2, word: 'consent' },
      { afterSteps: 60, word: 'nonsense' },
      { afterSteps: 70, word: 'direct' },
      { afterSteps: 90, word: 'finish' },
      { afterSteps: 92, word: 'direct' },
    ],
    (run) => {
      run.send({ type: 'run.adjusted', thresholds: { confidence: 0.8 } });
      run.send({ type: 'consent.given', choice: 'remove' });
    },
  );

/** Answered with confidence in its first cycle. */
export const plain = () => play({});
