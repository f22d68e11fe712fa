import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { attachmentLabel } from '../../../machines/policies/message-parts.ts';
import { wholePrompts } from '../journal/recorded-prompts.ts';
import { createChainActors } from './actors.ts';
import { type PostChainOptions, resolveOptions } from './options.ts';
import type { RunObserver } from './run-events.ts';
import { createChainInput, type RunOptions } from './run-options.ts';

/**
 * Returns the input of the chain machine, validated and with every default, for code that starts the machine itself.
 * Throws `invalid_request` or `invalid_option`. Files are rejected: a run stores their bytes in its journal, which a bare machine does
 * not have.
 */
export function chainInput(run: RunOptions, options: PostChainOptions = {}): ChainInput {
  const { input, files } = createChainInput(run, resolveOptions(options));
  if (files.length === 0) return input;
  const message = `request: expected text only for a bare machine, which has no journal; received ${files.map(attachmentLabel).join(', ')}. Use createPostChain.`;
  throw new PostChainError('invalid_request', message);
}

/**
 * Returns the actors that the chain machine invokes, for code that starts the machine itself:
 * `createActor(createChainMachine(createActors({ model })), { input: chainInput({ request }) })`.
 * The observer receives text and retrievals (`record`) and partial values (`partial`).
 */
export function createActors(
  options: PostChainOptions = {},
  observer: Partial<RunObserver> = {},
): ReturnType<typeof createChainActors> {
  const parts = resolveOptions(options);
  const { record = () => {}, partial = () => {} } = observer;
  const scope = {
    clock: parts.clock,
    record,
    partial,
    hasReaders: () => observer.partial !== undefined,
    prompts: wholePrompts,
  };
  return createChainActors({ ...parts, scopeOf: () => scope });
}
