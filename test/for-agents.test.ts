import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { machineTools } from '../src/cli/machines/tool-schemas.ts';

const skill = readFileSync('SKILL.md', 'utf8');
const index = readFileSync('llms.txt', 'utf8');

describe('the files for coding agents', () => {
  it('are in the package', () => {
    expect(manifest.files).toEqual(expect.arrayContaining(['SKILL.md', 'llms.txt']));
  });

  it('llms.txt lists every page of the documentation once, with one line, and nothing else', () => {
    const listed = [...index.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.*$/gmu)].map(([, path = '']) => path);
    const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
    expect(listed.toSorted()).toEqual(pages.map((name) => `docs/${name}`).toSorted());
    expect(existsSync('SKILL.md')).toBe(true);
  });

  it('SKILL.md has a name and a description, and names each tool', () => {
    expect(skill).toMatch(/^---\nname: [a-z-]+\ndescription: .{50,1000}\n---\n/u);
    const [, description = ''] = /^description: (.*)$/mu.exec(skill) ?? [];
    for (const name of Object.keys(machineTools)) expect(description).toContain(name);
  });

  it('SKILL.md passes arguments that its tool accepts', () => {
    const [, json = ''] = /```json\n([\s\S]*?)```/u.exec(skill) ?? [];
    expect(machineTools.check.input.safeParse(JSON.parse(json))).toMatchObject({ success: true });
  });

  it('docs/coding-agents.md describes each tool and property', () => {
    const page = readFileSync('docs/coding-agents.md', 'utf8');
    const { properties } = machineTools.check.input.shape;
    const names = properties.def.innerType.def.element.def.options.map(({ shape }) => shape.property.def.values[0]);
    expect(names.length).toBeGreaterThan(5);
    for (const name of [...Object.keys(machineTools), ...names])
      expect(page).toMatch(new RegExp(`^\\| \`${name}\``, 'mu'));
  });
});
