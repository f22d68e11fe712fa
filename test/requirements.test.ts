import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const PAGE = 'docs/requirements.md';
const OPEN = '**Not yet met:**';
const IDS = /\s*\[([CUYREA]\d+(?:, [CUYREA]\d+)*)\]/g;
/** An entry with fewer words does not say what its test proves. */
const MIN_WORDS = 4;

const page = readFileSync(PAGE, 'utf8');

/** The two-column table rows of the page that begin with an id. */
const rows = [...page.matchAll(/^\| ([A-Z]\d+) \| ([^|]+) \|$/gm)].map(([, id = '', requirement = '']) => ({
  id,
  isOpen: requirement.includes(OPEN),
}));
const ids = rows.map(({ id }) => id);

/** The list items of the page that begin with an id, each with the lines below it. */
const listed = [...page.matchAll(/^- \*\*([A-Z]\d+)\*\*\n((?: {2}- .*\n)*)/gm)].map(([, id = '', lines = '']) => ({
  id,
  lines: lines.split('\n').filter((line) => line !== ''),
}));

interface NamedTest {
  /** The titles of the describe blocks and of the test, joined as in the output of Vitest, without ids. */
  readonly title: string;
  readonly ids: readonly string[];
}

const idsIn = (text: string): readonly string[] => [...text.matchAll(IDS)].flatMap(([, list = '']) => list.split(', '));

/** Returns the tests of a file whose titles are plain strings. The ids of a test may be in its table of cases. */
function testsIn(file: string): readonly NamedTest[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: NamedTest[] = [];
  const visit = (node: ts.Node, outer: readonly string[]): void => {
    const call = readCall(node);
    const titles = call === null ? outer : [...outer, call.title];
    if (call !== null && call.kind !== 'describe')
      found.push({
        title: titles.map((title) => title.replace(IDS, '').trim()).join(' > '),
        ids: idsIn([...titles, call.cases].join(' ')),
      });
    ts.forEachChild(node, (child) => visit(child, titles));
  };
  visit(source, []);
  return found;
}

/** Returns the title of `describe`, `it` or `test`, in any form such as `it.each(cases)`, or null for any other node. */
function readCall(node: ts.Node): { readonly kind: string; readonly title: string; readonly cases: string } | null {
  if (!ts.isCallExpression(node)) return null;
  const [title, body] = node.arguments;
  if (title === undefined || body === undefined || !ts.isStringLiteralLike(title)) return null;
  let callee: ts.Expression = node.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression;
  const kind = ts.isIdentifier(callee) ? callee.text : '';
  return ['describe', 'it', 'test'].includes(kind)
    ? { kind, title: title.text, cases: node.expression.getText() }
    : null;
}

const testsOf = new Map<string, readonly NamedTest[]>();

/** Returns what is wrong with one line below an id: `file`: title. */
function problemOf(id: string, line: string): string | null {
  const [, path = '', title = ''] = /^ {2}- `([^`]+)`: (.*)$/.exec(line) ?? [];
  const file = join('test', path);
  if (path === '') return `${line}: expected "  - \`file\`: title of the test"`;
  if (!existsSync(file)) return `${file}: no such file`;
  const words = title.replace(/%\w+|%#|\$\w+|\[[^\]]*\]/g, '').match(/\p{L}[\p{L}’'-]+/gu) ?? [];
  if (words.length < MIN_WORDS) return `${file}: "${title}" does not say what the test proves`;
  if (!testsOf.has(file)) testsOf.set(file, testsIn(file));
  const same = testsOf.get(file)?.filter((test) => test.title === title) ?? [];
  if (same.length === 0) return `${file}: no test with the title "${title}"`;
  return same.some((test) => test.ids.includes(id)) ? null : `${file}: "${title}" does not name [${id}]`;
}

describe(PAGE, () => {
  it('lists the requirements of each area in order, without gaps or repeated ids', () => {
    const areas = [...new Set(ids.map((id) => id.slice(0, 1)))];
    expect(areas).toEqual(['C', 'U', 'Y', 'R', 'E', 'A']);
    for (const area of areas) {
      const own = ids.filter((id) => id.startsWith(area));
      expect(own).toEqual(own.map((_, at) => `${area}${at + 1}`));
    }
  });

  it.each(rows)('lists tests for $id that exist, name it, and say what they prove', ({ id, isOpen }) => {
    const lines = listed.filter((one) => one.id === id).flatMap((one) => one.lines);
    expect(lines.map((line) => problemOf(id, line)).filter((problem) => problem !== null)).toEqual([]);
    if (!isOpen) expect(lines, `no tests below "- **${id}**": list them, or mark the row "${OPEN}"`).not.toEqual([]);
  });

  it('lists tests in the order of the rows, once per row', () => {
    expect(listed.map(({ id }) => id)).toEqual(ids.filter((id) => listed.some((one) => one.id === id)));
  });

  it('defines every id that a test names', () => {
    const named = readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') && file !== 'requirements.test.ts')
      .flatMap((file) => idsIn(readFileSync(join('test', file), 'utf8')).map((id) => ({ id, file })));
    const unknown = named.filter(({ id }) => !ids.includes(id)).map(({ id, file }) => `[${id}] in test/${file}`);
    expect(unknown).toEqual([]);
  });
});
