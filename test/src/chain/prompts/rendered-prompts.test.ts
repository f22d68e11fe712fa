import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROMPT_NAMES, type PromptName } from '../../../../machines/contracts/phase.ts';
import type { Prompt } from '../../../../src/chain/prompts/prompt.ts';
import { promptSpec } from '../../../../src/chain/prompts/prompt-spec.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { jsonAnswerPrompt } from '../../../../src/integrations/ai-sdk/json-answer.ts';
import { promptInputs } from '../../../support/prompt-inputs.ts';

type RenderedName = PromptName | 'json-answer';

/** Every prompt as it was rendered when its version was set. */
const fileOf = (task: RenderedName): string => `test/src/chain/prompts/rendered/${task}.txt`;

function rendered(task: RenderedName): string {
  if (task === 'json-answer') {
    const { version, system, user } = jsonAnswerPrompt;
    return `version ${version}\n\n[system]\n${system}\n\n[user]\n${user('Is it open?', 'It opens at nine.')}\n`;
  }
  const prompt: Prompt = prompts[task];
  const { turns, shape } = promptSpec(prompt);
  const [system, user] = turns(promptInputs[task]).map(({ content }) => content);
  const reply = JSON.stringify(shape.jsonSchema, null, 2);
  return `version ${prompt.version}\n\n[system]\n${system}\n\n[user]\n${user}\n\n[reply]\n${reply}\n`;
}

const versionIn = (text: string): number => Number(/^version (\d+)/.exec(text)?.[1] ?? 0);

describe('[E8] rendered prompts change only with their version', () => {
  it.each([...PROMPT_NAMES, 'json-answer'] as const)(
    '%s (to change it, raise its version and run with UPDATE_PROMPTS=1)',
    (task) => {
      const kept = existsSync(fileOf(task)) ? readFileSync(fileOf(task), 'utf8') : '';
      const now = rendered(task);
      if (process.env['UPDATE_PROMPTS'] && versionIn(now) > versionIn(kept)) writeFileSync(fileOf(task), now);
      else expect(now).toBe(kept);
    },
  );
});
