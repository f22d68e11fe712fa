import fc from 'fast-check';

/** What one simulated loop is made of: nothing in here knows how the loop works. */

export const CAPABILITIES = ['draft', 'review', 'summarize'] as const;
type CapabilityName = (typeof CAPABILITIES)[number];

/** A step that somebody wishes; all kinds but `valid` are refused, with the kind as their code. */
export type PlannedStep =
  | { readonly kind: 'valid'; readonly capability: CapabilityName; readonly arguments: { readonly words?: number } }
  | { readonly kind: 'missing_name' }
  | { readonly kind: 'empty_name'; readonly capability: string }
  | { readonly kind: 'unknown_capability'; readonly capability: string }
  | { readonly kind: 'arguments_not_object'; readonly capability: CapabilityName; readonly arguments: unknown }
  | {
      readonly kind: 'arguments_misfit';
      readonly capability: CapabilityName;
      readonly arguments: { readonly words: string };
    };

/** What one run of a capability does. */
export type Behavior =
  | { readonly does: 'gives'; readonly value: unknown }
  | { readonly does: 'throws'; readonly thrown: unknown }
  | { readonly does: 'takes'; readonly ms: number }
  | { readonly does: 'hangs' }
  | { readonly does: 'answersWhenAborted'; readonly rejects: boolean };

/** What a function that decides does. */
type Decision =
  | { readonly says: 'done'; readonly finalOutput?: string | null | undefined }
  | { readonly says: 'next'; readonly wish: PlannedStep; readonly asText: boolean }
  | { readonly says: 'nonsense'; readonly value: unknown }
  | { readonly says: 'throws'; readonly thrown: unknown }
  | { readonly says: 'hangs' }
  | { readonly says: 'answersWhenAborted' };

/** What a model says as the decider, where its reply is valid. */
export type ModelDecision = Extract<Decision, { says: 'done' | 'next' }>;

/** How a call of the model goes; a good one says what the plan wants said. */
export interface PlannedCall {
  readonly goes: 'good' | 'prose' | 'misfit' | 'cut' | 'unavailable' | 'refused' | 'hangs';
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface LoopPlan {
  /** Through createCapabilityLoop, or the bare machine; only there have capabilities times of their own. */
  readonly through: 'loop' | 'machine';
  readonly maxContinuations: number;
  readonly capabilityMs: number;
  readonly ownMs: Readonly<Record<CapabilityName, number | null>>;
  /** The first step: given, or what the model wishes; null is a model that wishes none. */
  readonly first:
    | { readonly by: 'caller'; readonly wish: PlannedStep }
    | { readonly by: 'model'; readonly wish: PlannedStep | null };
  readonly decider: 'none' | 'function' | 'model';
  /** By number of the run, the decision, the decision of a model, and the model call; after the last, all goes well and is done. */
  readonly behaviours: readonly Behavior[];
  readonly decisions: readonly Decision[];
  readonly modelDecisions: readonly ModelDecision[];
  readonly calls: readonly PlannedCall[];
  readonly maxCorrections: number;
  readonly maxTransportRetries: number;
  readonly maxCalls: number;
  readonly maxTokens: number;
}

const oddValues = fc.constantFrom<unknown>(undefined, null, 5, 'plain words', '', { code: 7 }, Symbol('odd'));
const errors = fc.constantFrom<unknown>(new Error('disk full\nat write'), new TypeError('no such thing'));

const capabilityName = fc.constantFrom(...CAPABILITIES);
const validStep = fc.record({
  kind: fc.constant('valid' as const),
  capability: capabilityName,
  arguments: fc.constantFrom({}, { words: 3 }),
});
const invalidStep = fc.oneof(
  fc.record({ kind: fc.constant('empty_name' as const), capability: fc.constantFrom('', '  ', '\n') }),
  fc.record({
    kind: fc.constant('unknown_capability' as const),
    capability: fc.constantFrom('publish', 'Draft', 'draft ', 'constructor', '__proto__', 'toString'),
  }),
  fc.record({
    kind: fc.constant('arguments_not_object' as const),
    capability: capabilityName,
    arguments: fc.constantFrom<unknown>('no JSON', '[]', 'null', '5', '"text"'),
  }),
  fc.record({
    kind: fc.constant('arguments_misfit' as const),
    capability: capabilityName,
    arguments: fc.constant({ words: 'many' }),
  }),
);
const namelessStep = fc.constant({ kind: 'missing_name' as const });
const nonObjectArguments = fc.record({
  kind: fc.constant('arguments_not_object' as const),
  capability: capabilityName,
  arguments: fc.constantFrom<unknown>(undefined, null, [], [{}], 5, true),
});

const firstStep: fc.Arbitrary<PlannedStep> = fc.oneof(
  { weight: 12, arbitrary: validStep },
  { weight: 1, arbitrary: invalidStep },
);
const modelStep: fc.Arbitrary<PlannedStep> = fc.oneof(
  { weight: 16, arbitrary: validStep },
  { weight: 2, arbitrary: invalidStep },
  { weight: 1, arbitrary: namelessStep },
);
const functionStep: fc.Arbitrary<PlannedStep> = fc.oneof(
  { weight: 10, arbitrary: modelStep },
  { weight: 1, arbitrary: nonObjectArguments },
);

const behavior: fc.Arbitrary<Behavior> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('gives' as const),
      value: fc.constantFrom<unknown>('The sky.', '', { words: 3 }, null, undefined, 5),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('throws' as const), thrown: fc.oneof(errors, oddValues) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('takes' as const), ms: fc.constantFrom(10, 400, 5_000) }) },
  { weight: 1, arbitrary: fc.constant({ does: 'hangs' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('answersWhenAborted' as const), rejects: fc.boolean() }),
  },
);

