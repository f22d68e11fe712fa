import { assertDone, startLongRun } from './long-run.mjs';
import { MODEL_PHASES } from './replies.mjs';

/**
 * Measures microseconds per phase step through all of PostChain, including starting the run and writing the final answer. With
 * `watched`, every event and partial value is read.
 *
 * @param {{ cycles: number, watched?: boolean }} options
 */
export async function measure({ cycles, watched = false }) {
  const startedAt = performance.now();
  const run = startLongRun(cycles);
  const events = watched ? readAll(run.events) : null;
  await run.answer;
  const seen = await events;
  const microseconds = ((performance.now() - startedAt) * 1000) / (cycles * MODEL_PHASES.length);
  await assertDone(run, cycles);
  const context = run.actor.getSnapshot().context.messages.length;
  return {
    microseconds,
    entries: run.journal.length / (cycles * MODEL_PHASES.length),
    context,
    partials: seen?.partials ?? 0,
  };
}

/** @param {AsyncIterable<{ type: string }>} events */
async function readAll(events) {
  let partials = 0;
  for await (const event of events) if (event.type === 'partial') partials += 1;
  return { partials };
}
