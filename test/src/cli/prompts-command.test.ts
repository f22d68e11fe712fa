import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROMPT_NAMES } from '../../../machines/contracts/phase.ts';
import { promptDigest } from '../../../src/chain/prompts/describe-prompt.ts';
import type { Prompt } from '../../../src/chain/prompts/prompt.ts';
import { prompts } from '../../../src/chain/prompts/registry.ts';
import { sampleInputs } from '../../../src/chain/prompts/sample-inputs.ts';
import { promptsCommand } from '../../../src/cli/prompts-command.ts';
import { cli } from '../../support/cli.ts';
import { fakeTerminal } from '../../support/terminal.ts';

describe('postchain prompts', () => {
  it('[E8] lists every prompt: name, version, purpose, input and output fields', async () => {
    const { code, stdout } = await cli('prompts');
    expect(code).toBe(0);
    for (const task of PROMPT_NAMES)
      expect(stdout).toContain(`${task} v${prompts[task].version}\n  ${prompts[task].purpose}\n  input   `);
    expect(stdout).toContain('  input   request, texts\n  output  summaries\n');
    expect(stdout).not.toContain('\u001b');
  });

  it.each(PROMPT_NAMES)('[E8] %s: prints both rendered templates and the reply schema', (task) => {
    const { system, user } = prompts[task] as Prompt<unknown>;
    const text = promptsCommand(task, {}, fakeTerminal().terminal.out);
    expect(text).toContain(`\n${system(sampleInputs[task])}\n`);
    expect(text).toContain(`\n${user(sampleInputs[task])}\n`);
    expect(JSON.parse(text.slice(text.indexOf('\n{\n')))).toMatchObject({ type: 'object' });
  });

  it('--json prints the same as data', async () => {
    const all = JSON.parse((await cli('prompts', '--json')).stdout);
    expect(all.map(({ name }: { name: string }) => name)).toEqual([...PROMPT_NAMES]);
    const one = JSON.parse(promptsCommand('summary', { json: true }));
    expect(one).toMatchObject({
      name: 'summary',
      version: prompts.summary.version,
      digest: promptDigest(prompts.summary),
      input: ['request', 'texts'],
      output: ['summaries'],
      sampleInput: sampleInputs.summary,
      replySchema: { required: ['summaries'] },
    });
    expect(all).toContainEqual(
      Object.fromEntries(Object.entries(one).filter(([key]) => Object.keys(all[0]).includes(key))),
    );
  });

  it('wraps and aligns long lists at the width of the terminal', () => {
    const shown = promptsCommand(undefined, {}, fakeTerminal(60).terminal.out);
    const lines = stripVTControlCharacters(shown).split('\n');
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(lines).toContain('          convergenceAssessment, executionPasses,');
  });

  it.each(['lunch', 'constructor', 'a\u001b[31m\nb'])(
    'rejects the unknown prompt %j with the known names',
    async (name) => {
      const { code, stdout, stderr } = await cli('prompts', name);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^postchain: Unknown prompt ".*"; expected action, .*, grading\n$/);
      expect(stderr).not.toContain('\u001b');
    },
  );
});