const finalOutput = fc.constantFrom<string | null | undefined>('In short.', ' x ', '', ' \n\t', null, undefined);
const doneDecision = fc.record({ says: fc.constant('done' as const), finalOutput });
const continueWith = (wish: fc.Arbitrary<PlannedStep>) =>
  fc.record({ says: fc.constant('next' as const), wish, asText: fc.boolean() });

const decision: fc.Arbitrary<Decision> = fc.oneof(
  { weight: 10, arbitrary: continueWith(functionStep) },
  { weight: 2, arbitrary: doneDecision },
  {
    weight: 1,
    arbitrary: fc.record({
      says: fc.constant('nonsense' as const),
      value: fc.constantFrom<unknown>(
        undefined,
        null,
        5,
        'done',
        [],
        {},
        { done: 'yes' },
        { done: 1, finalOutput: 'x' },
        { done: null, next: { capability: 'draft', arguments: {} } },
        { done: true, finalOutput: 5 },
        { finalOutput: 'x' },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ says: fc.constant('throws' as const), thrown: fc.oneof(errors, oddValues) }) },
  { weight: 1, arbitrary: fc.constantFrom({ says: 'hangs' as const }, { says: 'answersWhenAborted' as const }) },
);

const tokens = fc.integer({ min: 0, max: 200 });
const call: fc.Arbitrary<PlannedCall> = fc.record({
  goes: fc.oneof(
    { weight: 8, arbitrary: fc.constant('good' as const) },
    {
      weight: 3,
      arbitrary: fc.constantFrom('prose' as const, 'misfit' as const, 'cut' as const, 'unavailable' as const),
    },
    { weight: 1, arbitrary: fc.constantFrom('refused' as const, 'hangs' as const) },
  ),
  inputTokens: tokens,
  outputTokens: tokens,
});

const ownTimeout = fc.constantFrom<number | null>(null, null, 30, 700);
const upTo = <T>(one: fc.Arbitrary<T>, maxLength: number) => fc.array(one, { maxLength, size: 'max' });

export const loopPlanArbitrary: fc.Arbitrary<LoopPlan> = fc.record({
  through: fc.constantFrom('loop' as const, 'machine' as const),
  maxContinuations: fc.integer({ min: 1, max: 7 }),
  capabilityMs: fc.constantFrom(50, 1_000),
  ownMs: fc.record({ draft: ownTimeout, review: ownTimeout, summarize: ownTimeout }),
  first: fc.oneof(
    fc.record({ by: fc.constant('caller' as const), wish: firstStep }),
    fc.record({
      by: fc.constant('model' as const),
      wish: fc.oneof({ weight: 15, arbitrary: firstStep }, { weight: 1, arbitrary: fc.constant(null) }),
    }),
  ),
  decider: fc.constantFrom(
    'none' as const,
    'function' as const,
    'function' as const,
    'model' as const,
    'model' as const,
  ),
  behaviours: upTo(behavior, 7),
  decisions: upTo(decision, 7),
  modelDecisions: upTo(
    fc.oneof({ weight: 4, arbitrary: continueWith(modelStep) }, { weight: 1, arbitrary: doneDecision }),
    7,
  ),
  calls: upTo(call, 12),
  maxCorrections: fc.integer({ min: 0, max: 2 }),
  maxTransportRetries: fc.integer({ min: 0, max: 2 }),
  maxCalls: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(100)),
  maxTokens: fc.oneof(fc.integer({ min: 1, max: 800 }), fc.constant(1_000_000)),
});

