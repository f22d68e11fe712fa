import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The most lines, exported functions, constants and classes, and floors (files on the longest chain of imports) of each folder. Raising a
 * number needs its reason in the commit; lower it when a folder shrinks.
 */
const BUDGET: Readonly<Record<string, Size>> = {
  machines: { lines: 15930, exported: 552, floors: 18 },
  'machines/policies': { lines: 7760, exported: 337, floors: 7 },
  'src/agents': { lines: 1620, exported: 21, floors: 4 },
  'src/chain': { lines: 6560, exported: 133, floors: 9 },
  'src/cli': { lines: 6775, exported: 141, floors: 13 },
  'src/documents': { lines: 4190, exported: 62, floors: 9 },
  'src/durable': { lines: 15210, exported: 259, floors: 15 },
  'src/entries': { lines: 595, exported: 3, floors: 1 },
  'src/inspection': { lines: 5300, exported: 78, floors: 13 },
  'src/integrations': { lines: 4010, exported: 43, floors: 6 },
  'src/internal': { lines: 2330, exported: 101, floors: 4 },
  'src/llm': { lines: 4840, exported: 83, floors: 10 },
  'src/models': { lines: 4345, exported: 74, floors: 5 },
  'src/testing': { lines: 7300, exported: 150, floors: 9 },
  'src/react': { lines: 510, exported: 10, floors: 3 },
  'src/server': { lines: 6470, exported: 110, floors: 11 },
  'src/xstate': { lines: 1720, exported: 56, floors: 4 },
  'src/tools': { lines: 1940, exported: 29, floors: 7 },
  inspector: { lines: 18800, exported: 446, floors: 16 },
  'vscode/src': { lines: 510, exported: 8, floors: 2 },
  test: { lines: 92580, exported: 407, floors: 7 },
};

/** How far a folder may be below its budget before the budget must be lowered. */
const SLACK = 0.03;

interface Size {
  readonly lines: number;
  readonly exported: number;
  readonly floors: number;
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/u.test(name))
    .map((name) => join(folder, name));
}

function sizeOf(folder: string): Size {
  const files = new Map(filesIn(folder).map((file) => [file, readFileSync(file, 'utf8')]));
  const texts = [...files.values()];
  return {
    lines: texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0),
    exported: texts.reduce((sum, text) => sum + exportedIn(text), 0),
    floors: Math.max(...floorsOf(files).values()),
  };
}

const exportedIn = (text: string): number =>
  [...text.matchAll(/^export (?:async )?(?:function|const|class|abstract class)\b/gmu)].length;

/** How many files are on the longest chain of imports that starts at each file, within the folder. */
function floorsOf(files: ReadonlyMap<string, string>): ReadonlyMap<string, number> {
  const floors = new Map<string, number>();
  const floorOf = (file: string): number => {
    const known = floors.get(file);
    if (known !== undefined) return known;
    const imported = [...(files.get(file) ?? '').matchAll(/(?:from|import\(?)\s*'(\.{1,2}\/[^']+)'/gu)]
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => files.has(path));
    const floor = 1 + Math.max(0, ...imported.map(floorOf));
    floors.set(file, floor);
    return floor;
  };
  for (const file of files.keys()) floorOf(file);
  return floors;
}

describe('the size of', () => {
  it.each(Object.entries(BUDGET))('%s is within its budget, and the budget close to it', (folder, budget) => {
    expect(existsSync(folder)).toBe(true);
    const size = sizeOf(folder);
    for (const kind of ['lines', 'exported', 'floors'] as const)
      expect(size[kind], `${kind} of ${folder}`).toBeLessThanOrEqual(budget[kind]);
    expect(size.lines, `lines of ${folder}: lower the budget`).toBeGreaterThanOrEqual(budget.lines * (1 - SLACK));
  });

  it('all folders is in the budget', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const missing = folders.map(({ name }) => `src/${name}`).filter((folder) => BUDGET[folder] === undefined);
    expect(missing).toEqual([]);
  });
});
