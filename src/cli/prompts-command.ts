import wrapAnsi from 'wrap-ansi';
import { PostChainError } from '../../machines/contracts/error.ts';
import {
  describePrompt,
  type PromptDescription,
  type PromptSummary,
  summarizePrompt,
} from '../chain/prompts/describe-prompt.ts';
import type { Prompt } from '../chain/prompts/prompt.ts';
import { prompts } from '../chain/prompts/registry.ts';
import { oneLine, printable, printableJson } from '../internal/printable.ts';
import { type Colors, colorsFor } from './screen.ts';

export interface PromptsFlags {
  readonly json?: boolean;
}

const MAX_COLUMNS = 120;

/** `postchain prompts`: returns a list of the prompts, or one prompt in full. */
export function promptsCommand(
  name: string | undefined,
  { json }: PromptsFlags,
  stdout: NodeJS.WriteStream = process.stdout,
): string {
  const all = Object.values<Prompt>(prompts);
  const shown = name === undefined ? all.map(summarizePrompt) : describePrompt(promptNamed(name, all));
  if (json) return `${printableJson(JSON.stringify(shown, null, 2))}\n`;
  const colors = colorsFor(stdout);
  const columns = stdout.isTTY ? Math.min(Math.max(40, stdout.columns || 80), MAX_COLUMNS) : Infinity;
  return 'system' in shown ? fullText(shown, colors) : shown.map((one) => summaryText(one, colors, columns)).join('\n');
}

function promptNamed(name: string, all: readonly Prompt[]): Prompt {
  const found = all.find((prompt) => prompt.name === name);
  if (found !== undefined) return found;
  const names = all.map((prompt) => prompt.name).join(', ');
  throw new PostChainError('invalid_option', `Unknown prompt "${oneLine(name)}"; expected ${names}`);
}

function summaryText({ name, version, purpose, input, output }: PromptSummary, { bold, dim }: Colors, columns: number) {
  const row = (label: string, text: string): string => {
    const wrapped = Number.isFinite(columns) ? wrapAnsi(text, columns - label.length) : text;
    return `${dim(label)}${wrapped.replace(/\n/g, `\n${' '.repeat(label.length)}`)}\n`;
  };
  const fields = row('  input   ', input.join(', ')) + row('  output  ', output.join(', '));
  return `${bold(name)} ${dim(`v${version}`)}\n${row('  ', purpose)}${fields}`;
}

function fullText(prompt: PromptDescription, { bold, dim }: Colors): string {
  const { name, version, digest, purpose, system, user, replySchema } = prompt;
  return [
    `${bold(name)} ${dim(`v${version} · ${digest}`)}\n${purpose}`,
    `${bold('System')}\n${printable(system)}`,
    `${bold('User')} ${dim('(rendered for a sample input)')}\n${printable(user)}`,
    `${bold('Reply')} ${dim('(JSON Schema)')}\n${printableJson(JSON.stringify(replySchema, null, 2))}\n`,
  ].join('\n\n');
}
