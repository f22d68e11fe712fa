import { PHASES } from '../../../../machines/contracts/phase.ts';
import { aDecision, aMessage } from '../../contracts/samples.ts';
import { type FieldDraws, itemsOf, membersOf } from './draw-fields.ts';
import type { Facts, RunFacts } from './facts.ts';
import { type Field, NOT_A_COUNT, NOT_A_FLAG, NOT_A_LIST, NOT_A_TEXT, TEXTS } from './values.ts';

type Given = Record<string, unknown>;

const SOURCE = { path: 'bridges.md', startLine: 3, endLine: 5 };
const USAGE = { modelCalls: 6, inputTokens: 800, outputTokens: 200, estimated: false, cost: 0.25 };
const MOST = {
  modelCalls: 2 ** 53 - 1,
  inputTokens: 2 ** 53 - 1,
  outputTokens: 2 ** 53 - 1,
  estimated: true,
  cost: 1e308,
};

const STEPS = [
  ...PHASES.map((phase, at) => ({ stepId: `s${at + 1}`, phase, content: `What ${phase} came to.` })),
  { stepId: 's1', phase: 'deploy', content: TEXTS[2] ?? '' },
  { stepId: 's8', phase: 'yield', content: ' ' },
  { stepId: 's9', phase: '', content: 'Nine.' },
];
const NO_STEPS = [null, 5, {}, { stepId: '', phase: 'x', content: 'x' }, { stepId: 's', phase: 'x', content: 5 }];

export function stepsOf(draw: FieldDraws, given: Given): Facts['steps'] {
  return itemsOf(draw, given, { name: 'executionResults' }, STEPS, NO_STEPS);
}

const MESSAGES = [
  aMessage({ id: 'p1', role: 'search', source: SOURCE }),
  aMessage({ id: 'p2', role: 'search', content: TEXTS[2] ?? '' }),
  aMessage({ id: 'u1', role: 'user', content: 'tide '.repeat(9) }),
  aMessage({ id: 'a1' }),
];
const NO_MESSAGES = [null, 'x', aMessage({ content: 5 as never }), aMessage({ importance: Number.NaN })];

const USED = [[], ['p1'], ['nobody', 'p1', 'p1', '__proto__']];

function draftOf(draw: FieldDraws, run: Given): RunFacts['draft'] {
  const at = (name: string): Field => ({ name, path: `run.draft.${name}` });
  return membersOf(
    draw,
    run,
    { name: 'draft', path: 'run.draft', optional: true },
    (draft) => ({
      text: draw.field(draft, at('text'), TEXTS, NOT_A_TEXT, ''),
      confidence: draw.field(draft, at('confidence'), [0, 0.7, 1], [2, -1, '1', Number.NaN], 0),
      usedMessageIds: draw.field(draft, at('usedMessageIds'), USED, NOT_A_LIST, []),
    }),
    null,
  );
}

const NO_LIMITS = {
  maxCycles: null,
  maxModelCalls: null,
  maxTokens: null,
  synthesisReserveTokens: null,
  totalMs: null,
};

function limitsOf(draw: FieldDraws, run: Given): RunFacts['limits'] {
  const bound = (limits: Given, name: keyof RunFacts['limits'], usual: number) =>
    draw.field<number | null>(
      limits,
      { name, path: `run.limits.${name}`, optional: true },
      [usual, usual, 0, null],
      ['x', -1, Number.NaN, {}],
      null,
    );
  return membersOf<RunFacts['limits']>(
    draw,
    run,
    { name: 'limits', path: 'run.limits', optional: true },
    (limits) => ({
      maxCycles: bound(limits, 'maxCycles', 5),
      maxModelCalls: bound(limits, 'maxModelCalls', 100),
      maxTokens: bound(limits, 'maxTokens', 1_000),
      synthesisReserveTokens: bound(limits, 'synthesisReserveTokens', 8_000),
      totalMs: bound(limits, 'totalMs', 60_000),
    }),
    NO_LIMITS,
  );
}

function excessOf(draw: FieldDraws, run: Given): RunFacts['excess'] {
  const at = (name: string): Field => ({ name, path: `run.excess.${name}`, optional: true });
  return membersOf(
    draw,
    run,
    { name: 'excess', path: 'run.excess', optional: true },
    (excess) => ({
      tokens: draw.field(excess, at('tokens'), [0, 0, 0, 12], NOT_A_COUNT, 0),
      messages: draw.field(excess, at('messages'), [0, 0, 0, 1], NOT_A_COUNT, 0),
    }),
    { tokens: 0, messages: 0 },
  );
}

const INTERRUPTIONS: readonly RunFacts['interruption'][] = [
  ...Array.from({ length: 8 }, () => null),
  { kind: 'cancelled', reason: 'enough' },
  { kind: 'interrupted', reason: '' },
  { kind: 'finished_by_user' },
  { kind: 'deadline' },
  { kind: 'budget' },
  { kind: 'phase_failed' },
  { kind: 'model_unavailable' },
];
const DECISIONS = [
  null,
  aDecision(),
  aDecision(),
  aDecision({ rule: 'cycleLimitReached' }),
  aDecision({ rule: 'budgetExhausted' }),
  aDecision({ rule: 'loopDetected' }),
];

const NOTHING: RunFacts = {
  answer: undefined,
  draft: null,
  messages: [],
  phases: [],
  mode: 'automatic',
  interruption: null,
  decision: null,
  limits: NO_LIMITS,
  hasDocuments: false,
  usage: { modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false, cost: 0 },
  currency: null,
  elapsedMs: null,
  excess: { tokens: 0, messages: 0 },
  sourceFailure: null,
  sessionProblem: null,
};

export function runOf(draw: FieldDraws, given: Given): RunFacts {
  const at = (name: string): Field => ({ name, path: `run.${name}`, optional: true });
  const { field } = draw;
  const members = (run: Given): RunFacts => ({
    answer: field<string | null | undefined>(
      run,
      at('answer'),
      [undefined, null, 'In 1932.', 'In 1932.', ' '],
      [5, {}],
      undefined,
    ),
    draft: draftOf(draw, run),
    messages: itemsOf(draw, run, at('messages'), MESSAGES, NO_MESSAGES),
    phases: field<readonly string[]>(run, at('phases'), [[], PHASES], [null, ...NOT_A_LIST], []),
    mode: field<RunFacts['mode']>(run, at('mode'), ['automatic', 'manual'], ['fast', 5, null], 'automatic'),
    interruption: field(run, at('interruption'), INTERRUPTIONS, [{ kind: 'bored' }, 'cancelled', 5], null),
    decision: field(run, at('decision'), DECISIONS, [{ rule: 'mood' }, 'x', {}], null),
    limits: limitsOf(draw, run),
    hasDocuments: field(run, at('hasDocuments'), [true, false], NOT_A_FLAG, false),
    usage: field(run, at('usage'), [USAGE, USAGE, MOST], [5, 'x', [], null], NOTHING.usage),
    currency: field<string | null>(run, at('currency'), [null, 'EUR'], ['', 5], null),
    elapsedMs: field<number | null>(run, at('elapsedMs'), [null, 1_500.5, 1e300], ['x', -1, Number.NaN], null),
    excess: excessOf(draw, run),
    sourceFailure: field<string | null>(run, at('sourceFailure'), [null, null, 'the index is down.'], [5, {}], null),
    sessionProblem: field<string | null>(run, at('sessionProblem'), [null, null, 'the store is shut.'], [5, {}], null),
  });
  return membersOf(draw, given, { name: 'run', optional: true }, members, NOTHING);
}
