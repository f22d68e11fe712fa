import { race } from '../race.mjs';
import { against, median, row } from '../row.mjs';
import { MODEL_PHASES, replyText } from './replies.mjs';

/** @typedef {{ microseconds: number, records?: number, context?: number, partials?: number }} Sample */

/** Cycles of five steps in the single long run of a round. */
const LONG = { cycles: 300 };
/** Runs of 100 steps, for the contenders that do the same work. */
const SAME_WORK = { cycles: 20, runs: 5 };

/**
 * The module and options of each contender. A round takes about 300 ms for each, so that a scheduling delay does not decide.
 *
 * @type {Readonly<Record<string, readonly [string, Readonly<Record<string, unknown>>]>>}
 */
const CONTENDERS = {
  'hand-written loop': ['hand-written.mjs', { cycles: 10_000 }],
  'bare XState': ['bare-xstate.mjs', { cycles: 2_000 }],
  'LangGraph.js, bare nodes': ['langgraph.mjs', LONG],
  PostChain: ['postchain.mjs', LONG],
  'PostChain, events read': ['postchain.mjs', { ...LONG, watched: true }],
  'LangGraph.js, no checkpointer': ['langgraph.mjs', { ...SAME_WORK, work: 'reply' }],
  'LangGraph.js, MemorySaver': ['langgraph.mjs', { ...SAME_WORK, work: 'reply', saver: 'memory' }],
  'LangGraph.js, SqliteSaver': ['langgraph.mjs', { ...SAME_WORK, work: 'reply', saver: 'SQLite' }],
  'Mastra, InMemoryStore': ['mastra.mjs', { ...SAME_WORK, loop: 'five steps', store: 'memory' }],
  'Mastra, InMemoryStore, one step': ['mastra.mjs', { ...SAME_WORK, loop: 'one step', store: 'memory' }],
  'Mastra, LibSQLStore': ['mastra.mjs', { ...SAME_WORK, loop: 'five steps', store: 'LibSQL' }],
  'Mastra, LibSQLStore, one step': ['mastra.mjs', { ...SAME_WORK, loop: 'one step', store: 'LibSQL' }],
  'AI SDK tool loop': ['ai-sdk.mjs', SAME_WORK],
  'PostChain, memoryJournals': ['postchain.mjs', { ...SAME_WORK, store: 'memory' }],
  'PostChain, fileJournals': ['postchain.mjs', { ...SAME_WORK, store: 'file' }],
  'PostChain, sqliteJournals': ['postchain.mjs', { ...SAME_WORK, store: 'SQLite' }],
};

/** Measures the cost of one phase step with a model that answers immediately. */
export async function measureStep() {
  /** @type {Record<string, Sample[]>} */
  const measured = await race(
    Object.entries(CONTENDERS).map(([name, [file, options]]) => ({
      name,
      module: new URL(file, import.meta.url),
      lane: name,
      options,
    })),
    { rounds: 11, warmUps: 4 },
  );
  const rowOf = (/** @type {string} */ name) =>
    row(
      name,
      (measured[name] ?? []).map(({ microseconds }) => microseconds),
    );
  const fact = (/** @type {string} */ name, /** @type {'records' | 'context' | 'partials'} */ key) =>
    median((measured[name] ?? []).map((sample) => sample[key] ?? 0));
  const long = rowOf('PostChain');
  const inMemory = rowOf('PostChain, memoryJournals');
  const inSqlite = rowOf('PostChain, sqliteJournals');
  const replyBytes = MODEL_PHASES.map((phase) => Buffer.byteLength(replyText(phase, LONG.cycles)));
  return {
    title: `one phase step with a model that answers immediately: one run of ${LONG.cycles} cycles of five steps, then runs of ${SAME_WORK.cycles} cycles`,
    rows: [
      against(long, rowOf('LangGraph.js, bare nodes'), { limit: 1 }),
      ...['LangGraph.js, bare nodes', 'hand-written loop', 'bare XState', 'PostChain, events read'].map((name) =>
        against(rowOf(name), long),
      ),
      against(inMemory, rowOf('LangGraph.js, MemorySaver'), { limit: 0.5 }),
      ...[
        'LangGraph.js, no checkpointer',
        'LangGraph.js, MemorySaver',
        'Mastra, InMemoryStore',
        'Mastra, InMemoryStore, one step',
        'AI SDK tool loop',
      ].map((name) => against(rowOf(name), inMemory)),
      against(inSqlite, rowOf('LangGraph.js, SqliteSaver'), { limit: 0.5 }),
      ...[
        'LangGraph.js, SqliteSaver',
        'Mastra, LibSQLStore',
        'Mastra, LibSQLStore, one step',
        'PostChain, fileJournals',
      ].map((name) => against(rowOf(name), inSqlite)),
    ],
    facts: {
      'bytes per reply': median(replyBytes),
      'journal entries per step': fact('PostChain', 'records'),
      'checkpoints per step, LangGraph.js': fact('LangGraph.js, MemorySaver', 'records'),
      'snapshots per step, Mastra': fact('Mastra, InMemoryStore', 'records'),
      'snapshots per step, Mastra, one step': fact('Mastra, InMemoryStore, one step', 'records'),
      'messages in the context at the end': fact('PostChain', 'context'),
      'partial values read per step': fact('PostChain, events read', 'partials'),
    },
  };
}
