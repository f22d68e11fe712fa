import { describe, expect, it, test } from 'vitest';
import { calculator } from '../../../src/tools/calculator.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { runCapability } from '../../../src/tools/run-capability.ts';

const registry = createRegistry([calculator()]);
const calculate = (expression: string) =>
  runCapability(registry, {
    capability: 'calculator',
    arguments: { expression },
    maxResultChars: 1_000,
    sessionId: null,
    idempotencyKey: 'run-1.s1.action.1',
    now: () => 0,
    signal: new AbortController().signal,
  });

describe('the calculator', () => {
  test.each([
    ['2 + 3 * 4', '14'],
    ['(2 + 3) * 4', '20'],
    ['-2^2', '-4'],
    ['2^3^2', '512'],
    ['2**10', '1024'],
    ['7 - -3', '10'],
    ['17 × 3 − 4 ÷ 2', '49'],
    ['2 * π / tau', '1'],
    ['1 +\n 2', '3'],
    ['0.1 + 0.2', '0.3'],
    ['1.1 * 3', '3.3'],
    ['round(1.005, 2)', '1.01'],
    ['1 / 3', '0.33333333333333333333333333333333'],
    ['1 / 3 * 3', '1'],
    ['sqrt(2)^2', '2'],
    ['12345678901234567890 * 987654321', '12193263112482853211126352690'],
    ['2^64', '18446744073709551616'],
    ['2^200 + 1', '1606938044258990275541962092341162602522202993782792835301377'],
    ['2^300', '2.0370359763344860862684456884094e+90'],
    ['170!', '7.2574156153079989673967282111293e+306'],
    ['0! + 1! + 5!', '122'],
    ['1e-12', '1e-12'],
    ['1.5e3', '1500'],
    ['0 * -1', '0'],
    ['exp(-1e6)', '0'],
    ['7 mod 3 + mod(-7, 3)', '3'],
    ['abs(-2) + sign(-5) + sign(0)', '1'],
    ['floor(-1.5) + ceil(1.2) + trunc(-1.9)', '-1'],
    ['round(2.5) + round(-2.5)', '0'],
    ['cbrt(-27)', '-3'],
    ['log(8, 2) + log10(1000) + log2(8) + ln(e)', '10'],
    ['sin(pi)', '0'],
    ['cos(pi / 2)', '0'],
    ['tan(pi)', '0'],
    ['sin(pi / 6)', '0.5'],
    ['asin(1) + acos(0) - pi', '0'],
    ['min(3, 1, 2) + max(120, 340)', '341'],
    ['max(120,340)', '340'],
    ['pow(2, 0.5) == sqrt(2)', 'true'],
    ['3.11 > 3.9', 'false'],
    ['0.1 + 0.2 == 0.3', 'true'],
    ['1 / 3 * 3 != 1', 'false'],
    ['10^40 + 1 > 10^40', 'true'],
    ['2 <= 2', 'true'],
    ['2 >= 3', 'false'],
    ['1 < 2', 'true'],
    ['e', '2.7182818284590452353602874713527'],
    ['pi', '3.1415926535897932384626433832795'],
  ])('[R10] evaluates %s', async (expression, output) => {
    expect(await calculate(expression)).toMatchObject({ success: true, output, error: null });
  });

  test.each([
    ['1 / 0', /^division by zero$/],
    ['0 / 0', /^division by zero$/],
    ['0^-1', /^division by zero$/],
    ['tan(pi / 2)', /^division by zero$/],
    ['mod(1, 0)', /^mod by zero$/],
    ['sqrt(-1)', /^the result of sqrt is not a real number$/],
    ['ln(-1)', /ln is not a real number$/],
    ['asin(2)', /asin is not a real number$/],
    ['(-8)^(1/3)', /\^ is not a real number$/],
    ['ln(0)', /^the result of ln is too large/],
    ['log(5, 1)', /log is not a real number$/],
    ['7^200 mod 13', /^mod takes numbers below 1e64/],
    ['1.5!', /^a factorial takes an integer from 0 to 500$/],
    ['(-1)!', /^a factorial takes/],
    ['sin(1e30)', /^an angle is at most 1e20 radians$/],
    ['round(1, 0.5)', /^round takes/],
    ['log(8)', /^log takes 2 numbers; received 1$/],
    ['min()', /^min takes 1 to 100 numbers; received 0$/],
    ['20%', /^unsupported character "%"; write \/ 100 for percent/],
    ['$5 + 3', /^unsupported character "\$"/],
    ['1,000 + 1', /^a number contains a comma; write 1234 for 1,234/],
    ['max(1,000, 2)', /^a number contains a comma/],
    ['1 000', /^the expression cannot be parsed: /],
    ['2(3)', /^an operator is missing between two values; write \* for a product$/],
    ['2 pi', /^an operator is missing/],
    ['1_000', /^an operator is missing/],
    ['x + 1', /^unknown constant "x"; expected pi, tau or e$/],
    ['foo(1)', /^unknown function "foo"; expected one of abs, /],
    ['1 < 2 < 3', /^only numbers, operators, functions and parentheses are supported$/],
    ['(1 < 2) + 1', /^the operator "<" may only stand between two whole expressions$/],
    ['2 +', /^the expression cannot be parsed: /],
    ['', /^the expression is empty$/],
    [' \n', /^the expression is empty$/],
  ])('[R7] fails with an explanation: %s', async (expression, error) => {
    expect(await calculate(expression)).toMatchObject({
      success: false,
      output: '',
      error: expect.stringMatching(error),
    });
  });
});

