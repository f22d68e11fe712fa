// Node 20 has no Promise.withResolvers, which the SDK needs as soon as it serves a request.
import 'core-js/modules/es.promise.with-resolvers.js';

export {
  createDurableChain,
  type DurableChain,
  type DurableChainOptions,
  type DurableOptions,
} from './create-durable-chain.ts';
export type { JournalPage, JournalRequest } from './journal-pages.ts';
export type { DurableRunOptions } from './run-request.ts';
export type { RunStatus } from './run-status.ts';
export type { Sent, SentEvent } from './sent-events.ts';
