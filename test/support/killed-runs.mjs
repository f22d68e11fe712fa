import { createPostChain } from '../../dist/index.js';
import { replies, scriptedModel } from '../../dist/testing.js';
import { dayLongLimits, journalsAt } from './journals-at.mjs';

/** The answer that a run must give: that of the call that writes it, or Yield's. */
export const answerOf = ({ entries: [start] }) =>
  start.input.profile.writing === 'always' ? replies.synthesis.answerText : replies.yield.answer;

/**
 * Many runs at once, each on a chain of its own with one store; every second run has the default profile, and the others make a call per
 * phase, some of which start early. `onCall` gets the id of the run for each model call. As a program it
 * starts the runs, or resumes those that are not complete, and prints a line per model call: `node killed-runs.mjs file|sqlite|postgres PLACE COUNT`.
 * With `stay` at the end, it prints why their journals failed, and waits to be killed.
 */
export function someChains(kind, place, count, onCall) {
  const store = journalsAt(kind, place);
  const chains = Array.from({ length: count }, (_, at) => {
    const runId = `run-${at}`;
    const model = scriptedModel(
      (call) => {
        // The reply to a shared call is asked for phase by phase.
        if (call.task === (call.phases?.[0] ?? call.task)) onCall(runId);
        return { reply: replies[call.task] };
      },
      { chunkChars: 100 },
    );
    const profile = at % 2 === 0 ? 'thorough' : 'balanced';
    return {
      runId,
      chain: createPostChain({ model, profile, limits: dayLongLimits, journals: store, newId: () => runId }),
    };
  });
  return { store, chains };
}

/** Starts or resumes each run, and returns them. */
export async function continueRuns({ store, chains }) {
  const started = new Set((await store.list()).map(({ id }) => id));
  return await Promise.all(
    chains.map(({ runId, chain }) => (started.has(runId) ? chain.resume(runId) : chain.run({ request: 'Is it so?' }))),
  );
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , kind, place, count, then] = process.argv;
  const runs = await continueRuns(someChains(kind, place, Number(count), () => process.stdout.write('call\n')));
  await Promise.all(runs.map(({ answer }) => answer));
  if (then === 'stay') {
    process.stdout.write(`${JSON.stringify({ failures: runs.map(({ journalFailure }) => journalFailure) })}\n`);
    setInterval(() => {}, 60_000);
  }
}
