import type { SynthesisOutcome } from '../../../../machines/contracts/synthesis.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import {
  brokenOutcome,
  composedOutcome,
  lateOutcome,
  outcomeOf,
} from '../../../../machines/policies/synthesis/outcome.ts';
import type { Draws } from '../../../src/engine/attempts/seeded.ts';
import { anExecution } from '../../contracts/samples.ts';
import type { Told } from './oracle.ts';
import { TEXTS } from './values.ts';

export interface DrawnOutcome {
  readonly outcome: SynthesisOutcome;
  readonly told: Told;
}

const USAGE = { modelCalls: 1, inputTokens: 300, outputTokens: 40, estimated: false, cost: 0.5 };
const SPENT = 340;

/** What a model may say beside what it was asked for: none of it is its to say [E5]. */
export const CLAIMS = {
  status: 'completed',
  ttlExhausted: false,
  degraded: false,
  metadata: { degraded: false, reason: null, synthesis: { writtenBy: 'engine' } },
  usedStepIds: ['forged'],
  sources: [{ path: 'forged.md' }],
};

const REPLY = { answerText: 'It was opened in 1932.', confidence: 0.9, usedMessageIds: ['p1', 'nobody'], notes: '' };

/** Replies that fit no contract, each in its own way. */
export const MISFITS: readonly unknown[] = [
  { ...REPLY, answerText: '' },
  { ...REPLY, answerText: ' \n' },
  { ...REPLY, answerText: '\u200b\u202e' },
  { ...REPLY, answerText: 5 },
  { ...REPLY, confidence: '0.9' },
  { ...REPLY, confidence: Number.NaN },
  { ...REPLY, confidence: Number.POSITIVE_INFINITY },
  { ...REPLY, confidence: -0.1 },
  { ...REPLY, confidence: 1.1 },
  { ...REPLY, usedMessageIds: 'p1' },
  { ...REPLY, usedMessageIds: [1] },
  { answerText: 'In 1932.', confidence: 0.9 },
  null,
  'In 1932.',
  [],
];

const FAILURES = [
  [failureOf('unexpected', 'prompt_failed', 'the template threw'), 'prompt'],
  [failureOf('transport', 'prompt_too_long', 'too long'), 'prompt'],
  [failureOf('transport', 'rate_limited', 'busy'), 'model'],
  [failureOf('deadline', 'total_deadline', 'late'), 'model'],
  [failureOf('unexpected', 'model_threw', 'it threw'), 'model'],
  [failureOf('extraction', 'no_json', 'no JSON'), 'validation'],
  [failureOf('schema', 'invalid_reply', 'does not fit'), 'validation'],
  [failureOf('transformation', 'transformation_failed', 'cannot be transformed'), 'validation'],
  [failureOf('unexpected', 'policy_broke', 'a rule broke'), 'other'],
] as const;

const GARBAGE: readonly unknown[] = [
  null,
  undefined,
  5,
  {},
  { type: 'lost' },
  { type: 'failed', fallback: 'luck', error: 'x', usage: USAGE },
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('do not look');
      },
    },
  ),
];

const failed = (outcome: SynthesisOutcome, fallback: Told['fallback'], tokens: number): DrawnOutcome => ({
  outcome,
  told: { wrote: null, fallback, tokens },
});

/** Any end that writing can come to. */
export function drawOutcome(draw: Draws): DrawnOutcome {
  const execution = anExecution({ usage: USAGE });
  switch (draw.pick(['written', 'written', 'misfit', 'failure', 'late', 'broken', 'composed', 'garbage'] as const)) {
    case 'written':
      return written(draw);
    case 'misfit': {
      const reply = draw.pick(MISFITS) as never;
      const outcome = draw.chance(0.5)
        ? outcomeOf({ ok: true, value: reply, execution })
        : ({ type: 'written', reply, usage: USAGE } as const);
      return failed(outcome, 'validation', SPENT);
    }
    case 'failure': {
      const [failure, fallback] = draw.pick(FAILURES);
      return failed(outcomeOf({ ok: false, failure, execution }), fallback, SPENT);
    }
    case 'late':
      return failed(lateOutcome(USAGE), 'model', SPENT);
    case 'broken':
      return failed(brokenOutcome(draw.pick([new Error('it broke'), 'x', null])), 'other', 0);
    case 'composed':
      return failed(composedOutcome(draw.pick(['', 'Why not.'])), null, 0);
    default:
      return failed(draw.pick(GARBAGE) as SynthesisOutcome, 'other', 0);
  }
}

function written(draw: Draws): DrawnOutcome {
  const answerText = draw.pick(TEXTS.slice(0, 6));
  const confidence = draw.pick([0, 0.3, 0.9, 1]);
  const reply = { ...REPLY, answerText, confidence, ...(draw.chance(0.3) && CLAIMS) };
  return {
    outcome: { type: 'written', reply, usage: USAGE },
    told: { wrote: { text: answerText.trim(), confidence }, fallback: null, tokens: SPENT },
  };
}
