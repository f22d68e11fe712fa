import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { runExample } from '../support/run-example.ts';

it('the example of PostgreSQL runs and prints what it says', () =>
  runExample('stores.ts', readFileSync('examples/stores.ts', 'utf8')));
