import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SynthesisInput, synthesisInputSchema } from '../../../../machines/contracts/synthesis.ts';
import { synthesisInput } from '../../../../machines/policies/synthesis/input.ts';
import { problemText, readSynthesisInput } from '../../../../machines/policies/synthesis/read-input.ts';
import { synthesisInputSample } from '../../contracts/answer-cases.ts';
import { aMessage } from '../../contracts/samples.ts';
import { chainStateArbitrary } from '../chain-state.arbitrary.ts';
import { deepFreeze } from '../deep-freeze.ts';
import { aState } from '../states.ts';

const sample = deepFreeze(structuredClone(synthesisInputSample));
const problemsOf = (given: unknown) => readSynthesisInput(given).problems.map(problemText);
const withField = (path: string, value: unknown): object => {
  const copy = structuredClone(synthesisInputSample) as unknown as Record<string, never>;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  (keys.reduce<Record<string, never>>((at, key) => at[key] ?? {}, copy) as Record<string, unknown>)[last] = value;
  return copy;
};

const REQUIRED = [
  'request',
  'executionResults',
  'planState',
  'convergenceAssessment',
  'correlationId',
  'executionStartTimestamp',
  'convergenceStatus',
  'totalPasses',
  'totalRefinements',
  'ttlRemaining',
] as const;

