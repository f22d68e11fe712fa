import { describeReadValue, type InputProblem, readMembers } from '../../contracts/read-fields.ts';
import { type SynthesisInput, synthesisInputSchema } from '../../contracts/synthesis.ts';
import { NO_USAGE } from '../usage.ts';

export interface ReadSynthesisInput {
  readonly input: SynthesisInput;
  /** Every field that is missing or wrong; its place in `input` is taken by what claims nothing. */
  readonly problems: readonly InputProblem[];
}

/** What stands where a field is missing, and which objects are read member by member. */
const SAFE = {
  request: '',
  executionResults: [],
  planState: { goal: null, alternatives: [] },
  convergenceAssessment: { change: null, confidence: 0, rationale: 'it is not known' },
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
 * The input contract of synthesis, field by field [E1]: what fits is taken, what does not is named. Never throws, whatever it is
 * given, and changes nothing of it [E6].
 */
export function readSynthesisInput(given: unknown): ReadSynthesisInput {
  const problems: InputProblem[] = [];
  const tell = (problem: InputProblem): void => void problems.push(problem);
  if (typeof given !== 'object' || given === null)
    tell({ field: 'input', got: describeReadValue(given), wanted: 'an object with the fields of the contract' });
  const input = readMembers(synthesisInputSchema.shape, SAFE, given, tell) as unknown as SynthesisInput;
  return { input, problems };
}

/** A problem as a message of one line. */
export function problemText({ field, got, wanted }: InputProblem): string {
  return `${field}: got ${got}; wanted ${wanted}`;
}
