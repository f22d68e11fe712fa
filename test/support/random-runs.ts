import fc from 'fast-check';
import type { Message } from '../../machines/contracts/message.ts';
import { PHASES, TASKS, type Task } from '../../machines/contracts/phase.ts';
import { memorySessions } from '../../src/chain/runtime/memory-sessions.ts';
import { createPassageIndex } from '../../src/documents/passage-index.ts';
import { type ScriptEntry, scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import { LONG_HISTORY } from './journal-files.ts';
import {
  capabilityNamed,
  eager,
  everyTask,
  type Plan,
  repliesWith,
  type ScriptedRun,
  scriptedChain,
  sendAnswer,
  settle,
  unsureAnswer,
  workCall,
  worthASummary,
} from './run-chain.ts';

type Fault = 'none' | 'prose' | 'misfit' | 'cut' | 'flaky' | 'dead' | 'hang' | 'silent' | 'throws';
const faults: Fault[] = [
  'none',
  'none',
  'none',
  'none',
  'prose',
  'misfit',
  'cut',
  'flaky',
  'dead',
  'hang',
  'silent',
  'throws',
];

/** What one call comes to. */
function faultyReply(task: Task, fault: Fault, answer: Record<string, unknown>, wishes: boolean): ScriptEntry {
  const calls = wishes ? [workCall, workCall] : [];
  const changes = { action: { calls }, continuation: { done: !wishes, next: calls.slice(1) } };
  const reply = task === 'yield' ? answer : repliesWith(changes)[task];
  switch (fault) {
    case 'none':
      return reply;
    case 'prose':
      return { text: `Let me {think}. \`\`\`json\n${JSON.stringify(reply)}\n\`\`\` That is all.` };
    case 'misfit':
      return { text: '{"answer": 3}' };
    case 'cut':
      return { reply, cut: 12 };
    case 'flaky':
      return { failure: { code: 'server_error', status: 500, retryAfterMs: 1000 } };
    case 'dead':
      return { failure: { code: 'unauthorized', retryable: false } };
    case 'hang':
      return { hang: true, text: '{"a' };
    case 'silent':
      return { hang: true };
    case 'throws':
      return () => {
        throw new Error('a model that breaks its contract');
      };
    default: {
      const never: never = fault;
      return never;
    }
  }
}

/** What happens in a run: what the model does, what the user says and when, and how it was started. */
export const randomRunArbitrary = fc.record({
  faults: fc.infiniteStream(fc.constantFrom(...faults)),
  answers: fc.infiniteStream(
    fc.record({
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      taskComplete: fc.boolean(),
      informationSufficiency: fc.double({ min: 0, max: 1, noNaN: true }),
      needsTools: fc.boolean(),
      proposedPhase: fc.option(fc.constantFrom<string>(...PHASES, 'nowhere', '__proto__', '')),
    }),
  ),
  wishes: fc.infiniteStream(fc.boolean()),
  maxCycles: fc.integer({ min: 1, max: 6 }),
  maxModelCalls: fc.integer({ min: 1, max: 60 }),
  startAt: fc.constantFrom(...PHASES),
  mode: fc.constantFrom('automatic' as const, 'manual' as const),
  words: fc.array(
    fc.record({
      afterSteps: fc.integer({ min: 0, max: 30 }),
      word: fc.constantFrom('cancel', 'finish', 'direct', 'nonsense', 'consent', 'overrule', 'undo'),
    }),
    { maxLength: 3 },
  ),
});
export type RandomRun = typeof randomRunArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** What its model does. */
export function planOf({ faults: nextFault, answers, wishes }: RandomRun): Plan {
  const faultOf = nextFault[Symbol.iterator]();
  const wishOf = wishes[Symbol.iterator]();
  const answerOf = answers[Symbol.iterator]();
  const plan: Record<string, (call: number) => ScriptEntry> = {};
  for (const task of TASKS)
    plan[task] = (call) =>
      faultyReply(
        task,
        faultOf.next().value ?? 'none',
        unsureAnswer(call % 3, answerOf.next().value ?? {}),
        wishOf.next().value ?? false,
      );
  return plan as Plan;
}

export function limitsOf({ maxCycles, maxModelCalls }: RandomRun) {
  return { maxCycles, maxModelCalls, totalMs: 600_000, phaseMs: 90_000 };
}

/** A chain whose model does that, to start a run of and to go on with one. */
export function randomChain(random: RandomRun, options: Parameters<typeof scriptedChain>[1] = {}) {
  return scriptedChain(planOf(random), { ...everyTask.options, ...options, limits: limitsOf(random) });
}

/** Plays a run of it to its end on its simulated clock. */
export async function startRandomRun(
  random: RandomRun,
  options: Parameters<typeof scriptedChain>[1] = {},
  onStart: (run: ScriptedRun['run']) => void = () => {},
): Promise<ScriptedRun> {
  const { chain, model, clock } = randomChain(random, options);
  const run = chain.run({ request: 'Is it so?', startAt: random.startAt, mode: random.mode });
  onStart(run);
  await runUntilEnded(run, clock, random.words);
  return { run, model, clock };
}

/** Time passes only when nothing else does. */
export async function runUntilEnded(
  run: ScriptedRun['run'],
  clock: ScriptedRun['clock'],
  words: RandomRun['words'] = [],
): Promise<void> {
  for (let steps = 0; run.ref.getSnapshot().status === 'active'; steps += 1) {
    if (steps > 2000) throw new Error(`the run hangs in ${JSON.stringify(run.ref.getSnapshot().value)}`);
    const before = run.entries.length;
    await settle(1);
    for (const { word } of words.filter(({ afterSteps }) => afterSteps === steps)) sendUserEvent(run, word);
    if (run.entries.length === before) clock.increment(1000);
  }
}

function sendUserEvent(run: ScriptedRun['run'], word: string): void {
  if (word === 'cancel') run.cancel();
  else if (word === 'finish') run.send({ type: 'run.finished' });
  else if (word === 'consent') sendAnswer(run, { type: 'consent.given', choice: 'remove' });
  else if (word === 'overrule') overrule(run);
  else if (word === 'undo') run.send({ type: 'context.undone', operationId: lastOperation(run) });
  else sendAnswer(run, { type: 'run.directed', phase: word === 'direct' ? 'experience' : 'nonsense' });
}

/** Restores the message that was removed last, or else removes the newest one. */
function overrule(run: ScriptedRun['run']): void {
  const { history, messages } = run.ref.getSnapshot().context;
  const removal = history.operations.findLast(({ operation }) => operation === 'PRUNE');
  const messageId = removal?.target ?? messages.at(-1)?.id ?? '';
  run.send({ type: 'context.overruled', messageId, choice: removal === undefined ? 'remove' : 'keep' });
}

function lastOperation(run: ScriptedRun['run']): string {
  return run.ref.getSnapshot().context.history.operations.at(-1)?.id ?? '';
}

const outcomes = fc.infiniteStream(fc.constantFrom('works', 'works', 'works', 'fails', 'limited', 'hangs'));

/** A random run of a chain that has everything there is: documents, a session, embeddings, a fallback, tools; each may fail. */
export const fullRunArbitrary = fc.record({
  random: randomRunArbitrary,
  searches: outcomes,
  embeds: outcomes,
  works: outcomes,
  remembers: outcomes,
  replyForm: fc.constantFrom('text' as const, 'tool-call' as const),
  before: fc.constantFrom('nothing', 'long turns', 'messages'),
});
export type FullRun = typeof fullRunArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

function faultyService(stream: Iterable<string>) {
  const next = stream[Symbol.iterator]();
  return async <Value>(signal: AbortSignal, act: () => Value | Promise<Value>): Promise<Value> => {
    switch (next.next().value) {
      case 'fails':
        throw new Error('it\u001b[31m is dead');
      case 'limited':
        throw Object.assign(new Error('too many requests'), { status: 429, retryAfterMs: 1000 });
      case 'hangs':
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
        );
      default:
        return act();
    }
  };
}