describe('reading the input of synthesis', () => {
  it('[E1] takes a right input as it is, with no problem, and so a run in any state', () => {
    expect(readSynthesisInput(sample)).toEqual({ input: sample, problems: [] });
    fc.assert(
      fc.property(chainStateArbitrary, (state) => {
        const input = synthesisInput(state);
        expect(readSynthesisInput(deepFreeze(input))).toEqual({ input, problems: [] });
      }),
    );
  });

  it.each(REQUIRED)('[E1] names %s where it is missing, and takes all the others', (field) => {
    const { [field]: left, ...others } = sample;
    const { input, problems } = readSynthesisInput(others);
    expect(problems.map((problem) => problem.field)).toEqual([field]);
    expect(problemText(problems[0] as never)).toMatch(new RegExp(`^${field}: got nothing; wanted .+$`));
    expect({ ...input, [field]: left }).toEqual(sample);
  });

  it.each(['executionPasses', 'semanticValidation', 'taskProfile', 'run'] as const)(
    '[E1] does without %s, which may be left out',
    (field) => {
      const { [field]: left, ...others } = sample;
      const { input, problems } = readSynthesisInput(others);
      expect(problems).toEqual([]);
      expect(input[field]).toEqual(field === 'run' ? synthesisInputSchema.parse(others).run : null);
    },
  );

  it.each([
    ['request', '', 'request: got ""; wanted a text that is not empty'],
    ['request', 5, 'request: got 5; wanted a text that is not empty'],
    ['executionResults', 'none', 'executionResults: got "none"; wanted a list of steps'],
    ['executionResults', [5], 'executionResults.0: got 5; wanted an object'],
    ['executionResults.0.content', null, 'executionResults.0.content: got null; wanted a text'],
    ['planState', [], 'planState: got a list of 0; wanted an object with goal and alternatives'],
    ['planState.goal', 5, 'planState.goal: got 5; wanted a text, or null'],
    ['planState.alternatives.0', 5, 'planState.alternatives.0: got 5; wanted a text'],
    [
      'convergenceAssessment.confidence',
      Number.NaN,
      'convergenceAssessment.confidence: got NaN; wanted a number from 0 to 1',
    ],
    ['executionPasses', 5, 'executionPasses: got 5; wanted a list of decisions'],
    ['executionPasses.0.cycle', 0, 'executionPasses.0.cycle: got 0; wanted at least 1'],
    [
      'semanticValidation.failures.0.failure.stage',
      'luck',
      'semanticValidation.failures.0.failure.stage: got "luck"; wanted one of transport, extraction, schema, refinement, transformation, deadline, unexpected',
    ],
    ['taskProfile', 'x', 'taskProfile: got "x"; wanted an object with a prompt'],
    ['correlationId', '', 'correlationId: got ""; wanted a text that is not empty'],
    ['executionStartTimestamp', 'yesterday', 'executionStartTimestamp: got "yesterday"; wanted an ISO 8601 time'],
    ['convergenceStatus', 'yes', 'convergenceStatus: got "yes"; wanted true or false'],
    ['totalPasses', -1, 'totalPasses: got -1; wanted a whole number of at least 0'],
    ['totalRefinements', 0.5, 'totalRefinements: got 0.5; wanted a whole number of at least 0'],
    ['ttlRemaining', 'x', 'ttlRemaining: got "x"; wanted a whole number of at least 0'],
    ['run', 5, 'run: got 5; wanted an object that says how the run went'],
    ['run.draft.confidence', 2, 'run.draft.confidence: got 2; wanted a number from 0 to 1'],
    ['run.messages.0.content', 5, 'run.messages.0.content: got 5; wanted a text'],
    ['run.mode', 'fast', 'run.mode: got "fast"; wanted "automatic" or "manual"'],
    ['run.limits.maxTokens', -1, 'run.limits.maxTokens: got -1; wanted a whole number of at least 0, or null'],
    ['run.usage.inputTokens', 'many', 'run.usage.inputTokens: got "many"; wanted a number'],
  ])('[E1] says in one line what is wrong with %s: %j', (path, value, wanted) => {
    expect(problemsOf(withField(path, value))).toEqual([wanted]);
  });

  it.each([
    '2025-01-27T10:00:00Z',
    '2025-01-27T10:00:00+02:00',
    '2025-01-27T10:00:00.123456',
    '+275760-09-13T00:00:00.000Z',
  ])('[E1] takes the ISO time %s', (time) => {
    expect(problemsOf(withField('executionStartTimestamp', time))).toEqual([]);
  });

  it.each(['2025-02-30T10:00:00Z', '2025-01-27', '27.1.2025', '1738000000'])('[E1] refuses the time %s', (time) => {
    expect(problemsOf(withField('executionStartTimestamp', time))).toHaveLength(1);
  });

  it('[E1] keeps the items of a list that are right, and the members of an object that are', () => {
    const step = sample.executionResults[0];
    const { input, problems } = readSynthesisInput({
      ...sample,
      executionResults: [null, step, { stepId: 's2' }],
      planState: { goal: 'to know', alternatives: 5 },
      run: { ...sample.run, messages: [aMessage({ id: 'a' }), 5], usage: { modelCalls: 'x', inputTokens: 7 } },
    });
    expect(input.executionResults).toEqual([step]);
    expect(input.planState).toEqual({ goal: 'to know', alternatives: [] });
    expect(input.run.messages.map(({ id }) => id)).toEqual(['a']);
    expect(input.run.usage).toMatchObject({ modelCalls: 0, inputTokens: 7 });
    expect(problems.map(({ field }) => field)).toEqual([
      'executionResults.0',
      'executionResults.2.phase',
      'planState.alternatives',
      'run.messages.1',
      'run.usage.outputTokens',
      'run.usage.estimated',
      'run.usage.modelCalls',
      'run.usage.cost',
    ]);
  });

  it('[E1] tells texts in a line that nothing in them can break, turn or draw out', () => {
    const [told] = problemsOf(withField('ttlRemaining', `\u001b[2J\n\u2028\u202e\u009b${'x'.repeat(1_000)}`));
    expect(told).toMatch(/^ttlRemaining: got "[ -~]+"…; wanted a whole number of at least 0$/);
    expect(told?.length).toBeLessThan(200);
  });

  it('[E1] says so where a run’s state is broken, and takes what it still holds', () => {
    const broken = { ...aState(), messages: [null], recursion: null, startedAtMs: Number.NaN } as never;
    const { input, problems } = readSynthesisInput(synthesisInput(broken));
    expect(input).toMatchObject({ request: 'When was the bridge opened?', correlationId: 'r1' });
    expect(problems.map(({ field }) => field)).toEqual([
      'taskProfile',
      'executionStartTimestamp',
      'totalPasses',
      'ttlRemaining',
      'run.messages.0',
      'run.mode',
      'run.elapsedMs',
    ]);
  });
});

const throwing = new Proxy(
  {},
  new Proxy(
    {},
    {
      get: () => () => {
        throw new Error('do not look');
      },
    },
  ),
);
const cyclic: Record<string, unknown> = { ...synthesisInputSample };
cyclic['planState'] = cyclic;
cyclic['run'] = { draft: cyclic, messages: [cyclic] };
const revoked = Proxy.revocable([], {});
revoked.revoke();
const getters = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.keys(synthesisInputSample).map((key) => [
      key,
      {
        get() {
          throw new Error('do not look');
        },
      },
    ]),
  ),
);
/** Says another thing each time it is asked. */
const fickle = { ...synthesisInputSample };
let asked = 0;
Object.defineProperty(fickle, 'ttlRemaining', { get: () => (asked++ === 0 ? 3 : 'x') });

