export {
  createRestateChain,
  type RestateChain,
  type RestateChainOptions,
  type RestateOptions,
} from './create-restate-chain.ts';
export type { JournalPage, JournalRequest } from './journal-pages.ts';
export type { RestateRunOptions } from './run-request.ts';
export type { RunStatus } from './run-status.ts';
export type { Sent, SentEvent } from './sent-events.ts';
