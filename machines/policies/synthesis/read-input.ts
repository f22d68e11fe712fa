import { describeReceived, type InputProblem, readFields } from '../../contracts/read-fields.ts';
import { type SynthesisInput, synthesisInputSchema } from '../../contracts/synthesis.ts';
import { NO_USAGE } from '../usage.ts';

export interface ReadSynthesisInput {
  readonly input: SynthesisInput;
  /** Every field that is missing or invalid; `input` has a neutral value in its place. */
  readonly problems: readonly InputProblem[];
}

/** The values of missing fields. An object here is read member by member. */
const FALLBACKS = {
  request: '',
  executionResults: [],
  planState: { goal: null, alternatives: [] },
  convergenceAssessment: { change: null, confidence: 0, rationale: 'unknown' },
  semanticValidation: { failures: [] },
  taskProfile: { prompt: '' },
  correlationId: 'unknown',
  executionStartTimestamp: '1970-01-01T00:00:00.000Z',
  convergenceStatus: false,
  totalPasses: 0,
  totalRefinements: 0,
  ttlRemaining: 0,
  run: {
    draft: { text: '', confidence: 0, usedMessageIds: [] },
    limits: {},
    thresholds: {},
    excess: {},
    usage: NO_USAGE,
  },
};

/**
 * Reads the input of synthesis field by field: valid fields are kept, others are reported. Never throws, and never
 * changes its argument.
 */
export function readSynthesisInput(given: unknown): ReadSynthesisInput {
  const problems: InputProblem[] = [];
  const report = (problem: InputProblem): void => void problems.push(problem);
  if (typeof given !== 'object' || given === null)
    report({
      field: 'input',
      expected: 'an object with the fields of the contract',
      received: describeReceived(given),
    });
  const input = readFields(synthesisInputSchema.shape, FALLBACKS, given, report) as unknown as SynthesisInput;
  return { input, problems };
}

/** Describes a problem in one line. */
export function problemText({ field, expected, received }: InputProblem): string {
  return `${field}: expected ${expected}; received ${received}`;
}
