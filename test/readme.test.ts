import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attemptMachine } from '../machines/attempt/attempt.machine.ts';
import { attemptPolicySchema } from '../machines/contracts/attempt.ts';
import { limitsSchema, thresholdsSchema } from '../machines/contracts/limits.ts';
import { chartOf } from '../src/durable/charts/chart.ts';
import { mermaid } from '../src/durable/charts/mermaid.ts';
import { runExample } from './support/run-example.ts';

/** The pages with a generated diagram of a machine. */
const pictures = [
  { page: 'docs/structured-output.md', mark: 'chart: attempt', picture: mermaid(chartOf(attemptMachine)) },
];
const pages = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const shown = readdirSync('examples', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:mts|tsx?)$/u.test(name))
  .map((name) => ({ name, code: readFileSync(`examples/${name}`, 'utf8') }));
/** The examples of the README. All others have tests in test/examples. */
const examples = shown.filter(({ code }) => readFileSync('README.md', 'utf8').includes(code));

/** The text of a page outside its code blocks. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): readonly string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const numberIn = (text: string): number => Number(text.replaceAll(',', ''));

/** The rows of tables that begin with names of options, and the numbers in a column. */
function defaultsIn(page: string, column: number) {
  return [...proseOf(page).matchAll(/^\| (`.+)\|$/gm)].flatMap(([, row = '']) => {
    const cells = row.split(' | ');
    const values = (cells[column] ?? '').trim().split(', ');
    return [...(cells[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name = ''], at) => {
      return { where: page, name, value: numberIn(values[at] ?? '') };
    });
  });
}

function docstringDefaults(file: string) {
  const members = readFileSync(file, 'utf8').matchAll(/[Dd]efault ([\d,]+)[^*]*\*\/\s*readonly (\w+)\?/g);
  return [...members].map(([, value = '', name = '']) => ({ where: file, name, value: numberIn(value) }));
}

describe('the documentation', () => {
  it.each(pictures)('$page shows the current chart (`npm run docs` redraws it)', ({ page, mark, picture }) => {
    const text = readFileSync(page, 'utf8');
    const place = new RegExp(`<!-- ${mark} -->[\\s\\S]*?<!-- /chart -->`);
    const drawn = text.replace(place, () => `<!-- ${mark} -->\n\`\`\`mermaid\n${picture}\`\`\`\n<!-- /chart -->`);
    if (process.env['UPDATE_DOCS']) writeFileSync(page, drawn);
    else expect(text).toBe(drawn);
  });

  it('contains code that is an exact copy of an example', () => {
    const blocks = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/```tsx?\n([\s\S]*?)```/g)].map((match) => ({
        page,
        code: match[1] ?? '',
      })),
    );
    expect(blocks.length).toBeGreaterThanOrEqual(3);
    for (const { page, code } of blocks)
      expect(
        shown.some((example) => example.code === code),
        `${page}: ${code}`,
      ).toBe(true);
  });

  it('states the defaults of limits and thresholds', () => {
    const known = { ...limitsSchema.parse({}), ...thresholdsSchema.parse({}) };
    const attempts = attemptPolicySchema.parse({});
    const stated = [
      ...defaultsIn('docs/limits.md', 1).map((row) => ({ ...row, actual: known })),
      ...defaultsIn('docs/structured-output.md', 2).map((row) => ({ ...row, actual: attempts })),
      ...docstringDefaults('src/llm/attempts/attempt-options.ts').map((row) => ({ ...row, actual: attempts })),
    ].filter(({ name, value, actual }) => Object.hasOwn(actual, name) && Number.isFinite(value));
    expect(stated.length).toBeGreaterThanOrEqual(Object.values(known).filter(Number.isFinite).length + 10);
    for (const { where, name, value, actual } of stated)
      expect(`${where}: ${name} ${value}`).toBe(`${where}: ${name} ${actual[name as keyof typeof actual]}`);
  });

  it('links only to files and headings that exist', () => {
    const links = pages.flatMap((page) =>
      [...proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, path = '', anchor]) => ({
        page,
        target: path === '' ? page : join(dirname(page), path),
        anchor,
      })),
    );
    expect(links.length).toBeGreaterThan(0);
    for (const { page, target, anchor } of links) {
      expect(existsSync(target), `${page} links to ${target}`).toBe(true);
      if (anchor !== undefined && target.endsWith('.md'))
        expect(anchorsOf(target), `${page} links to ${target}#${anchor}`).toContain(anchor);
    }
  });

  it('links every page from docs/README.md, and docs/README.md from the README', () => {
    expect(proseOf('README.md')).toContain('](docs/README.md)');
    const linked = [...proseOf('docs/README.md').matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, path = '']) =>
      join('docs', path),
    );
    expect(linked).toEqual(
      expect.arrayContaining(pages.filter((page) => page !== 'README.md' && page !== 'docs/README.md')),
    );
  });

  it('shows pictures that exist', () => {
    const pictured = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/(?:!\[[^\]]*\]\(|(?:src|srcset)=")([^)"]+\.png)/g)].map(
        ([, path = '']) => join(dirname(page), path),
      ),
    );
    expect(pictured.length).toBeGreaterThan(0);
    for (const path of pictured) expect(existsSync(path), path).toBe(true);
  });
});

describe('the examples of the README', () => {
  it.each(examples)('$name runs and prints what it says', ({ name, code }) => runExample(name, code));
});
