import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FOLDER = 'examples/agents';
const names = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));

describe('the gallery of agents', () => {
  it.each(names)('%s has at most 60 lines, a test and a recorded run', (file) => {
    const name = file.replace(/\.ts$/u, '');
    expect(readFileSync(`${FOLDER}/${file}`, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(60);
    expect(readdirSync(`${FOLDER}/recorded`)).toContain(`${name}.jsonl`);
    expect(readdirSync('test/examples/agents')).toContain(`${name}.full.test.ts`);
  });
});
