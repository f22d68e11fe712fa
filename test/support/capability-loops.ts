import type * as z from 'zod';
import type { CapabilityResult, MemoryEntry } from '../../machines/contracts/capability.ts';
import { createCapabilityLoop } from '../../src/chain/runtime/capability-loop.ts';
import type { DecidingFunction } from '../../src/chain/runtime/decider.ts';
import type { PostChainOptions } from '../../src/chain/runtime/options.ts';
import { createPostChain } from '../../src/entries/index.ts';
import { always, type ScriptEntry, scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import type { CapabilityContext } from '../../src/tools/capability.ts';
import { capabilityNamed, entriesOf } from './run-chain.ts';
import { runToEnd, TestClock } from './simulated-clock.ts';

export const LOOP_HOSTS = ['the chain', 'the loop alone'] as const;
export type LoopHost = (typeof LOOP_HOSTS)[number];

type Execute = (args: Record<string, unknown>, context: CapabilityContext) => unknown;

export interface LoopScript {
  /** What each capability does; by default all three say that they ran. */
  readonly execute?: Readonly<Record<string, Execute>>;
  readonly arguments?: z.ZodType;
  /** What the model wishes to run first, its arguments as JSON text; `draft` by default. */
  readonly wish?: { readonly capability: string; readonly arguments: string } | null;
  /** What the model says as the decider, call by call. */
  readonly continuations?: readonly ScriptEntry[];
  /** Everything else; without a decider the environment says who decides. */
  readonly options?: Omit<PostChainOptions, 'model' | 'capabilities' | 'clock'>;
  readonly signal?: AbortSignal;
}

export const REQUEST = 'Write a note.';

const CAPABILITY_NAMES = ['draft', 'review', 'summarize'];

export type StartedLoop = ReturnType<typeof startLoop>;

/** Starts a chain or a loop, and returns what both have. */
export function startLoop(way: LoopHost, script: LoopScript = {}) {
  const {
    execute = {},
    wish = { capability: 'draft', arguments: '{}' },
    continuations = [],
    options = {},
    signal,
  } = script;
  const clock = new TestClock();
  const action = { ...replies.action, calls: wish === null ? [] : [wish] };
  const model = scriptedModel(
    { action: always({ reply: action }), continuation: continuations },
    { otherwise: replies },
  );
  const names = [...new Set([...CAPABILITY_NAMES, ...Object.keys(execute)])];
  const capabilities = names.map((name) =>
    capabilityNamed(name, execute[name], { ...(script.arguments && { arguments: script.arguments }) }),
  );
  const { continuation } = options;
  const bounded = typeof continuation === 'function' ? { continuation: boundedDecider(continuation) } : {};
  const parts = { ...options, ...bounded, model, clock, capabilities };
  const asked = { request: REQUEST, ...(signal && { signal }) };
  const run = way === 'the chain' ? createPostChain(parts).run(asked) : createCapabilityLoop(parts).run(asked);
  const isActive = (): boolean => run.ref.getSnapshot().status === 'active';
  const { entries: journal } = run;
  return {
    model,
    clock,
    entries: journal,
    cancel: () => run.cancel(),
    isActive,
    /** What the session would store so far. */
    memory: () => memoryOf(run.ref.getSnapshot()),
    /** The results of the loop, once Action is done. */
    results: () => resultsOf(run.ref.getSnapshot().context),
    answer: 'answer' in run ? run.answer : null,
    outcome: 'outcome' in run ? run.outcome : null,
    /** Resolves at the end. Advances the clock whenever nothing else happens. */
    end: async () => {
      await runToEnd(isActive, clock, () => journal.length);
      await ('answer' in run ? run.answer : run.outcome);
    },
  };
}

/** A loop without a limit must fail its test, not hang it: promises alone never let a timer in. */
const boundedDecider =
  (decide: DecidingFunction): DecidingFunction =>
  (input, options) =>
    input.results.length < 100 ? decide(input, options) : { done: true, finalOutput: 'far too many runs' };

interface LoopResults {
  readonly memory: readonly MemoryEntry[];
  readonly results: readonly CapabilityResult[];
}
/** The state of a loop, or of a chain, where the loop of an Action that is done is in its result. */
type LoopSnapshot =
  | LoopResults
  | { readonly memory?: never; readonly results?: { readonly action?: LoopResults | null } };

function resultsOf(context: object): readonly CapabilityResult[] {
  const { memory, results } = context as LoopSnapshot;
  return memory === undefined ? (results?.action?.results ?? []) : results;
}

/** The loop's own memory; the chain's action keeps it until it is done, and then it is in its result. */
function memoryOf(snapshot: { readonly context: object; readonly children?: object }): readonly MemoryEntry[] {
  const { memory, results } = snapshot.context as LoopSnapshot;
  if (memory !== undefined) return memory;
  const below = Object.values(snapshot.children ?? {}) as { getSnapshot(): { context: LoopSnapshot } }[];
  return results?.action?.memory ?? below[0]?.getSnapshot().context.memory ?? [];
}

/** What came of it, in a form that tables compare: as the journal has it, which chain and loop both write. */
export function loopSummary(played: StartedLoop) {
  const [stop] = entriesOf(played, 'capability-stop');
  return {
    reason: stop?.reason,
    code: stop?.code,
    results: entriesOf(played, 'capability-end').map(({ result }) => describeResult(result)),
    memory: played.memory().map((entry) => (entry.role === 'user' ? entry.content : entry.capability)),
  };
}

const describeResult = ({ capability: name, success, code, output }: CapabilityResult): string =>
  `${name}: ${success ? output : code}`;
