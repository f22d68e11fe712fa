import fc from 'fast-check';
import type { Citation, FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { unit } from './arbitraries.ts';
import { aDecision, aFailure, aFinalAnswer } from './contract-samples.ts';

const repeatTo = (piece: string, chars: number): string =>
  piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);

/** Texts of so many characters that a careless expression or loop chokes on, by what is in them. */
export const HOSTILE_TEXTS: Readonly<Record<string, (chars: number) => string>> = {
  'one word': (chars) => repeatTo('a', chars),
  'one number': (chars) => repeatTo('1', chars),
  'numbers and commas': (chars) => repeatTo('1,', chars),
  'full stops': (chars) => repeatTo('. ', chars),
  'line breaks': (chars) => repeatTo('\n', chars),
  apostrophes: (chars) => repeatTo("a'", chars),
  hyphens: (chars) => repeatTo('a-', chars),
  'capitals in the middle': (chars) => repeatTo('aB', chars),
  'names before colons': (chars) => repeatTo('Ab Cd: ', chars),
  negations: (chars) => repeatTo('not no ', chars),
  'opening brackets': (chars) => repeatTo('([{', chars),
  'lone high surrogates': (chars) => repeatTo('\ud83c', chars),
  'lone low surrogates': (chars) => repeatTo('\udf09', chars),
  'joined emoji': (chars) => repeatTo('👩\u200d🚀', chars),
  'combining marks': (chars) => repeatTo('e\u0301\u0323\u0308', chars),
  'right-to-left words': (chars) => repeatTo('גשר الجسر ', chars),
  'direction marks': (chars) => repeatTo('\u202eegdirb\u202c ', chars),
  'a script without spaces': (chars) => repeatTo('港桥开放', chars),
  'ligatures that fold to many letters': (chars) => repeatTo('ﷺ', chars),
  abbreviations: (chars) => repeatTo('Mr. No. St. ', chars),
};

/** Texts that do harm where a page takes them for more than texts. */
export const NAUGHTY_STRINGS: Readonly<Record<string, readonly string[]>> = {
  scripts: [
    '<script>window.pwned=1</script>',
    '<img src=x onerror="window.pwned=2">',
    '</script><script>window.pwned=3</script>',
    '<svg/onload=window.pwned=4>',
    '"><iframe srcdoc="<script>parent.pwned=5</script>">',
    'javascript:window.pwned=6',
    '[press me](javascript:window.pwned=7)',
  ],
  markup: [
    '<a href="https://elsewhere.example/?x">here</a>',
    '<link rel=stylesheet href=https://elsewhere.example/x.css>',
    '<meta http-equiv=refresh content="0;url=https://elsewhere.example">',
    "<style>@import 'https://elsewhere.example/x.css'</style>",
    '<!-- <b>bold</b>',
    ']]>&lt;&#60;&amp;',
  ],
  templates: [
    '{{constructor.constructor("window.pwned=8")()}}',
    '$\u007bwindow.pwned=9}',
    '<%= pwned %>',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    '$&$1$`$$',
  ],
  hidden: [
    'a\u0000b\u0007c\u001b[31md\u009b1m',
    '\u202eevil\u202c',
    'zero\u200bwidth\u2060joiner\ufeff',
    'soft\u00adhyphen',
    '\u2066isolated\u2069',
    '\u{e0041}tag',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  ],
  scripted: [
    'שלום עולם',
    'مرحبا بالعالم',
    '\u{1f600}\u{1f1eb}\u{1f1f7}',
    'Z\u0351\u0352\u0353\u0354a\u0310l\u0321go',
    'ﷺ',
  ],
  long: ['W'.repeat(3_000), `https://example.org/${'a'.repeat(500)}`, '漢'.repeat(600), 'line\n'.repeat(400)],
};

/** Pieces that a careless renderer lets break a page, a line or a terminal. */
const PIECES = [
  ...['```', '````', '~~~', '`', '``', '    ', '\t', ' ', '\n', '\n\n', '\r\n', '\r', 'word', '\u0001', '\u0000'],
  ...['# ', '## Sources', '## Notes\n\n', 'Answer\n===', '\n---\n', '***', '> ', '- ', '1. ', '* ', '+ ', '2) '],
  ...['<!--', '-->', '<script>', '</script>', '<details>', '</div>', '<div', '<a href="', '">', '<?', '<![CDATA['],
  ...['<!X', '<https://a.b>', '&lt;', '&#60;', '\\', '\\<', '\\\\', '[a]: <b>', '[a]', '](', '![', '](x "', '|'],
  ...['| a |\n|---|\n', '*', '**', '_', '~~', '$$', ':::', '{{'],
  ...['\u001b[31m', '\u001b]0;x\u0007', '\u009b2J', '\u202e', '\u2066', '\u200f'],
  ...['\u2028', '\u2029', '\u0085', '\ufeff', '\u200b', '\u00a0', '\ud83c', '\udf09', '👩\u200d🚀', 'e\u0301', 'גשר'],
];

/** Texts that a careless renderer takes for more than texts. */
export const hostileText = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'In 1932.') },
);

const lineNumber = fc.integer({ min: 1, max: 99_999 });
const citationArbitrary: fc.Arbitrary<Citation> = fc.record({
  path: hostileText,
  startLine: lineNumber,
  endLine: lineNumber,
  messageId: hostileText,
  quote: hostileText,
});