describe('a hostile expression', () => {
  it.each([
    'import("fs")',
    'import(fs)',
    'a = 1',
    'f(x) = x',
    'f(x) = f(x)',
    'eval(1)',
    'parse(1)',
    'evaluate(1)',
    'compile(1)',
    'createUnit(1)',
    'config(1)',
    'simplify(1)',
    'random()',
    'zeros(1e9)',
    'range(0, 1e9)',
    'combinations(1e6, 5e5)',
    'constructor(1)',
    'constructor.constructor(1)',
    'sqrt.constructor(1)',
    '(1).constructor(1)',
    '(1).sqrt(4)',
    'abs.call(1)',
    'toString()',
    '__proto__',
    'hasOwnProperty(1)',
    '[1, 2]',
    '{a: 1}',
    '1:1000000000',
    '"text"',
    "'text'",
    '`text`',
    '5 cm',
    '5 cm to inch',
    '1; 2',
    '1 # note',
    '1 ? 2 : 3',
    'true',
    'null',
    'NaN',
    'Infinity',
    'i',
    'sqrt(i)',
    'not 1',
    '1 and 2',
    '1 xor 2',
    '1 & 2',
    '1 << 99999',
    'ans',
    'end',
    'x',
    '\u0000',
    '1\u202e2',
  ])('[R7] is rejected, not executed: %j', async (expression) => {
    const result = await calculate(expression);
    expect(result).toMatchObject({ success: false, code: 'threw', output: '' });
    expect(result.error).toMatch(/^[^\p{C}]{1,400}$/u);
  });

  it.each(
    named([
      ['9^9^9^9', /too large/],
      ['10^(10^9)', /too large/],
      ['1e9999 * 10', /^the result of \* is too large; the maximum is 1e9999$/],
      ['1e10000', /^a number is too large/],
      ['1e99999999999999999999', /^a number is too large/],
      ['exp(1e17)', /too large/],
      ['exp(exp(exp(exp(10))))', /too large/],
      ['500!!', /^a factorial takes/],
      ['(10^9)!', /^a factorial takes/],
      ['sin(1e9999)', /^an angle/],
      [`${'('.repeat(51)}1${')'.repeat(51)}`, /^parentheses are nested more than 50 levels deep$/],
      [`${'sqrt('.repeat(150)}1${')'.repeat(150)}`, /nested more than 50/],
      ['('.repeat(900), /nested more than 50/],
      ['1'.repeat(1_001), /^the expression has 1001 characters; the maximum is 1000$/],
      ['1+'.repeat(5_000_000), /^the expression has 10000000 characters/],
      ['1%('.repeat(300), /^unsupported character "%"/],
    ]),
  )('[R7] fails with an explanation: %s', async (_, expression, error) => {
    expect(await calculate(expression)).toMatchObject({ success: false, error: expect.stringMatching(error) });
  });

  it.each(
    named([
      ['1+'.repeat(499) + 1, '500'],
      ['1^'.repeat(499) + 1, '1'],
      [`${'-'.repeat(999)}1`, '-1'],
      [`1${'!'.repeat(999)}`, '1'],
      [`${'('.repeat(50)}1${')'.repeat(50)}`, '1'],
      [`0.${'3'.repeat(990)}`, `0.${'3'.repeat(32)}`],
      ['atan(1e9999) * 2 == pi', 'true'],
      [`atan(1.${'3'.repeat(980)}) > 0`, 'true'],
      [`sin(1.${'3'.repeat(980)}) > 0`, 'true'],
      ['1e-9999 / 10', '0'],
      ['1.0000001^(10^7)', '2.7182816925449662711985502257778'],
      [`500!${'-500!+500!'.repeat(98)}-500!`, '0'],
    ]),
  )('[R10] is evaluated if it is only long or extreme: %s', async (_, expression, output) => {
    expect(await calculate(expression)).toMatchObject({ success: true, output });
  });
});

/** Adds the start of each expression, for the test title. */
function named<Expected>(cases: [string, Expected][]): [string, string, Expected][] {
  return cases.map(([expression, expected]) => [expression.slice(0, 40), expression, expected]);
}
