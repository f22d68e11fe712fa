import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { actionMachine } from '../machines/action/action.machine.ts';
import { attemptMachine } from '../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../machines/chain/chain.machine.ts';
import { chartOf } from '../src/diagram/chart.ts';
import { mermaid } from '../src/diagram/mermaid.ts';

const readme = readFileSync('README.md', 'utf8');

/** The pages with a picture of a machine in them, and how it is drawn. */
const pictures = [
  { page: 'README.md', mark: 'chart', picture: mermaid(chartOf(chainMachine), { depth: 2 }) },
  { page: 'docs/structured-output.md', mark: 'chart: attempt', picture: mermaid(chartOf(attemptMachine)) },
  { page: 'docs/capability-loop.md', mark: 'chart: action', picture: mermaid(chartOf(actionMachine)) },
];
const pages = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const shown = readdirSync('examples', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, code: readFileSync(`examples/${name}`, 'utf8') }));
/** The examples of one file; those of more, in folders, have tests of their own in test/examples. */
const examples = shown.filter(({ name }) => !name.includes('/'));

describe('the documentation', () => {
  it.each(pictures)('$page shows the chart that runs (`npm run docs` draws it anew)', ({ page, mark, picture }) => {
    const text = readFileSync(page, 'utf8');
    const place = new RegExp(`<!-- ${mark} -->[\\s\\S]*?<!-- /chart -->`);
    const drawn = text.replace(place, () => `<!-- ${mark} -->\n\`\`\`mermaid\n${picture}\`\`\`\n<!-- /chart -->`);
    if (process.env['UPDATE_DOCS']) writeFileSync(page, drawn);
    else expect(text).toBe(drawn);
  });

  it('shows code that is one of the examples, to the letter', () => {
    const blocks = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => ({
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

  it('links to pages that exist', () => {
    const linked = [...readme.matchAll(/\]\((docs\/[^)]+\.md)\)/g)].map((match) => match[1] ?? '');
    expect(pages).toEqual(expect.arrayContaining(linked));
    expect(new Set(linked).size).toBe(pages.length - 1);
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

describe('the examples', () => {
  it.each(examples)('$name runs and prints something', async ({ name }) => {
    const print = vi.spyOn(console, 'log').mockImplementation(() => {});
    const before = process.listeners('SIGINT');
    await import(`../examples/${name.slice(0, -'.ts'.length)}.ts`);
    const printed = print.mock.calls.length;
    print.mockRestore();
    // One that stays open until Ctrl-C ends here.
    for (const end of process.listeners('SIGINT')) if (!before.includes(end)) end('SIGINT');
    expect(printed).toBeGreaterThan(0);
  });
});
