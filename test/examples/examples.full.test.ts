import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { runExample } from '../support/run-example.ts';

/** Examples in folders have tests of their own. */
const names = readdirSync('examples').filter((name) => name.endsWith('.ts'));

describe('the examples that are one file', () => {
  it.each(names)('%s runs and prints what it says', (name) =>
    runExample(name, readFileSync(`examples/${name}`, 'utf8')),
  );
});
