import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { runExample } from '../support/run-example.ts';

/** Examples in other folders have tests of their own. */
const names = ['.', 'agents'].flatMap((folder) =>
  readdirSync(join('examples', folder)).flatMap((name) => (name.endsWith('.ts') ? [join(folder, name)] : [])),
);

describe('the examples that are one file', () => {
  it.each(names)('%s runs and prints what it says', (name) =>
    runExample(name, readFileSync(`examples/${name}`, 'utf8')),
  );
});
