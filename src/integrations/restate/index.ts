export {
  createRestateChain,
  type RestateChain,
  type RestateChainOptions,
  type RestateOptions,
} from './create-restate-chain.ts';
export type { RestateRunOptions } from './run-request.ts';
export type { JournalPage, JournalRequest, Sent, SentEvent, WorkflowStatus } from './workflow-handlers.ts';
