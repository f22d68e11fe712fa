import { type chainMachine, createChainMachine } from '../../../machines/chain/chain.machine.ts';
import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { attachmentLabel } from '../../../machines/policies/message-parts.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { wholePrompts } from '../../llm/recorded-prompts.ts';
import { createChainActors } from './actors.ts';
import { type PostChainOptions, resolveOptions } from './options.ts';
import type { RunObserver } from './run-events.ts';
import { createChainInput, type RunOptions } from './run-options.ts';

/** The chain as an XState machine, for code that starts the actor itself. */
export interface BareChain {
  /**
   * Returns the machine with its actors. The observer receives what the actors report besides their results: texts and searches (`record`)
   * and partial values (`partial`).
   */
  createMachine(observer?: Partial<RunObserver>): typeof chainMachine;
  /**
   * Returns the input of one run of the machine, validated and with every default. Throws `invalid_request` or `invalid_option`. Files are
   * rejected: a run stores their bytes in its journal, which a bare machine does not have.
   */
  createInput(run: Omit<RunOptions, (typeof RUN_ONLY)[number]>): ChainInput;
}

/** The options of `createPostChain`, without those of its journal and its queue. */
export type BareChainOptions = Omit<PostChainOptions, (typeof CHAIN_ONLY)[number]>;

const CHAIN_ONLY = ['journals', 'whenJournalFails', 'maxConcurrentRuns', 'parkAfterMs'] as const;
const RUN_ONLY = ['host', 'signal'] as const;

/**
 * Creates a chain whose machine you start yourself. Throws `invalid_option` if an option is invalid.
 *
 * @example
 * const chain = createBareChain({ model, documents });
 * const actor = createActor(chain.createMachine(), { input: chain.createInput({ request }) }).start();
 */
export function createBareChain(options: BareChainOptions = {}): BareChain {
  const parts = resolveOptions(options);
  rejectOptions(options, CHAIN_ONLY);
  return {
    createMachine({ record = () => {}, partial } = {}) {
      const scope = {
        clock: parts.clock,
        record,
        partial: partial ?? (() => {}),
        hasReaders: () => partial !== undefined,
        prompts: wholePrompts,
      };
      return createChainMachine(createChainActors({ ...parts, scopeOf: () => scope }));
    },
    createInput(run) {
      const { input, files } = createChainInput(run, parts);
      rejectOptions(run, RUN_ONLY);
      if (files.length === 0) return input;
      const message = `request: expected text only for a bare machine, which has no journal; received ${files.map(attachmentLabel).join(', ')}. Use createPostChain.`;
      throw new PostChainError('invalid_request', message);
    },
  };
}

/** Types exclude these options only from object literals. */
function rejectOptions(options: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(options))
    if (names.includes(name) && value !== undefined)
      throw new PostChainError(
        'invalid_option',
        `${name}: not supported by a bare machine; received ${describeValue(value)}. Use createPostChain.`,
      );
}
