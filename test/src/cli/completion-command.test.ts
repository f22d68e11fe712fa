import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { completionScript } from '../../../src/cli/completion-command.ts';
import { createProgram } from '../../../src/cli/program.ts';

const program = createProgram(() => {});

/** What bash offers for the last of these words. */
function offered(...words: readonly string[]): readonly string[] {
  const script = `${completionScript(program, 'bash')}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _postchain; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['-c', script, 'bash', 'postchain', ...words], { encoding: 'utf8' });
  return text.split('\n').filter((line) => line !== '');
}

describe('postchain completion', () => {
  it('completes commands, options, and the values of options and arguments with choices in bash', () => {
    expect(offered('re')).toEqual(['replay', 'resume', 'repair']);
    expect(offered('run', '--fallb')).toEqual(['--fallback-model']);
    expect(offered('run', '--profile', '')).toEqual(['thorough', 'balanced', 'lean']);
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(offered('show', 'la')).toEqual([]);
  });

  it('has every command for each shell', () => {
    for (const shell of ['bash', 'zsh', 'fish'] as const)
      for (const command of program.commands) expect(completionScript(program, shell)).toContain(command.name());
  });

  it('quotes descriptions for fish', () => {
    const lines = completionScript(program, 'fish').trim().split('\n');
    for (const line of lines) expect(line).toMatch(/^complete -c postchain (?:[^'\\]|'(?:[^'\\]|\\['\\])*')+$/u);
  });
});
