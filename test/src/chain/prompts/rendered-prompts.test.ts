import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROMPT_NAMES, type PromptName } from '../../../../machines/contracts/phase.ts';
import type { Prompt } from '../../../../src/chain/prompts/prompt.ts';
import { promptSpec } from '../../../../src/chain/prompts/prompt-spec.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { jsonAnswerPrompt } from '../../../../src/integrations/ai-sdk/json-answer.ts';
import { promptInputs } from '../../../support/prompt-inputs.ts';

type RenderedName = PromptName | 'json-answer';

/** Every prompt as it was rendered when its version was set, and the JSON schema of each reply. */
const FOLDER = 'test/src/chain/prompts/rendered';

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Each file contains the digest of its reply schema, so that changing a schema requires a new version of every prompt that uses it. */
function rendered(task: RenderedName): { readonly text: string; readonly schema: [file: string, text: string] | null } {
  if (task === 'json-answer') {
    const { version, system, user } = jsonAnswerPrompt;
    const question = user('Is it open?', 'It opens at nine.');
    return { text: `version ${version}\n\n[system]\n${system}\n\n[user]\n${question}\n`, schema: null };
  }
  const prompt: Prompt = prompts[task];
  const { turns, shape, schemaName } = promptSpec(prompt);
  const [system, user] = turns(promptInputs[task]).map(({ content }) => content);
  const schema = `${JSON.stringify(shape.jsonSchema, null, 2)}\n`;
  const reply = `${schemaName}.txt, SHA-1 ${createHash('sha1').update(schema).digest('hex')}`;
  return {
    text: `version ${prompt.version}\n\n[system]\n${system}\n\n[user]\n${user}\n\n[reply]\n${reply}\n`,
    schema: [`${FOLDER}/${schemaName}.txt`, schema],
  };
}

const versionIn = (text: string): number => Number(/^version (\d+)/.exec(text)?.[1] ?? 0);

describe('[E8] rendered prompts change only with their version', () => {
  it.each([...PROMPT_NAMES, 'json-answer'] as const)(
    '%s (to change it, raise its version and run with UPDATE_PROMPTS=1)',
    (task) => {
      const file = `${FOLDER}/${task}.txt`;
      const { text, schema } = rendered(task);
      if (process.env['UPDATE_PROMPTS'] && versionIn(text) > versionIn(textOf(file))) {
        writeFileSync(file, text);
        if (schema !== null) writeFileSync(...schema);
      }
      expect(text).toBe(textOf(file));
      if (schema !== null) expect(schema[1]).toBe(textOf(schema[0]));
    },
  );
});

it.each([
  [0, 'No capability can run any more.'],
  [3, 'To run more capabilities,'],
])('the continuation in words tells a model with %i runs left what it can do', (runsLeft, words) => {
  const { toolsInWords } = promptSpec(prompts.continuation as Prompt);
  expect(toolsInWords?.({ ...promptInputs.continuation, runsLeft })).toContain(words);
});
