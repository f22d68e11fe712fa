import type { ChainInput } from '../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { type ActorParts, noPassages } from './actors.ts';
import { type PostChainOptions, readOptions } from './options.ts';
import { partsOf } from './parts.ts';
import { messagesOf, type RunOptions, readRun } from './run-options.ts';

/**
 * What the chain machine is started with, checked and with every default filled in: for those who start the bare machine.
 * Throws `invalid_request` or `invalid_option`.
 */
export function chainInput(run: RunOptions, options: PostChainOptions = {}): ChainInput {
  return inputOf(run, options, partsOf(options));
}

export function inputOf(
  run: RunOptions,
  options: PostChainOptions,
  { clock, model, capabilities, decider, passages, embeddings }: Omit<ActorParts, 'watcher'>,
): ChainInput {
  const { request, history, messages, mode, startAt } = readRun(run);
  const startedAtMs = clock.now();
  if (!Number.isFinite(startedAtMs) || Math.abs(startedAtMs) > MAX_TIME_MS)
    throw new PostChainError(
      'invalid_option',
      `clock: its now() gave ${startedAtMs}; wanted milliseconds since the epoch.`,
    );
  return {
    ...readOptions(options),
    runId: (options.newId ?? randomId)(),
    request,
    origin: startAt,
    mode,
    startedAtMs,
    contextWindowTokens: model.contextWindowTokens,
    capabilities: capabilities.descriptors,
    hasDecider: decider !== null,
    hasDocuments: passages !== noPassages,
    hasEmbeddings: embeddings !== null,
    messages: messages ?? messagesOf(history, startedAtMs),
  };
}

/** The latest time that a date can hold. */
const MAX_TIME_MS = 8.64e15;

const randomId = (): string => globalThis.crypto.randomUUID();
