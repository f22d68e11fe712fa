import { race } from '../race.mjs';
import { against, median, row } from '../row.mjs';
import { MODEL_PHASES, replyText } from './replies.mjs';

/** @typedef {{ microseconds: number, entries?: number, context?: number, partials?: number }} Sample */

/** Cycles of five steps per round: about 300 ms for each contender, so that a scheduling delay does not decide. */
const CYCLES = { 'hand-written loop': 10_000, 'bare XState': 2_000, 'LangGraph.js': 300, PostChain: 300 };
const contender = (/** @type {string} */ file) => new URL(file, import.meta.url);

/** Measures the cost of one phase step with a model that answers immediately. */
export async function measureStep() {
  const options = { cycles: CYCLES.PostChain };
  /** @type {Record<string, Sample[]>} */
  const measured = await race(
    [
      {
        name: 'hand-written loop',
        module: contender('hand-written.mjs'),
        options: { cycles: CYCLES['hand-written loop'] },
      },
      { name: 'bare XState', module: contender('bare-xstate.mjs'), options: { cycles: CYCLES['bare XState'] } },
      { name: 'LangGraph.js', module: contender('langgraph.mjs'), options: { cycles: CYCLES['LangGraph.js'] } },
      { name: 'PostChain', module: contender('postchain.mjs'), options },
      { name: 'PostChain, events read', module: contender('postchain.mjs'), options: { ...options, watched: true } },
    ],
    { rounds: 11, warmUps: 4 },
  );
  const rowOf = (/** @type {string} */ name) =>
    row(
      name,
      (measured[name] ?? []).map(({ microseconds }) => microseconds),
    );
  const langgraph = rowOf('LangGraph.js');
  const replyBytes = MODEL_PHASES.map((phase) => Buffer.byteLength(replyText(phase, CYCLES.PostChain)));
  const fact = (/** @type {string} */ name, /** @type {'entries' | 'context' | 'partials'} */ key) =>
    median((measured[name] ?? []).map((sample) => sample[key] ?? 0));
  return {
    title: `one phase step with a model that answers immediately, ${CYCLES.PostChain} cycles of five steps per round`,
    rows: [
      against(rowOf('hand-written loop'), langgraph),
      against(rowOf('bare XState'), langgraph),
      against(langgraph, langgraph),
      against(rowOf('PostChain'), langgraph, { limit: 1, goal: 0.5 }),
      against(rowOf('PostChain, events read'), langgraph),
    ],
    facts: {
      'bytes per reply': median(replyBytes),
      'journal entries per step': fact('PostChain', 'entries'),
      'messages in the context at the end': fact('PostChain', 'context'),
      'partial values read per step':
        fact('PostChain, events read', 'partials') / (CYCLES.PostChain * MODEL_PHASES.length),
    },
  };
}
