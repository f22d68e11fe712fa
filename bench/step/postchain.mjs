import { assertDone, startLongRun } from './long-run.mjs';
import { PHASES } from './replies.mjs';

/**
 * Microseconds a phase step of PostChain, through the whole product; starting the run and writing the final answer are
 * counted in. With `watched` somebody reads every event and partial value.
 *
 * @param {{ cycles: number, watched?: boolean }} options
 */
export async function measure({ cycles, watched = false }) {
  const startedAt = performance.now();
  const run = startLongRun(cycles);
  const events = watched ? readAll(run.events) : null;
  await run.answer;
  const seen = await events;
  const microseconds = ((performance.now() - startedAt) * 1000) / (cycles * PHASES.length);
  await assertDone(run, cycles);
  const context = run.actor.getSnapshot().context.messages.length;
  return {
    microseconds,
    entries: run.journal.length / (cycles * PHASES.length),
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