const text = 'It is so, and it was so in winter.';
const index = createPassageIndex([
  { path: 'a.md', blocks: [{ text, heading: ['A'], startLine: 1, endLine: 1, kind: 'prose', lines: [1] }] },
]);

export function fullChain(full: FullRun, options: Parameters<typeof scriptedChain>[1] = {}) {
  const [searches, embeds] = [faultyService(full.searches), faultyService(full.embeds)];
  const [works, remembers] = [faultyService(full.works), faultyService(full.remembers)];
  const store = memorySessions();
  const work = capabilityNamed('work', (_, { signal }) => works(signal, () => 'done'));
  return scriptedChain(planOf(full.random), {
    capabilities: [work],
    documents: { search: (query, how) => searches(how.signal, () => index.search(query, how)) },
    embeddings: {
      id: 'lengths',
      embed: (texts, { signal }) => embeds(signal, () => texts.map(({ length }) => [length, 1])),
    },
    sessions: {
      recall: (id, how) => remembers(how.signal, () => store.recall(id, how)),
      append: (id, turn, how) => remembers(how.signal, () => store.append(id, turn, how)),
    },
    fallbackModels: [scriptedModel({}, { id: 'second', nativeTools: true, otherwise: replies })],
    prices: { currency: 'EUR', models: { scripted: { inputPerMillion: 1, outputPerMillion: 2 } } },
    continuation: async ({ results }) => ({ done: results.length > 1, next: workCall, finalOutput: null }),
    replyForm: full.replyForm,
    thresholds: eager,
    ...options,
    limits: { ...limitsOf(full.random), consentMs: 5000 },
  });
}

export function fullRunOptions({ random: { startAt, mode }, before }: FullRun) {
  const messages: readonly Message[] = worthASummary;
  return {
    request: 'Is it so?',
    startAt,
    mode,
    sessionId: 's',
    ...(before === 'long turns' && { history: LONG_HISTORY }),
    ...(before === 'messages' && { messages }),
  };
}
