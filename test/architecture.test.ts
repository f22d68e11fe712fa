import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = 'docs/architecture.md';

/** Returns for each folder of `machines/` and `src/`, and for the inspector as a whole, the folders that it imports from, including type imports. */
const imports = importsBetweenFolders();

function importsBetweenFolders(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of sources()) {
    const from = folderOf(file);
    const targets = found.get(from) ?? new Set();
    found.set(from, targets);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\(?)\s*'(\.{1,2}\/[^']+)'/g)) {
      const target = join(dirname(file), path);
      const to = folderOf(target);
      if (/^(machines|src|inspector)\b/.test(to) && to !== from && existsSync(target)) targets.add(to);
    }
  }
  return new Map([...found].sort(([one], [other]) => one.localeCompare(other)));
}

function sources(): readonly string[] {
  return ['machines', 'src', 'inspector'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(root, name)),
  );
}

/** `src/engine` for every file below it; a file directly in `src/` or `machines/` represents itself. */
function folderOf(file: string): string {
  const [root = '', name = ''] = file.split('/');
  return root === 'inspector' ? root : `${root}/${name}`;
}

function reaches(from: string, to: string, seen = new Set<string>()): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(imports.get(from) ?? [])].some((next) => next === to || reaches(next, to, seen));
}

/** Returns the direct imports of a folder that it does not also have through another one. */
function ownImports(from: string): readonly string[] {
  const direct = [...(imports.get(from) ?? [])].sort();
  return direct.filter((to) => !direct.some((via) => via !== to && reaches(via, to) && !reaches(to, via)));
}

function picture(): string {
  const id = (folder: string): string => folder.replaceAll(/\W/g, '_');
  const group = (root: string): readonly string[] => [
    `  subgraph ${root}_folders ["${root}/"]`,
    ...[...imports.keys()]
      .filter((folder) => folder.startsWith(`${root}/`))
      .map((folder) => `    ${id(folder)}["${folder.slice(root.length + 1)}"]`),
    '  end',
  ];
  const arrows = [...imports.keys()].flatMap((from) => ownImports(from).map((to) => `  ${id(from)} --> ${id(to)}`));
  return ['flowchart TD', '  inspector["inspector/"]', ...group('src'), ...group('machines'), ...arrows, ''].join('\n');
}

describe(PAGE, () => {
  it('shows the folders with their actual imports (`npm run docs` regenerates it)', () => {
    const text = readFileSync(PAGE, 'utf8');
    const drawn = text.replace(
      /<!-- layers -->[\s\S]*?<!-- \/layers -->/,
      () => `<!-- layers -->\n\`\`\`mermaid\n${picture()}\`\`\`\n<!-- /layers -->`,
    );
    if (process.env['UPDATE_DOCS']) writeFileSync(PAGE, drawn);
    else expect(text).toBe(drawn);
  });
});

describe('source folders', () => {
  it('have no import cycles, not even of types', () => {
    const cyclic = [...imports.keys()].filter((folder) => reaches(folder, folder));
    expect(cyclic).toEqual([]);
  });
});

const PAGES = [
  PAGE,
  'AGENTS.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs/decisions').map((name) => `docs/decisions/${name}`),
];

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  it('names only files and folders that exist', () => {
    const named = [...text.matchAll(/`((?:src|machines|inspector|test|bench|docs|examples)\/[\w./-]*)`/g)];
    const missing = named.map(([, path = '']) => path).filter((path) => !existsSync(path));
    expect(missing).toEqual([]);
  });

  it('links only to files that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, path = '']) =>
      join(dirname(page), path),
    );
    expect(links.filter((path) => !existsSync(path))).toEqual([]);
  });
});