describe('an input that is none', () => {
  it.each<[string, unknown, string]>([
    ['null', null, 'input: got null; wanted an object with the fields of the contract'],
    ['nothing', undefined, 'input: got nothing; wanted an object with the fields of the contract'],
    ['a text', 'run', 'input: got "run"; wanted an object with the fields of the contract'],
    ['a number', 5n, 'input: got 5; wanted an object with the fields of the contract'],
    ['a symbol', Symbol('x'), 'input: got what cannot be read; wanted an object with the fields of the contract'],
    ['a function', () => 1, 'input: got a function; wanted an object with the fields of the contract'],
    ['a list', [], 'request: got nothing; wanted a text that is not empty'],
    [
      'a proxy that throws whatever is done',
      throwing,
      'request: got what cannot be read; wanted a text that is not empty',
    ],
    ['a revoked proxy', revoked.proxy, 'request: got what cannot be read; wanted a text that is not empty'],
    ['getters that throw', getters, 'request: got what cannot be read; wanted a text that is not empty'],
  ])('[E1] [E3] is read all the same, and named: %s', (_, given, first) => {
    const { input, problems } = readSynthesisInput(given);
    expect(problemText(problems[0] as never)).toBe(first);
    const named = new Set(problems.map(({ field }) => field));
    for (const field of REQUIRED) expect(named).toContain(field);
    const { request, ...safe } = input;
    expect(synthesisInputSchema.parse({ ...safe, request: request || 'x' })).toEqual({ ...safe, request: 'x' });
  });

  it('[E1] may hold what throws where it is looked into, anywhere in it', () => {
    const message = {
      ...aMessage(),
      get content(): string {
        throw new Error('do not look');
      },
    };
    const { input, problems } = readSynthesisInput({
      ...sample,
      executionResults: [throwing, sample.executionResults[0]],
      planState: throwing,
      run: { messages: [message, aMessage({ id: 'a' })], decision: throwing, interruption: revoked.proxy },
    });
    expect(problems.map(problemText)).toEqual([
      'executionResults.0: got an object; wanted what can be read',
      'planState.goal: got what cannot be read; wanted a text, or null',
      'planState.alternatives: got what cannot be read; wanted a list of texts',
      'run.messages.0: got an object; wanted what can be read',
      'run.interruption: got what cannot be read; wanted why the run was left, or null',
      'run.decision: got an object; wanted a decision, or null',
    ]);
    expect(input.executionResults).toHaveLength(1);
    expect(input.run.messages.map(({ id }) => id)).toEqual(['a']);
  });

  it('[E1] may be cyclic: only what the contract names is read, and only once', () => {
    const { problems } = readSynthesisInput(cyclic);
    expect(problems.map(({ field }) => field)).toEqual([
      'planState.goal',
      'planState.alternatives',
      'run.draft.text',
      'run.draft.confidence',
      'run.draft.usedMessageIds',
      'run.messages.0.id',
    ]);
    expect(readSynthesisInput(fickle)).toMatchObject({ input: { ttlRemaining: 3 }, problems: [] });
  });

  it('[E1] may be large: a list of what does not fit is read no further than it is told', () => {
    const long = 'x'.repeat(10_000_000);
    const { input, problems } = readSynthesisInput({
      ...sample,
      request: long,
      executionResults: Array.from({ length: 2_000_000 }, () => 5),
      totalPasses: long,
    });
    expect(input.request).toBe(long);
    expect(problems).toHaveLength(21);
    expect(JSON.stringify(problems).length).toBeLessThan(5_000);
  });

  it('[E1] cannot slip in what the contract does not name, nor reach a prototype', () => {
    const given = JSON.parse(`{"__proto__": {"ttlRemaining": 5}, "constructor": 1, "polluted": true}`);
    const { input } = readSynthesisInput(given);
    expect(Object.keys(input)).toEqual(Object.keys(synthesisInputSchema.shape) as (keyof SynthesisInput)[]);
    expect(({} as Record<string, unknown>)['ttlRemaining']).toBeUndefined();
  });
});
