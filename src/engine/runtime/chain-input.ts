import type { ChainInput } from '../../../machines/contracts/chain-input.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { PriceTable } from '../../../machines/contracts/price.ts';
import { type ChainParts, noPassages } from './actors.ts';
import { kindOf } from './decider.ts';
import type { PostChainOptions } from './options.ts';
import { resolveOptions } from './resolve-options.ts';
import { messagesOf, type RunOptions, readRun } from './run-options.ts';

/**
 * What the chain machine is started with, checked and with every default filled in: for those who start the bare machine.
 * Throws `invalid_request` or `invalid_option`.
 */
export function chainInput(run: RunOptions, options: PostChainOptions = {}): ChainInput {
  return inputOf(run, resolveOptions(options));
}

export function inputOf(run: RunOptions, parts: ChainParts): ChainInput {
  const { clock, models, capabilities, decider, passages, embeddings, prices, limits, thresholds } = parts;
  const { request, history, messages, mode, startAt, sessionId } = readRun(run);
  const startedAtMs = clock.now();
  if (!Number.isFinite(startedAtMs) || Math.abs(startedAtMs) > MAX_TIME_MS)
    throw new PostChainError(
      'invalid_option',
      `clock: its now() gave ${startedAtMs}; wanted milliseconds since the epoch.`,
    );
  return {
    limits,
    thresholds,
    runId: parts.newRunId(),
    request,
    origin: startAt,
    mode,
    startedAtMs,
    contextWindowTokens: Math.min(...models.map((model) => model.contextWindowTokens)),
    fallbackModels: models.length - 1,
    capabilities: capabilities.descriptors,
    decider: kindOf(decider),
    sessionId,
    ...pricesOf(models, prices),
    hasDocuments: passages !== noPassages,
    hasEmbeddings: embeddings !== null,
    messages: messages ?? messagesOf(history, startedAtMs),
  };
}

/** What each model costs, as far as the table says. */
function pricesOf(models: ChainParts['models'], table: PriceTable | null): Pick<ChainInput, 'prices' | 'currency'> {
  if (table === null) return { prices: [], currency: null };
  const { models: priced, currency } = table;
  return { prices: models.map(({ id }) => (Object.hasOwn(priced, id) ? (priced[id] ?? null) : null)), currency };
}

/** The latest time that a date can hold. */
const MAX_TIME_MS = 8.64e15;
