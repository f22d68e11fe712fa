import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

describe('the package', () => {
  it('can be resolved by every module resolver', async () => {
    const { messages } = await publint({ pkgDir: '.', strict: true });
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it('requires Node 20.19 or newer, with xstate and the optional libraries as peers', () => {
    expect(manifest.engines.node).toBe('>=20.19');
    expect(manifest.peerDependencies).toEqual({
      '@hono/node-server': '^2.1.0',
      '@modelcontextprotocol/client': '^2.4.0',
      '@modelcontextprotocol/server': '^2.4.0',
      '@opentelemetry/api': '^1.9.0',
      '@restatedev/restate-sdk': '^1.17.2',
      croner: '^11.0.0',
      'fast-check': '^4.0.0',
      'gpt-tokenizer': '^4.0.0',
      hono: '^4.12.0',
      libsql: '^0.5.29',
      mammoth: '^1.13.0',
      openai: '^6.0.0 || ^7.0.0',
      pg: '^8.16.0',
      react: '>=18',
      unpdf: '^1.7.0',
      xstate: '^5.33.0',
    });
  });

  it('has no install script, because npm warns about those', () => {
    const names = Object.keys(manifest.scripts);
    expect(names.filter((name) => /^(?:(?:pre|post)?(?:install|prepare)|prepublish)$/u.test(name))).toEqual([]);
  });

  it('has only the expected top-level files', () => {
    const known = [
      '.ci',
      'AGENTS.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'SKILL.md',
      'api',
      'bench',
      'docs',
      'examples',
      'inspector',
      'llms.txt',
      'machines',
      'site',
      'src',
      'templates',
      'test',
      'vscode',
    ];
    const configured = [
      'biome.json',
      'knip.json',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'tsconfig.build.json',
      'vite.config.ts',
    ];
    const made = ['dist', 'node_modules', 'coverage'];
    const there = readdirSync('.').filter((name) => !name.startsWith('.git') && !made.includes(name));
    expect(there.filter((name) => !name.startsWith('.') && ![...known, ...configured].includes(name))).toEqual([]);
  });

  it('contains zod for Node, and converts and validates schemas of the copy that a program imports', () => {
    const program = `
      import { createStructuredOutput, definePrompt, createPostChain, prompts } from 'postchain';
      import { replies, scriptedModel } from 'postchain/testing';
      import * as z from 'zod';
      import * as mini from 'zod/mini';
      const model = scriptedModel({ output: [{ n: 0 }, { n: 2 }], intention: [{ ...replies.intention, mood: 'calm' }] });
      const schema = z.object({ n: z.int().min(1) });
      const value = await createStructuredOutput({ model, schema, prompt: 'How many?' }).value;
      const mood = mini.string().check(mini.describe('one word'));
      const intention = definePrompt({ ...prompts.intention, output: mini.extend(prompts.intention.output, { mood }) });
      await createPostChain({ model, profile: 'thorough', prompts: { intention } }).run({ request: 'Is it so?' }).answer;
      const { outputSchema } = model.calls.find(({ task }) => task === 'intention');
      console.log(JSON.stringify([value, outputSchema.properties.mood]));`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual([{ n: 2 }, { type: 'string', description: 'one word' }]);
    for (const file of ['index.js', ...readdirSync('dist/chunks').map((name) => `chunks/${name}`)])
      expect(readFileSync(`dist/${file}`, 'utf8'), file).not.toMatch(/from "zod/u);
  });

  it('reads neither the stores on disk nor unused parts of zod when Node imports the chain', () => {
    const names = readdirSync('dist/chunks').filter((name) => name.startsWith('index'));
    const read = names.map((name) => readFileSync(`dist/chunks/${name}`, 'utf8')).join('');
    expect(read).toMatch(/function createPostChain\(/u);
    expect(read).not.toMatch(/function create(?:File|Sqlite|Postgres)Journals\(|\$ZodKSUID|function toJSONSchema\(/u);
  });
});
