import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SynthesisInput, synthesisInputSchema } from '../../../../machines/contracts/synthesis.ts';
import { synthesisInput } from '../../../../machines/policies/synthesis/input.ts';
import { problemText, readSynthesisInput } from '../../../../machines/policies/synthesis/read-input.ts';
import { chainStateArbitrary } from '../../../support/arbitraries.ts';
import { synthesisInputSample } from '../../../support/contract-cases.ts';
import { aMessage, aState, deepFreeze } from '../../../support/contract-samples.ts';

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

describe('reading the synthesis input', () => {
  it('[E1] accepts valid input unchanged and without problems, for a run in any state', () => {
    expect(readSynthesisInput(sample)).toEqual({ input: sample, problems: [] });
    fc.assert(
      fc.property(chainStateArbitrary, (state) => {
        const input = synthesisInput(state);
        expect(readSynthesisInput(deepFreeze(input))).toEqual({ input, problems: [] });
      }),
    );
  });

  it.each(REQUIRED)('[E1] reports a missing %s and accepts all other fields', (field) => {
    const { [field]: left, ...others } = sample;
    const { input, problems } = readSynthesisInput(others);
    expect(problems.map((problem) => problem.field)).toEqual([field]);
    expect(problemText(problems[0] as never)).toMatch(new RegExp(`^${field}: expected .+; received nothing$`));
    expect({ ...input, [field]: left }).toEqual(sample);
  });

  it.each(['executionPasses', 'semanticValidation', 'taskProfile', 'run'] as const)(
    '[E1] does not require the optional %s',
    (field) => {
      const { [field]: left, ...others } = sample;
      const { input, problems } = readSynthesisInput(others);
      expect(problems).toEqual([]);
      expect(input[field]).toEqual(field === 'run' ? synthesisInputSchema.parse(others).run : null);
    },
  );

  it.each([
    ['request', '', 'request: expected a non-empty string; received ""'],
    ['request', 5, 'request: expected a non-empty string; received 5'],
    ['executionResults', 'none', 'executionResults: expected an array of steps; received "none"'],
    ['executionResults', [5], 'executionResults.0: expected an object of JSON values; received 5'],
    ['planState', [], 'planState: expected an object of JSON values; received an array of 0'],
    ['convergenceAssessment', 0.9, 'convergenceAssessment: expected an object of JSON values; received 0.9'],
    ['executionPasses', 5, 'executionPasses: expected an array of passes; received 5'],
    ['semanticValidation', 'fine', 'semanticValidation: expected an object of JSON values; received "fine"'],
    ['taskProfile', 'x', 'taskProfile: expected an object of JSON values; received "x"'],
    ['correlationId', '', 'correlationId: expected a non-empty string; received ""'],
    [
      'executionStartTimestamp',
      'yesterday',
      'executionStartTimestamp: expected an ISO 8601 time; received "yesterday"',
    ],
    ['convergenceStatus', 'yes', 'convergenceStatus: expected a boolean; received "yes"'],
    ['totalPasses', -1, 'totalPasses: expected an integer ≥ 0; received -1'],
    ['totalRefinements', 0.5, 'totalRefinements: expected an integer ≥ 0; received 0.5'],
    ['ttlRemaining', 'x', 'ttlRemaining: expected an integer ≥ 0; received "x"'],
    ['run', 5, 'run: expected an object that describes the run; received 5'],
    ['run.draft.confidence', 2, 'run.draft.confidence: expected a number from 0 to 1; received 2'],
    ['run.messages.0.content', 5, 'run.messages.0.content: expected a string; received 5'],
    ['run.mode', 'fast', 'run.mode: expected "automatic" or "manual"; received "fast"'],
    ['run.limits.maxTokens', -1, 'run.limits.maxTokens: expected an integer ≥ 0, or null; received -1'],
    ['run.usage.inputTokens', 'many', 'run.usage.inputTokens: expected a number; received "many"'],
  ])('[E1] describes in one line what is wrong with %s: %j', (path, value, wanted) => {
    expect(problemsOf(withField(path, value))).toEqual([wanted]);
  });

  it.each([
    '2025-01-27T10:00:00Z',
    '2025-01-27T10:00:00+02:00',
    '2025-01-27T10:00:00.123456',
    '+275760-09-13T00:00:00.000Z',
  ])('[E1] accepts the ISO time %s', (time) => {
    expect(problemsOf(withField('executionStartTimestamp', time))).toEqual([]);
  });

  it.each(['2025-02-30T10:00:00Z', '2025-01-27', '27.1.2025', '1738000000'])('[E1] rejects the time %s', (time) => {
    expect(problemsOf(withField('executionStartTimestamp', time))).toHaveLength(1);
  });

  it('[E1] keeps the valid items of a list and the valid members of an object', () => {
    const step = sample.executionResults[0];
    const { input, problems } = readSynthesisInput({
      ...sample,
      executionResults: [null, step, 'done'],
      run: { ...sample.run, messages: [aMessage({ id: 'a' }), 5], usage: { modelCalls: 'x', inputTokens: 7 } },
    });
    expect(input.executionResults).toEqual([step]);
    expect(input.run.messages.map(({ id }) => id)).toEqual(['a']);
    expect(input.run.usage).toMatchObject({ modelCalls: 0, inputTokens: 7 });
    expect(problems.map(({ field }) => field)).toEqual([
      'executionResults.0',
      'executionResults.2',
      'run.messages.1',
      'run.usage.outputTokens',
      'run.usage.estimated',
      'run.usage.modelCalls',
      'run.usage.cost',
    ]);
  });

  it('[E1] [E2] accepts free dictionaries, and reads a step under the names that other programs use', () => {
    const given = {
      ...sample,
      executionResults: [
        { step_id: 1, tool: 'search', output: 'Found two.' },
        { id: 'b', result: { rows: 2 } },
        { status: 'done', note: undefined },
      ],
      planState: { steps: [{ id: 1, done: true }], owner: null },
      convergenceAssessment: { converged: true, scores: [0.9] },
      executionPasses: [{ pass: 1 }],
      semanticValidation: { issues: [] },
      taskProfile: { kind: 'lookup' },
    };
    const { input, problems } = readSynthesisInput(deepFreeze(given));
    expect(problems).toEqual([]);
    expect(input.executionResults).toEqual([
      { stepId: '1', phase: 'search', content: 'Found two.' },
      { stepId: 'b', phase: '', content: '{"rows":2}' },
      { stepId: 'step 3', phase: '', content: '{"status":"done"}' },
    ]);
    expect(input).toMatchObject({ planState: given.planState, taskProfile: given.taskProfile });
  });

  it('[E1] prints values on one bounded line without control characters', () => {
    const [told] = problemsOf(withField('ttlRemaining', `\u001b[2J\n\u2028\u202e\u009b${'x'.repeat(1_000)}`));
    expect(told).toMatch(/^ttlRemaining: expected an integer ≥ 0; received "[ -~]+"…$/);
    expect(told?.length).toBeLessThan(200);
  });

  it('[E1] reports a broken run state and uses the valid parts', () => {
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
/** Returns another value each time it is read. */
const fickle = { ...synthesisInputSample };
let asked = 0;
Object.defineProperty(fickle, 'ttlRemaining', { get: () => (asked++ === 0 ? 3 : 'x') });

describe('invalid synthesis input', () => {
  it.each<[string, unknown, string]>([
    ['null', null, 'input: expected an object with the fields of the contract; received null'],
    ['nothing', undefined, 'input: expected an object with the fields of the contract; received nothing'],
    ['a text', 'run', 'input: expected an object with the fields of the contract; received "run"'],
    ['a number', 5n, 'input: expected an object with the fields of the contract; received 5'],
    [
      'a symbol',
      Symbol('x'),
      'input: expected an object with the fields of the contract; received an unreadable value',
    ],
    ['a function', () => 1, 'input: expected an object with the fields of the contract; received a function'],
    ['a list', [], 'request: expected a non-empty string; received nothing'],
    [
      'a proxy that throws on every trap',
      throwing,
      'request: expected a non-empty string; received an unreadable value',
    ],
    ['a revoked proxy', revoked.proxy, 'request: expected a non-empty string; received an unreadable value'],
    ['getters that throw', getters, 'request: expected a non-empty string; received an unreadable value'],
  ])('[E1] [E3] is still read and reported: %s', (_, given, first) => {
    const { input, problems } = readSynthesisInput(given);
    expect(problemText(problems[0] as never)).toBe(first);
    const named = new Set(problems.map(({ field }) => field));
    for (const field of REQUIRED) expect(named).toContain(field);
    const { request, ...safe } = input;
    expect(synthesisInputSchema.parse({ ...safe, request: request || 'x' })).toEqual({ ...safe, request: 'x' });
  });

  it('[E1] may throw anywhere when it is read', () => {
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
      'executionResults.0: expected an object of JSON values; received an object',
      'planState: expected an object of JSON values; received an object',
      'run.messages.0: expected a readable value; received an object',
      'run.interruption: expected an interruption, or null; received an unreadable value',
      'run.decision: expected a decision, or null; received an object',
    ]);
    expect(input.executionResults).toHaveLength(1);
    expect(input.run.messages.map(({ id }) => id)).toEqual(['a']);
  });

  it('[E1] may be cyclic: only contract fields are read, and only once', () => {
    const { problems } = readSynthesisInput(cyclic);
    expect(problems.map(({ field }) => field)).toEqual([
      'planState',
      'run.draft.text',
      'run.draft.confidence',
      'run.draft.usedMessageIds',
      'run.messages.0.id',
    ]);
    expect(readSynthesisInput(fickle)).toMatchObject({ input: { ttlRemaining: 3 }, problems: [] });
  });

  it('[E1] may be large: a list of invalid items is read only as far as it is reported', () => {
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

  it('[E1] cannot add unknown fields or reach a prototype', () => {
    const given = JSON.parse(`{"__proto__": {"ttlRemaining": 5}, "constructor": 1, "polluted": true}`);
    const { input } = readSynthesisInput(given);
    expect(Object.keys(input)).toEqual(Object.keys(synthesisInputSchema.shape) as (keyof SynthesisInput)[]);
    expect(({} as Record<string, unknown>)['ttlRemaining']).toBeUndefined();
  });
});
