import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = 'docs/requirements.md';
const OPEN = '**Not yet met:**';

/** The two-column table rows of the page that begin with an id. */
const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| ([A-Z]\d+) \| ([^|]+) \|$/gm)].map(
  ([, id = '', requirement = '']) => ({ id, isOpen: requirement.includes(OPEN) }),
);
const ids = rows.map(({ id }) => id);

/** Every id in brackets in a test file, with one file that names it: `[U8]`, or `[R2, R5]`. */
const named = new Map(
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && file !== 'requirements.test.ts')
    .flatMap((file) =>
      [...readFileSync(join('test', file), 'utf8').matchAll(/\[([CUYREA]\d+(?:, [CUYREA]\d+)*)\]/g)].flatMap(
        ([, list = '']) => list.split(', ').map((id) => [id, file] as const),
      ),
    ),
);

describe(PAGE, () => {
  it('lists the requirements of each area in order, without gaps or repeated ids', () => {
    const areas = [...new Set(ids.map((id) => id.slice(0, 1)))];
    expect(areas).toEqual(['C', 'U', 'Y', 'R', 'E', 'A']);
    for (const area of areas) {
      const own = ids.filter((id) => id.startsWith(area));
      expect(own).toEqual(own.map((_, at) => `${area}${at + 1}`));
    }
  });

  it.each(rows.filter(({ isOpen }) => !isOpen))('$id is named by at least one test', ({ id }) => {
    expect(named.has(id), `no test title names [${id}]: add a test, or mark the row "${OPEN}"`).toBe(true);
  });

  it('defines every id that a test names', () => {
    const unknown = [...named].filter(([id]) => !ids.includes(id)).map(([id, file]) => `[${id}] in test/${file}`);
    expect(unknown).toEqual([]);
  });
});
