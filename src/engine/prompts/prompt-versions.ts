import type { PromptVersion } from '../../../machines/contracts/journal-entry.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { hexDigest } from '../../../machines/text/hash.ts';
import { askOf, type Prompt } from './prompt.ts';
import { sampleInputs } from './sample-inputs.ts';

/** The prompts that a run was made with, by task: for its journal [E8]. */
export function promptVersions(prompts: Readonly<Record<Task, Prompt>>): Record<string, PromptVersion> {
  return Object.fromEntries(
    Object.entries(prompts).map(([task, prompt]) => {
      const { name, version } = prompt;
      return [task, { name, version, digest: promptDigest(prompt) }];
    }),
  );
}

const digests = new WeakMap<Prompt, string | null>();

/**
 * A short name for the words of a prompt, eight hexadecimal digits: it changes with them also where its version was forgotten. Templates
 * are functions, whose source differs from build to build, so it is made from what they say of the task's sample input and from
 * the reply's schema. Null for a prompt that cannot take the sample.
 */
export function promptDigest(prompt: Prompt): string | null {
  const known = digests.get(prompt);
  if (known !== undefined) return known;
  const made = digestOf(prompt);
  digests.set(prompt, made);
  return made;
}

function digestOf(prompt: Prompt): string | null {
  try {
    const { turns, shape } = askOf(prompt);
    const said = JSON.stringify([turns(sampleInputs[prompt.name]), shape.jsonSchema]);
    return hexDigest(said);
  } catch {
    return null;
  }
}
