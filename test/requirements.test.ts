import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = 'test/requirements.md';
const OPEN = '**Not yet met:**';
const IDS = /\[([CUYREADQSG]\d+(?:, [CUYREADQSG]\d+)*)\]/g;

/** The two-column table rows of the page that begin with an id. */
const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| ([A-Z]\d+) \| ([^|]+) \|$/gm)].map(
  ([, id = '', requirement = '']) => ({ id, isOpen: requirement.includes(OPEN) }),
);
const ids = rows.map(({ id }) => id);

/** The ids that the titles of tests name, with one file each. */
const named = new Map(
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && file !== 'requirements.test.ts')
    .flatMap((file) =>
      [...readFileSync(join('test', file), 'utf8').matchAll(IDS)].flatMap(([, list = '']) =>
        list.split(', ').map((id): [string, string] => [id, file]),
      ),
    ),
);

describe(PAGE, () => {
  it('lists the requirements of each area in order, without gaps or repeated ids', () => {
    const areas = [...new Set(ids.map((id) => id.slice(0, 1)))];
    expect(areas).toEqual(['C', 'U', 'Y', 'R', 'E', 'A', 'D', 'Q', 'S', 'G']);
    for (const area of areas) {
      const own = ids.filter((id) => id.startsWith(area));
      expect(own).toEqual(own.map((_, at) => `${area}${at + 1}`));
    }
  });

  it.each(rows)('has a test whose title names [$id]', ({ id, isOpen }) => {
    if (!isOpen)
      expect(named.has(id), `no test names [${id}]: name it in a title, or mark the row "${OPEN}"`).toBe(true);
  });

  it('defines every id that a test names', () => {
    expect([...named].filter(([id]) => !ids.includes(id))).toEqual([]);
  });
});
