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
