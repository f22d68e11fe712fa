import type { Behaviour, Call, LoopPlan, Thought, Wish } from './loop-plan.ts';

/** What a loop came to, as far as the requirements say it. */
export interface Outcome {
  /** `no_reply`: the model gave none that could be used, so nothing began. */
  stopReason: string;
  /** Of an invalid step. */
  code: string | null;
  response: string;
  results: Result[];
  memory: Remembered[];
  /** What really ran, with its arguments. */
  executed: string[];
  /** What each decider was shown, and how much was remembered by then. */
  asked: { steps: number; runsLeft: number; remembered: number }[];
  /** The tasks of all model calls. */
  tasks: string[];
  tokens: { inputTokens: number; outputTokens: number } | 'estimated';
  /** Facts of the journal: the index of each run that began and ended, what was decided, and the last word. */
  started: number[];
  ended: number[];
  decided: { index: number; done: boolean | null }[];
  stopped: { runs: number; failed: number; capabilityMs: number } | null;
}

interface Result {
  capability: string;
  arguments: unknown;
  success: boolean;
  output: string;
  code: string | null;
  /** What was thrown, its first line; null where nothing was. */
  error: string | null;
  synthesized: boolean;
  durationMs: number;
}

type Remembered = { role: 'user'; content: string } | { role: 'assistant'; capability: string; said: string };

export const REQUEST = 'Write a note.';
export const RESPONSE = 'I will see.';
const DONE: Thought = { says: 'done' };
const WELL: Behaviour = { does: 'gives', value: 'ran' };
const GOOD: Call = { goes: 'good', inputTokens: 7, outputTokens: 3 };

/** R1–R8 in plain code, with nothing of the product in it. */
export function referenceLoop(plan: LoopPlan): Outcome {
  const world = newWorld(plan);
  const { outcome } = world;
  let wish: Wish | null = plan.first.wish;
  if (plan.first.by === 'model') {
    if (!askModel(world, 'action')) return { ...outcome, stopReason: 'no_reply' };
    outcome.response = RESPONSE;
  }
  if (wish === null) return stop(world, 'nothing_to_run');
  for (;;) {
    if (wish.kind !== 'valid') {
      if (outcome.results.length === 0) refuseFirst(world, wish);
      return stop(world, 'invalid_next_step', wish.kind);
    }
    run(world, wish);
    if (plan.decider === 'none') return stop(world, 'no_decider');
    const decided = plan.decider === 'function' ? askFunction(world) : askDecidingModel(world);
    if (decided === 'decider_failed' || decided === 'budget_exhausted') return stop(world, decided);
    if (decided.says === 'done') {
      const last = outcome.results.at(-1);
      if (last && typeof decided.finalOutput === 'string' && decided.finalOutput.trim() !== '')
        Object.assign(last, { output: decided.finalOutput, synthesized: true });
      return stop(world, 'done');
    }
    if (outcome.executed.length === plan.maxContinuations) return stop(world, 'limit_reached');
    wish = decided.wish;
  }
}

function newWorld(plan: LoopPlan) {
  const outcome: Outcome = {
    stopReason: '',
    code: null,
    response: '',
    results: [],
    memory: [],
    executed: [],
    asked: [],
    tasks: [],
    tokens: { inputTokens: 0, outputTokens: 0 },
    started: [],
    ended: [],
    decided: [],
    stopped: null,
  };
  return { plan, outcome, decisions: 0, thoughts: 0 };
}
type World = ReturnType<typeof newWorld>;

function stop({ outcome }: World, stopReason: string, code: string | null = null): Outcome {
  const { results, started } = outcome;
  const failed = results.filter(({ success }) => !success).length;
  const capabilityMs = results.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return { ...outcome, stopReason, code, stopped: { runs: started.length, failed, capabilityMs } };
}

/** R2, R4, R7: whatever the run comes to is a result, timed, and remembered. */
function run({ plan, outcome }: World, wish: Extract<Wish, { kind: 'valid' }>): void {
  const { capability } = wish;
  const ownMs = plan.through === 'machine' ? plan.ownMs[capability] : null;
  const behaviour = plan.behaviours[outcome.executed.length] ?? WELL;
  const came = comesTo(behaviour, ownMs ?? plan.capabilityMs);
  outcome.executed.push(`${capability} ${JSON.stringify(wish.arguments)}`);
  outcome.started.push(outcome.executed.length);
  remember(outcome, { capability, arguments: wish.arguments, synthesized: false, ...came });
}

