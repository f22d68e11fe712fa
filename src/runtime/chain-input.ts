import type { ChainInput } from '../../machines/contracts/chain-state.ts';
import type { ActorParts } from './actors.ts';
import { type PostChainOptions, type RunOptions, readOptions, readRun } from './options.ts';
import { partsOf } from './parts.ts';

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
  { clock, model, capabilities, decider }: Omit<ActorParts, 'watcher'>,
): ChainInput {
  const { request, mode, startAt } = readRun(run);
  return {
    ...readOptions(options),
    runId: (options.newId ?? randomId)(),
    request,
    origin: startAt,
    mode,
    startedAtMs: clock.now(),
    contextWindowTokens: model.contextWindowTokens,
    capabilities: capabilities.descriptors,
    hasDecider: decider !== null,
    messages: [],
  };
}

const randomId = (): string => globalThis.crypto.randomUUID();
