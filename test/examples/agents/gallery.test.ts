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

  it.each(names)('docs/agent-patterns.md lists exactly the states of %s', (file) => {
    const page = readFileSync('docs/agent-patterns.md', 'utf8').split(/^## /mu);
    const section = page.find((text) => text.includes(`(../${FOLDER}/${file})`)) ?? '';
    const [, drawn = ''] = /```text\n([\s\S]*?)```/u.exec(section) ?? [];
    const states = [...readFileSync(`${FOLDER}/${file}`, 'utf8').matchAll(/^ {4}(\w+): \{\s+description: /gmu)];
    expect([...new Set(drawn.match(/\w+/gu))].sort()).toEqual(states.map(([, state]) => state).sort());
  });
});
