export {
  createRestateChain,
  type RestateChain,
  type RestateChainOptions,
  type RestateOptions,
} from './create-restate-chain.ts';
export type { RestateRunOptions } from './run-request.ts';
export type { JournalPage, JournalRequest, RunStatus, Sent, SentEvent } from './workflow-handlers.ts';