/** What a loop came to, as far as the requirements say it. */
export interface Outcome {
  /** `no_reply`: the model gave none that could be used, so nothing began. */
  stopReason: string;
  /** Of an invalid step. */
  code: string | null;
  response: string;
  results: StepResult[];
  memory: RememberedEntry[];
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

interface StepResult {
  /** Null for a call that did not run. */
  id: string | null;
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

type RememberedEntry = { role: 'user'; content: string } | { role: 'assistant'; capability: string; said: string };

export const REQUEST = 'Write a note.';
export const RESPONSE = 'I will see.';
export const PROSE = 'Let me think about it.';
/** Calls in a row that may hang before the model is given up. */
const MOST_HUNG = 2;
const DONE_DECISION: ModelDecision = { says: 'done' };
const SUCCESS: Behavior = { does: 'gives', value: 'ran' };
const GOOD_CALL: PlannedCall = { goes: 'good', inputTokens: 7, outputTokens: 3 };

/** R1–R8 in plain code, with nothing of the product in it. */
export function referenceLoop(plan: LoopPlan): Outcome {
  const world = initialLoopState(plan);
  const { outcome } = world;
  let wish: PlannedStep | null = plan.first.wish;
  if (plan.first.by === 'model') {
    const asked = askModel(world, 'action');
    if (asked === null) return { ...outcome, stopReason: 'no_reply' };
    outcome.response = asked === 'prose' ? PROSE : RESPONSE;
    if (asked === 'prose') wish = null;
  }
  if (wish === null) return stop(world, 'nothing_to_run');
  for (;;) {
    if (wish.kind !== 'valid') {
      if (outcome.results.length === 0) rejectFirst(world, wish);
      return stop(world, 'invalid_next_step', wish.kind);
    }
    runStep(world, wish);
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

function initialLoopState(plan: LoopPlan) {
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
  /** What the run knows of its model: the reply forms that it gave no JSON in, whether it gave any, and how often it hung. */
  const model = { formsFailed: 0, repliesInJson: false, hung: 0 };
  return { plan, outcome, decisions: 0, modelDecisions: 0, model };
}
type LoopState = ReturnType<typeof initialLoopState>;

function stop({ outcome }: LoopState, stopReason: string, code: string | null = null): Outcome {
  const { results, started } = outcome;
  const failed = results.filter(({ success }) => !success).length;
  const capabilityMs = results.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return { ...outcome, stopReason, code, stopped: { runs: started.length, failed, capabilityMs } };
}

/** R2, R4, R7: whatever the run comes to is a result, timed, and remembered. */
function runStep({ plan, outcome }: LoopState, wish: Extract<PlannedStep, { kind: 'valid' }>): void {
  const { capability } = wish;
  const ownMs = plan.through === 'machine' ? plan.ownMs[capability] : null;
  const behaviour = plan.behaviours[outcome.executed.length] ?? SUCCESS;
  const came = outcomeOfRun(behaviour, ownMs ?? plan.capabilityMs);
  outcome.executed.push(`${capability} ${JSON.stringify(wish.arguments)}`);
  outcome.started.push(outcome.executed.length);
  const id = `s1.action.${outcome.executed.length}`;
  remember(outcome, { id, capability, arguments: wish.arguments, synthesized: false, ...came });
}

function outcomeOfRun(behaviour: Behavior, deadlineMs: number) {
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
function rejectFirst({ outcome }: LoopState, wish: Exclude<PlannedStep, { kind: 'valid' }>): void {
  const capability = wish.kind === 'missing_name' ? '' : wish.capability;
  const refused = {
    id: null,
    success: false,
    output: '',
    code: wish.kind,
    error: null,
    synthesized: false,
    durationMs: 0,
  };
  remember(outcome, { capability, arguments: {}, ...refused });
}

/** R4: the user's message with the first, and one entry for each. */
function remember({ results, memory, ended }: Outcome, result: StepResult): void {
  results.push({ ...result });
  ended.push(results.length);
  if (memory.length === 0) memory.push({ role: 'user', content: REQUEST });
  const { capability, success, output } = result;
  memory.push({ role: 'assistant', capability, said: success ? output : 'why it failed' });
}

function shownToDecider({ plan, outcome }: LoopState) {
  const steps = outcome.results.length;
  return { steps, runsLeft: plan.maxContinuations - steps, remembered: steps + 1 };
}

function askFunction(world: LoopState): ModelDecision | 'decider_failed' {
  const { plan, outcome } = world;
  outcome.asked.push(shownToDecider(world));
  const decision = plan.decisions[world.decisions++] ?? DONE_DECISION;
  if (decision.says === 'done' || decision.says === 'next') return recordDecision(outcome, decision);
  if (decision.says === 'nonsense') outcome.decided.push({ index: outcome.results.length, done: null });
  return 'decider_failed';
}

function askDecidingModel(world: LoopState): ModelDecision | 'decider_failed' | 'budget_exhausted' {
  const { plan, outcome } = world;
  if (outcome.tasks.length >= plan.maxCalls || tokensUsed(outcome) >= plan.maxTokens) return 'budget_exhausted';
  if (askModel(world, 'continuation') === null) return 'decider_failed';
  return recordDecision(outcome, plan.modelDecisions[world.modelDecisions++] ?? DONE_DECISION);
}

const tokensUsed = ({ tokens }: Outcome): number =>
  tokens === 'estimated' ? 0 : tokens.inputTokens + tokens.outputTokens;

function recordDecision(outcome: Outcome, decision: ModelDecision): ModelDecision {
  outcome.decided.push({ index: outcome.results.length, done: decision.says === 'done' });
  return decision;
}

/** The valid reply that the model comes to, or null: corrections and transport retries each in their bounds, all calls in theirs (A4), and all tokens. A model that answers in prose is asked in the other forms, and then taken at its word (A14). */
function askModel(world: LoopState, task: string): 'valid' | 'prose' | null {
  const { plan, outcome, model } = world;
  let corrections = 0;
  let transportRetries = 0;
  for (;;) {
    if (task === 'continuation') outcome.asked.push(shownToDecider(world));
    const call = plannedCall(plan, outcome.tasks.length);
    outcome.tasks.push(task);
    if (call.goes === 'hangs') outcome.tokens = 'estimated';
    else if (outcome.tokens !== 'estimated') {
      outcome.tokens.inputTokens += call.inputTokens;
      outcome.tokens.outputTokens += call.outputTokens;
    }
    model.hung = call.goes === 'hangs' ? model.hung + 1 : 0;
    const isLastTry = corrections >= plan.maxCorrections || (model.formsFailed > 1 && !model.repliesInJson);
    if (call.goes === 'prose' && task === 'action' && isLastTry) return 'prose';
    if (call.goes === 'good' || call.goes === 'misfit') model.repliesInJson = true;
    if (call.goes === 'prose' && !model.repliesInJson) model.formsFailed += 1;
    if (call.goes === 'good') return 'valid';
    if (model.hung === MOST_HUNG || (model.formsFailed > 2 && !model.repliesInJson)) return null;
    const isWrong = call.goes === 'prose' || call.goes === 'misfit';
    const mayRetry = isWrong ? corrections < plan.maxCorrections : transportRetries < plan.maxTransportRetries;
    if (call.goes === 'refused' || !mayRetry || outcome.tasks.length >= plan.maxCalls) return null;
    if (tokensUsed(outcome) + call.inputTokens > plan.maxTokens) return null;
    if (isWrong) corrections += 1;
    else transportRetries += 1;
  }
}

/** What a call that hangs used is an estimate: where tokens bound the loop, it is cut instead. */
export function plannedCall(plan: LoopPlan, number: number): PlannedCall {
  const call = plan.calls[number] ?? GOOD_CALL;
  return call.goes === 'hangs' && plan.maxTokens < 1_000_000 ? { ...call, goes: 'cut' } : call;
}