const metadataArbitrary = fc
  .record({
    degraded: fc.boolean(),
    reason: fc.constantFrom(null, 'cancelled' as const, 'cycle_limit_reached' as const, 'synthesis_failed' as const),
    missingFields: fc.array(hostileText, { maxLength: 3 }),
    cycles: fc.nat(),
    cost: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }).map((cost) => cost + 0)),
    failure: hostileText,
    rationale: hostileText.map((text) => `${text}.`),
    inputs: fc.dictionary(hostileText, fc.oneof(hostileText, fc.integer(), fc.boolean(), fc.constant(null))),
  })
  .map(({ cost, failure, rationale, inputs, ...rest }): FinalAnswer['metadata'] => ({
    ...aFinalAnswer().metadata,
    ...rest,
    usage: { ...aFinalAnswer().metadata.usage, cost },
    decision: aDecision({ rationale, inputs }),
    failures: [{ phase: failure, cycle: 1, failure: aFailure({ message: failure }) }],
  }));

/** Final answers with anything in every field that a model, a document or a server may fill. */
export const hostileAnswerArbitrary: fc.Arbitrary<FinalAnswer> = fc.record({
  answerText: hostileText.map((text) => text || 'x'),
  confidence: unit,
  usedStepIds: fc.array(hostileText, { maxLength: 2 }),
  notes: hostileText,
  ttlExhausted: fc.boolean(),
  status: fc.constantFrom('completed' as const, 'degraded' as const, 'cancelled' as const),
  reasons: fc.array(
    fc.record({ code: fc.constantFrom('incomplete_state' as const, 'search_failed' as const), message: hostileText }),
    { maxLength: 2 },
  ),
  grounding: fc.constant(null),
  sources: fc.array(citationArbitrary, { maxLength: 4 }),
  metadata: metadataArbitrary,
});

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const nestedJson = (levels: number): Json => {
  let made: Json = [];
  for (let level = 0; level < levels; level += 1) made = level % 2 === 0 ? [made] : { inside: made };
  return made;
};

/** What stands in a journal where something else should. */
const unexpectedJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, '', [], {}, 0, -1, 0.5, -0, 1e308, -1e308, 2 ** 53, 1e21),
  fc.constantFrom<Json>('__proto__', 'constructor', 'toString', 'action', 'end', '\u202e\u0000', 'é'.repeat(5_000)),
  fc.constantFrom<Json>([null], [[]], [{}], { length: 1e9 }, { toString: 1 }, { length: -1, 0: 'x' }),
  fc.integer({ min: 1, max: 400 }).map(nestedJson),
  fc.array(fc.constantFrom<Json>(null, 1, 'x', {}, []), { maxLength: 6 }),
  fc.dictionary(
    fc.constantFrom('type', 'id', 'path', 'messages', '__proto__', 'x'),
    fc.constantFrom<Json>(null, 1, 'y', {}, []),
  ) as fc.Arbitrary<Json>,
);

/** One change of one value: where it is, by numbers that lead there from the root, and what becomes of it. */
const mutationArbitrary = fc.record({
  line: fc.nat(),
  path: fc.array(fc.nat(), { minLength: 1, maxLength: 7 }),
  how: fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('other' as const), value: unexpectedJson }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'dropped' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'twice' as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('like' as const), line: fc.nat() }) },
  ),
});

export const lineMutations = fc.array(mutationArbitrary, { minLength: 1, maxLength: 6 });
export type LineMutations = typeof lineMutations extends fc.Arbitrary<infer Value> ? Value : never;

/** The lines with these changes: still a list of entries in order, but hardly a journal. */
export function mutateLines(lines: readonly string[], changes: LineMutations): readonly string[] {
  const made = lines.map((line) => JSON.parse(line) as Json);
  for (const { line, path, how } of changes) {
    const index = line % made.length;
    if (how.kind === 'like') {
      // An entry of another kind in its index: a state change where none fits, an end in the middle.
      const other = made[how.line % made.length];
      const [own, taken] = [made[index], structuredClone(other)];
      if (isObject(own) && isObject(taken)) made[index] = { ...taken, seq: own['seq'] ?? 0, atMs: own['atMs'] ?? 0 };
    } else mutate(made[index] ?? null, path, how);
  }
  return made.map((entry) => JSON.stringify(entry));
}

/** The same of any value. */
export function mutateValue<Value>(value: Value, changes: LineMutations): Value {
  const made = structuredClone(value) as Json;
  for (const { path, how } of changes) if (how.kind !== 'like') mutate(made, path, how);
  return made as Value;
}

const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function mutate(
  root: Json,
  path: readonly number[],
  how: Exclude<LineMutations[number]['how'], { kind: 'like' }>,
): void {
  let at = root;
  for (const [step, number] of path.entries()) {
    if (typeof at !== 'object' || at === null) return;
    // Where an entry stands is known to be checked; all else is not.
    const names = Object.keys(at).filter((name) => step > 0 || (name !== 'seq' && name !== 'atMs'));
    const name = names[number % Math.max(1, names.length)];
    if (name === undefined) return;
    const holder = at as { [name: string]: Json };
    const inside = holder[name] as Json;
    const isLast = step === path.length - 1 || typeof inside !== 'object' || inside === null;
    if (!isLast) {
      at = inside;
      continue;
    }
    if (how.kind === 'dropped') delete holder[name];
    else holder[name] = how.kind === 'twice' ? [inside, inside] : structuredClone(how.value);
    return;
  }
}
