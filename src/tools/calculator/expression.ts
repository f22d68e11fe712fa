import { quoted } from '../quoted.ts';

const MAX_CHARS = 1_000;
/** The parser goes into parentheses by recursion. */
const MAX_NESTING = 50;

/** What people and models write for what the parser reads. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\*\*/gu, '^'],
  [/[×·⋅]/gu, '*'],
  [/÷/gu, '/'],
  [/[−–]/gu, '-'],
  [/π/gu, 'pi'],
  [/\s+/gu, ' '],
];

/**
 * An expression as the parser takes it: bounded in length and depth, and with no character in it that arithmetic does without, so
 * that most of what the parser knows cannot be said.
 */
export function readable(given: string): string {
  if (given.length > MAX_CHARS)
    throw new Error(`the expression has ${given.length} characters; at most ${MAX_CHARS} are read`);
  const expression = SPELLINGS.reduce((text, [written, read]) => text.replaceAll(written, read), given).trim();
  if (expression === '') throw new Error('the expression is empty');
  const [foreign] = expression.match(/[^\w .+\-*/^(),!<>=]/u) ?? [];
  if (foreign !== undefined) throw new Error(foreignText(foreign));
  if (hasGroupedDigits(expression))
    throw new Error('a comma stands within a number; write 1234 for 1,234, and ", " between two numbers');
  if (nestingOf(expression) > MAX_NESTING) throw new Error(`parentheses are nested in more than ${MAX_NESTING} levels`);
  return expression;
}

function foreignText(character: string): string {
  return character === '%'
    ? 'the character "%" is not known here; write / 100 for percent, and mod(a, b) for a remainder'
    : `the character ${quoted(character)} is not known here; numbers, + - * / ^ ! ( ) and functions are`;
}

/** Whether commas may stand for thousands, so that 1,000 would be read as two numbers. */
function hasGroupedDigits(expression: string): boolean {
  const grouped = /\d,\d{3}(?!\d)/u.test(expression);
  return grouped && (/\d,0\d\d/u.test(expression) || /, /u.test(expression) || !expression.includes('('));
}

function nestingOf(expression: string): number {
  let [open, deepest] = [0, 0];
  for (const character of expression) {
    open += character === '(' ? 1 : character === ')' ? -1 : 0;
    deepest = Math.max(deepest, open);
  }
  return deepest;
}
