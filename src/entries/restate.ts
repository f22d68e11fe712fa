export {
  createRestateChain,
  type RestateChain,
  type RestateChainOptions,
  type RestateOptions,
} from '../integrations/restate/create-restate-chain.ts';
export type { RestateRunOptions } from '../integrations/restate/run-request.ts';
export type {
  JournalPage,
  JournalRequest,
  Sent,
  SentEvent,
  WorkflowStatus,
} from '../integrations/restate/workflow-handlers.ts';
