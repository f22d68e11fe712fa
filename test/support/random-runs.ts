import fc from 'fast-check';
import { PHASES, TASKS, type Task } from '../../machines/contracts/phase.ts';
import type { ScriptEntry } from '../../src/models/scripted.ts';
import { everyTask, wish } from './every-task.ts';
import { repliesWith, unsureAnswer } from './replies.ts';
import { type Plan, type ScriptedRun, scriptedChain, settle } from './run-chain.ts';

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
function faulty(task: Task, fault: Fault, answer: Record<string, unknown>, wishes: boolean): ScriptEntry {
  const call = wishes ? wish : null;
  const changes = { action: { call }, continuation: { done: !wishes, next: call } };
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
export const aRandomRun = fc.record({
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
      word: fc.constantFrom('cancel', 'finish', 'direct', 'nonsense', 'consent'),
    }),
    { maxLength: 3 },
  ),
});
export type RandomRun = typeof aRandomRun extends fc.Arbitrary<infer Value> ? Value : never;

/** What its model does. */
export function planOf({ faults: nextFault, answers, wishes }: RandomRun): Plan {
  const faultOf = nextFault[Symbol.iterator]();
  const wishOf = wishes[Symbol.iterator]();
  const answerOf = answers[Symbol.iterator]();
  const plan: Record<string, (call: number) => ScriptEntry> = {};
  for (const task of TASKS)
    plan[task] = (call) =>
      faulty(
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
export async function playRandomRun(
  random: RandomRun,
  options: Parameters<typeof scriptedChain>[1] = {},
  onStart: (run: ScriptedRun['run']) => void = () => {},
): Promise<ScriptedRun> {
  const { chain, model, clock } = randomChain(random, options);
  const run = chain.run({ request: 'Is it so?', startAt: random.startAt, mode: random.mode });
  onStart(run);
  await playToEnd(run, clock, random.words);
  return { run, model, clock };
}

/** Time passes only when nothing else does. */
export async function playToEnd(
  run: ScriptedRun['run'],
  clock: ScriptedRun['clock'],
  words: RandomRun['words'] = [],
): Promise<void> {
  for (let steps = 0; run.actor.getSnapshot().status === 'active'; steps += 1) {
    if (steps > 2000) throw new Error(`the run hangs in ${JSON.stringify(run.actor.getSnapshot().value)}`);
    const before = run.journal.length;
    await settle(1);
    for (const { word } of words.filter(({ afterSteps }) => afterSteps === steps)) say(run, word);
    if (run.journal.length === before) clock.increment(1000);
  }
}

function say(run: ScriptedRun['run'], word: string): void {
  if (word === 'cancel') run.cancel();
  else if (word === 'finish') run.send({ type: 'run.finished' });
  else if (word === 'consent') run.send({ type: 'consent.given', choice: 'remove' });
  else run.send({ type: 'run.directed', phase: word === 'direct' ? 'experience' : 'nonsense' });
}