function comesTo(behaviour: Behaviour, deadlineMs: number) {
  const late = { success: false, output: '', code: 'timed_out', error: null, durationMs: deadlineMs };
  switch (behaviour.does) {
    case 'gives': {
      const { value } = behaviour;
      const output = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
      return { success: true, output, code: null, error: null, durationMs: 0 };
    }
    case 'throws': {
      const { thrown } = behaviour;
      const [line] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n');
      return { success: false, output: '', code: 'threw', error: line || 'some words', durationMs: 0 };
    }
    case 'takes':
      if (behaviour.ms > deadlineMs) return late;
      return { success: true, output: 'at last', code: null, error: null, durationMs: behaviour.ms };
    default:
      return late;
  }
}

/** R5: a first step that cannot be taken is a failed result. */
function refuseFirst({ outcome }: World, wish: Exclude<Wish, { kind: 'valid' }>): void {
  const capability = wish.kind === 'missing_name' ? '' : wish.capability;
  const refused = { success: false, output: '', code: wish.kind, error: null, synthesized: false, durationMs: 0 };
  remember(outcome, { capability, arguments: {}, ...refused });
}

/** R4: the user's message with the first, and one entry for each. */
function remember({ results, memory, ended }: Outcome, result: Result): void {
  results.push({ ...result });
  ended.push(results.length);
  if (memory.length === 0) memory.push({ role: 'user', content: REQUEST });
  const { capability, success, output } = result;
  memory.push({ role: 'assistant', capability, said: success ? output : 'why it failed' });
}

function shown({ plan, outcome }: World) {
  const steps = outcome.results.length;
  return { steps, runsLeft: plan.maxContinuations - steps, remembered: steps + 1 };
}

function askFunction(world: World): Thought | 'decider_failed' {
  const { plan, outcome } = world;
  outcome.asked.push(shown(world));
  const decision = plan.decisions[world.decisions++] ?? DONE;
  if (decision.says === 'done' || decision.says === 'next') return note(outcome, decision);
  if (decision.says === 'nonsense') outcome.decided.push({ index: outcome.results.length, done: null });
  return 'decider_failed';
}

function askDecidingModel(world: World): Thought | 'decider_failed' | 'budget_exhausted' {
  const { plan, outcome } = world;
  if (outcome.tasks.length >= plan.maxCalls || usedBy(outcome) >= plan.maxTokens) return 'budget_exhausted';
  if (!askModel(world, 'continuation')) return 'decider_failed';
  return note(outcome, plan.thoughts[world.thoughts++] ?? DONE);
}

const usedBy = ({ tokens }: Outcome): number => (tokens === 'estimated' ? 0 : tokens.inputTokens + tokens.outputTokens);

function note(outcome: Outcome, thought: Thought): Thought {
  outcome.decided.push({ index: outcome.results.length, done: thought.says === 'done' });
  return thought;
}

/** Whether the model comes to a valid reply: corrections and transport retries each in their bounds, all calls in theirs (A4), and all tokens. */
function askModel(world: World, task: string): boolean {
  const { plan, outcome } = world;
  let corrections = 0;
  let transportRetries = 0;
  for (;;) {
    if (task === 'continuation') outcome.asked.push(shown(world));
    const call = callOf(plan, outcome.tasks.length);
    outcome.tasks.push(task);
    if (call.goes === 'hangs') outcome.tokens = 'estimated';
    else if (outcome.tokens !== 'estimated') {
      outcome.tokens.inputTokens += call.inputTokens;
      outcome.tokens.outputTokens += call.outputTokens;
    }
    if (call.goes === 'good') return true;
    const isWrong = call.goes === 'prose' || call.goes === 'misfit';
    const mayRetry = isWrong ? corrections < plan.maxCorrections : transportRetries < plan.maxTransportRetries;
    if (call.goes === 'refused' || !mayRetry || outcome.tasks.length >= plan.maxCalls) return false;
    if (usedBy(outcome) + call.inputTokens > plan.maxTokens) return false;
    if (isWrong) corrections += 1;
    else transportRetries += 1;
  }
}

/** What a call that hangs used is an estimate: where tokens bound the loop, it is cut instead. */
export function callOf(plan: LoopPlan, number: number): Call {
  const call = plan.calls[number] ?? GOOD;
  return call.goes === 'hangs' && plan.maxTokens < 1_000_000 ? { ...call, goes: 'cut' } : call;
}
