import fc from 'fast-check';
import type { Citation, FinalAnswer } from '../../../../machines/contracts/synthesis.ts';
import { aDecision, aFailure, aFinalAnswer } from '../../../machines/contracts/samples.ts';
import { unit } from '../../../machines/policies/context.arbitrary.ts';

/** Pieces that a careless renderer lets break a page, a line or a terminal. */
const PIECES = [
  ...['```', '````', '~~~', '`', '``', '    ', '\t', ' ', '\n', '\n\n', '\r\n', '\r', 'word', '\u0001', '\u0000'],
  ...['# ', '## Sources', '## Notes\n\n', 'Answer\n===', '\n---\n', '***', '> ', '- ', '1. ', '* ', '+ ', '2) '],
  ...[
    '<!--',
    '-->',
    '<script>',
    '</script>',
    '<details>',
    '</div>',
    '<div',
    '<a href="',
    '">',
    '<?',
    '<![CDATA[',
    '<!X',
  ],
  ...[
    '<https://a.b>',
    '&lt;',
    '&#60;',
    '\\',
    '\\<',
    '\\\\',
    '[a]: <b>',
    '[a]',
    '](',
    '![',
    '](x "',
    '|',
    '| a |\n|---|\n',
  ],
  ...[
    '*',
    '**',
    '_',
    '~~',
    '$$',
    ':::',
    '{{',
    '\u001b[31m',
    '\u001b]0;x\u0007',
    '\u009b2J',
    '\u202e',
    '\u2066',
    '\u200f',
  ],
  ...['\u2028', '\u2029', '\u0085', '\ufeff', '\u200b', '\u00a0', '\ud83c', '\udf09', '👩\u200d🚀', 'e\u0301', 'גשר'],
];

const hostile = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'In 1932.') },
);

const line = fc.integer({ min: 1, max: 99_999 });
const citation: fc.Arbitrary<Citation> = fc.record({
  path: hostile,
  startLine: line,
  endLine: line,
  messageId: hostile,
  quote: hostile,
});

const metadata = fc
  .record({
    degraded: fc.boolean(),
    reason: fc.constantFrom(null, 'cancelled' as const, 'ttl_exhausted' as const, 'synthesis_failed' as const),
    explanation: hostile,
    missingFields: fc.array(hostile, { maxLength: 3 }),
    cycles: fc.nat(),
    cost: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }).map((cost) => cost + 0)),
    failure: hostile,
    rationale: hostile.map((text) => `${text}.`),
    inputs: fc.dictionary(hostile, fc.oneof(hostile, fc.integer(), fc.boolean(), fc.constant(null))),
  })
  .map(({ cost, failure, rationale, inputs, ...rest }): FinalAnswer['metadata'] => ({
    ...aFinalAnswer().metadata,
    ...rest,
    usage: { ...aFinalAnswer().metadata.usage, cost },
    decision: aDecision({ rationale, inputs }),
    failures: [{ phase: failure, cycle: 1, failure: aFailure({ message: failure }) }],
  }));

/** Final answers with anything in every field that a model, a document or a server may fill. */
export const hostileAnswer: fc.Arbitrary<FinalAnswer> = fc.record({
  answerText: hostile.map((text) => text || 'x'),
  confidence: unit,
  usedStepIds: fc.array(hostile, { maxLength: 2 }),
  notes: hostile,
  ttlExhausted: fc.boolean(),
  status: fc.constantFrom('completed' as const, 'degraded' as const, 'cancelled' as const),
  sources: fc.array(citation, { maxLength: 4 }),
  metadata,
});
