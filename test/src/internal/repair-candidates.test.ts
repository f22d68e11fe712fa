import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { candidatesOf, valuesIn } from '../../../src/internal/repair-candidates.ts';

async function valuesOf(text: string, isEnded = true): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for await (const one of valuesIn(text, isEnded)) values.push(...candidatesOf(one));
  return values;
}

const firstOf = async (text: string, isEnded = true) => (await valuesOf(text, isEnded))[0];

/** Any JSON object. Its strings have quotes, signs, escapes and line breaks, because a repair must not change them. */
const text = fc.stringMatching(/^[\w äß😀"'“”’,:{}[\]/#\\\n\t\u00a0.-]{0,12}$/u);
const plain = fc.stringMatching(/^[\w äß😀,:{}[\]/#\u00a0.-]{0,12}$/u);
const objectOf = (string: fc.Arbitrary<string>) =>
  fc.dictionary(
    fc.stringMatching(/^[a-z]\w{0,5}$/u).filter((name) => !/^(?:true|false|null|none)$/iu.test(name)),
    fc.oneof(
      string,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.oneof(string, fc.integer(), fc.dictionary(fc.constant('x'), string, { minKeys: 1 })), {
        maxLength: 3,
      }),
    ),
    { minKeys: 1, maxKeys: 4 },
  );

const STRING = /"(?:[^"\\]|\\.)*"/gu;
const outside = (json: string, change: (code: string) => string): string =>
  json
    .split(/("(?:[^"\\]|\\.)*")/u)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('');

/** How models damage JSON without changing what it says. */
const DAMAGES: readonly (readonly [string, (json: string) => string, fc.Arbitrary<string>?])[] = [
  ['a trailing comma', (json) => outside(json, (code) => code.replaceAll(/[}\]]/gu, ',$&'))],
  ['no-break spaces', (json) => outside(json, (code) => code.replaceAll(/[,:{}[\]]/gu, '\u00a0$&\u00a0'))],
  ['hash comments', (json) => outside(json, (code) => code.replaceAll(/[,{[]/gu, "$& # it's {one}\n"))],
  ['equals signs', (json) => outside(json, (code) => code.replaceAll(':', ' = '))],
  [
    'equals signs after names',
    (json) => json.replaceAll(/"([a-z]\w{0,5})":/gu, '$1='),
    plain.map((one) => one.replaceAll(':', '')),
  ],
  ['wide colons', (json) => outside(json, (code) => code.replaceAll(':', '：'))],
  ['plus signs', (json) => outside(json, (code) => code.replaceAll(/(?<!-)\b\d+/gu, '+$&'))],
  ['dots after numbers', (json) => outside(json, (code) => code.replaceAll(/\d+/gu, '$&.'))],
  ['tuples', (json) => outside(json, (code) => code.replaceAll('[', '(').replaceAll(']', ')'))],
  [
    'uppercase literals',
    (json) => outside(json, (code) => code.replaceAll(/true|false|null/gu, (one) => one.toUpperCase())),
  ],
  ['comments', (json) => outside(json, (code) => code.replaceAll(',', ", // it's one\n"))],
  ['block comments', (json) => outside(json, (code) => code.replaceAll(':', ': /* "a" */ '))],
  [
    'Python literals',
    (json) =>
      outside(json, (code) => code.replaceAll('true', 'True').replaceAll('false', 'False').replaceAll('null', 'None')),
  ],
  [
    'raw line breaks and tabs in strings',
    (json) => json.replaceAll(STRING, (one) => one.replaceAll('\\n', '\n').replaceAll('\\t', '\t')),
    fc.stringMatching(/^[\w ä\n\t]{0,12}$/u),
  ],
  [
    'unquoted names',
    (json) => json.replaceAll(/"([a-z]\w{0,5})":/gu, '$1:'),
    plain.map((one) => one.replaceAll(':', '')),
  ],
  ['single quotes', (json) => json.replaceAll('"', "'"), plain],
  ['smart quotes', (json) => json.replaceAll(STRING, (one) => `“${one.slice(1, -1)}”`), plain],
  ['backticks', (json) => json.replaceAll('"', '`'), plain],
  ['a missing bracket', (json) => json.slice(0, -1)],
  ['a fence and prose', (json) => `Here it is:\n\`\`\`json\n${json.replace(/\}$/u, ',}')}\n\`\`\`\nDone.`],
  ['a mark of the byte order', (json) => `\ufeff${json.replace(/\}$/u, ',}')}`],
  ['a JSON string around it', (json) => JSON.stringify(json)],
  ['escaped quotes', (json) => JSON.stringify(json).slice(1, -1)],
];

describe('nearly JSON', () => {
  test.each(DAMAGES.map(([name, damage, strings = text]) => [name, { damage, strings }] as const))(
    'with %s has the same value',
    async (_, { damage, strings }) => {
      await fc.assert(
        fc.asyncProperty(objectOf(strings), async (value) => {
          expect(await firstOf(damage(JSON.stringify(value)))).toMatchObject({ value });
        }),
      );
    },
  );

  test('that was cut anywhere gives no value unless the model ended it', async () => {
    await fc.assert(
      fc.asyncProperty(objectOf(text), fc.nat(), async (value, nat) => {
        const json = JSON.stringify(value);
        expect(await valuesOf(json.slice(0, nat % json.length), false)).toEqual([]);
      }),
    );
  });

  test('never gets strings or numbers that are not in it, whatever is damaged', async () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'"\',}]\\/-=(+', ' # ', '')), {
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(objectOf(text), damage, async (value, places) => {
        const json = places
          .reduce((given, [nat, sign]) => {
            const at = nat % given.length;
            return given.slice(0, at) + sign + given.slice(at + 1);
          }, JSON.stringify(value))
          .replaceAll(/\p{Cs}/gu, '?');
        const compact = (given: string): string => given.replaceAll(/\\u00a0|\\(?!\\)|\s/gu, '');
        for (const one of await valuesOf(json))
          for (const leaf of leavesIn((one as { value: unknown }).value))
            expect(compact(json)).toContain(compact(JSON.stringify(leaf).replace(/^"|"$/gu, '')));
      }),
    );
  });

  test.each([
    '{"path":"C:\\temp\\x"}',
    '{"a":"he said "hi", then left"}',
    '{"a": }',
    '{"a":1e}',
    '{"a":"Par" + "is"}',
    '{"a":[1,2,...]}',
    '{"a":007}',
    '{# a }',
    '{"a":12345678901234567890,}',
    '{"a":"Paris}',
    `{"a":${'['.repeat(300)},}`,
    `{"a":[${'1,'.repeat(25_000)}]}`,
    'no JSON, [1, 2) and {x}',
    '{"approved": not(true)}',
    '{"n": neg( 5 )}',
    '{"glob": src/*, "dryRun": true}',
    '{a: b//c\n, d: 1}',
    "{'msg': 'hello ' 'world'}",
    '{"msg": "x" || "y"}',
    '{"msg": ("hello "\n "world"), "b": 1}',
    '[1,,2]',
  ])('that is ambiguous or too large is not repaired: %.40s', async (given) => {
    expect(await valuesOf(given)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['{"a":[.5, -.5, +.5, 5., 5.e3, +1e2],}', { a: [0.5, -0.5, 0.5, 5, 5000, 100] }],
    ['{a: nil, nil: None, b: 5.x}', undefined],
    ['{a: nil, nil: None, b: x5.}', { a: null, nil: null, b: 'x5.' }],
    ['{"text":"where "x" = 5 # or\u00a06"}', { text: 'where "x" = 5 # or\u00a06' }],
    ["{'text': 'say ('hi')', 'at': ('x', (1, 2))}", { text: "say ('hi')", at: ['x', [1, 2]] }],
  ])('keeps the meaning of a text: %s', async (given, value) => {
    expect(await firstOf(given)).toEqual(value && { value, repairs: ['syntax'] });
  });

  test('[V8] of 200,000 characters of any kind takes linear time', async () => {
    const parts = [
      '{',
      '["',
      '{"a":"',
      "'a ",
      '/*',
      '# ',
      '(',
      'a=',
      '.5 ',
      '"""',
      '"a"+',
      '{\\"a":',
      ' ',
      '"\n',
      '{"a":1}',
      '```',
      '[1,',
    ];
    for (const part of parts) {
      const given = part.repeat(200_000 / part.length);
      expect((await valuesOf(`{"x":${given}`)).length, part).toBeLessThan(50);
    }
  });
});

function leavesIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' || typeof value === 'number' ? [value] : [];
  return Object.values(value).flatMap(leavesIn);
}

describe('a value in another form', () => {
  const value = { city: 'Oslo' };
  test.each([
    ['an array of one', [value], ['single-item']],
    ['another object', { result: value }, ['wrapper']],
    ['an object with a type', { type: 'json', value }, ['wrapper']],
    ['the schema, as its properties', { type: 'object', properties: value, required: ['city'] }, ['wrapper']],
    ['a tool call', { name: 'reply', arguments: JSON.stringify(value) }, ['wrapper', 'string']],
    ['several of these', [{ output: [value] }], ['single-item', 'wrapper', 'single-item']],
  ])('is found in %s', async (_, given, repairs) => {
    expect(await valuesOf(JSON.stringify(given))).toContainEqual({ value, repairs });
  });

  test.each([
    [{ title: 'A', city: value }],
    [[value, value]],
    [{ type: 'object', properties: { city: { type: 'string' } } }],
  ])('is not taken out of %j, which says more', async (given) => {
    expect(await valuesOf(JSON.stringify(given))).toHaveLength(1);
  });

  test('that follows another is the later value', async () => {
    expect(await valuesOf('{"type":"object"} then {"city":"Oslo",}')).toEqual([
      { value: { type: 'object' }, repairs: ['syntax'] },
      { value, repairs: ['syntax', 'later-value'] },
      { value: 'Oslo', repairs: ['syntax', 'later-value', 'wrapper'] },
    ]);
  });
});
