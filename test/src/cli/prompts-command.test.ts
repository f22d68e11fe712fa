import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROMPT_NAMES } from '../../../machines/contracts/phase.ts';
import { prompts } from '../../../src/chain/prompts/registry.ts';
import { promptsCommand } from '../../../src/cli/prompts-command.ts';
import { cli } from '../../support/cli.ts';
import { fakeTerminal } from '../../support/terminal.ts';

describe('postchain prompts', () => {
  it('[E8] lists every prompt: name, version, purpose, input and output fields', async () => {
    const { code, stdout } = await cli('prompts');
    expect(code).toBe(0);
    for (const task of PROMPT_NAMES)
      expect(stdout).toMatch(new RegExp(`${task} v${prompts[task].version}\\n  [A-Z].*\\.\\n  input   `, 'u'));
    expect(stdout).toContain('  input   request, texts\n  output  summaries\n');
    expect(stdout).not.toContain('\u001b');
  });

  it.each(PROMPT_NAMES)('[E8] %s: prints one prompt with the reply schema', (task) => {
    const text = promptsCommand(task, {}, fakeTerminal().terminal.out);
    expect(stripVTControlCharacters(text)).toMatch(/\n {2}[A-Z][^\n]+\.\n/u);
    expect(JSON.parse(text.slice(text.indexOf('\n{\n')))).toMatchObject({ type: 'object' });
  });

  it('--json prints the same as data', () => {
    const all = JSON.parse(promptsCommand(undefined, { json: true }));
    expect(all.map(({ name }: { name: string }) => name)).toEqual([...PROMPT_NAMES]);
    const { replySchema, ...summary } = JSON.parse(promptsCommand('summary', { json: true }));
    expect(summary).toMatchObject({
      version: prompts.summary.version,
      input: ['request', 'texts'],
      output: ['summaries'],
    });
    expect(replySchema).toMatchObject({ required: ['summaries'] });
    expect(all).toContainEqual(summary);
  });

  it('wraps and aligns long lists at the width of the terminal', () => {
    const shown = promptsCommand(undefined, {}, fakeTerminal(60).terminal.out);
    const lines = stripVTControlCharacters(shown).split('\n');
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^ {10}\w/));
  });
});
